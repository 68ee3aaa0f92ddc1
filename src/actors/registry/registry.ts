/**
 * The sandboxes of one manager, one runtime a key. Begins them, and lets calls join one that is on its way. Keeps a key
 * taken until nothing of its sandbox runs any more. Whether new sandboxes are let in is the manager's to say.
 */
import { fromTransition, type InspectionEvent } from "xstate"
import { admissionTo } from "../../locks/admission/admission.ts"
import { countEvent, type Counting, noCounts } from "../../locks/api/counts.ts"
import {
  LockCancelledError,
  LockContentionError,
  LockLostError,
  LockTimeoutError,
  OwnedElsewhereError,
} from "../../locks/api/errors.ts"
import type { AcquireOptions, LockEvent } from "../../locks/api/lock.ts"
import { tokensOnlyGrow } from "../../locks/engine/options.ts"
import type { StoreIdentity } from "../../locks/stores/identity.ts"
import { Fibers } from "../../runtime/bridges/fibers.ts"
import { startActor } from "../../runtime/bridges/start-actor.ts"
import { Hub } from "../../runtime/observables.ts"
import { ownedElsewhere } from "../api/problems.ts"
import { commandedChart } from "../chart/commanded.ts"
import { CheckpointWriter } from "../checkpoints/writer.ts"
import { Departures } from "../sandbox/departures.ts"
import type { Keeper, RuntimeParts, Surroundings } from "../sandbox/runtime-parts.ts"
import { SandboxRuntime } from "../sandbox/runtime.ts"
import { newTally, type SandboxTally } from "../sandbox/tally.ts"
import type { CallWait, WaitDetail } from "../sandbox/waits.ts"
import { BackOff } from "./back-off.ts"
import type { KnownDefinition, ManagerSettings } from "./options.ts"

/** How a caller wants a sandbox. */
export type OpenOptions = Pick<AcquireOptions, "whenOwned" | "contention">

/** Throws where a sandbox may not come to run. `isNew`: it isn't on its way yet. */
export type Admit = (lockKey: string, isNew: boolean) => void

/** Which sandbox. */
export interface SandboxRef {
  readonly known: KnownDefinition
  /** As the user knows it. */
  readonly key: string
  readonly lockKey: string
}

/**
 * How much later than the lock's own budget the chart stops waiting for the lock, in milliseconds. A lock settles by
 * itself; this covers one that breaks its contract.
 */
const lockMargin = 15_000

/** Of the actor that is the parent of all: a sandbox ends on its own, and nobody else is to do anything about it. */
const rootLogic = fromTransition((state: undefined) => state, undefined)

/** What is told of the root stays here. */
const ofSandboxes =
  (inspect: (event: InspectionEvent) => void) =>
  (event: InspectionEvent): void => {
    if (event.actorRef.sessionId !== event.rootId) inspect(event)
  }

export class Registry {
  /** The events of the locks of these sandboxes. */
  readonly events: Hub<LockEvent>
  /** Counts for locks that are made elsewhere, taken from their events. */
  readonly counts: Counting = noCounts()
  /** What they have done. */
  readonly tally: SandboxTally = newTally()
  readonly #settings: ManagerSettings
  readonly #leases: StoreIdentity
  readonly #admit: Admit
  readonly #around: Surroundings
  readonly #backOff: BackOff
  /** By lock key, until nothing of it runs any more. */
  readonly #runtimes = new Map<string, SandboxRuntime>()
  /** Writes and deletes of ended sandboxes that go on in the store. */
  readonly #cleaning = new Set<Promise<void>>()
  #begun = 0

  constructor(settings: ManagerSettings, leases: StoreIdentity, admit: Admit) {
    const { clock, report, inspect, sumsUp, trace, minTenure, keepsAlive } = settings
    this.#settings = settings
    this.#leases = leases
    this.#admit = admit
    this.events = new Hub(report)
    this.#backOff = new BackOff(clock, report)
    const departures = new Departures(clock, () => admissionTo(settings.checkpoints, clock))
    this.#around = {
      clock,
      report,
      root: startActor(rootLogic, {
        id: "sandboxes",
        clock,
        inspect: inspect && ofSandboxes(inspect),
        onError: report,
      }),
      sumsUp,
      departures,
      storeTime: () => this.storeTime(),
      trace,
      limits: settings,
      keepsAlive,
      minTenure,
      tally: this.tally,
      fibers: new Fibers(clock, report),
      keeper: this.#keeper(),
      ...commandedChart(),
    }
  }

  /** The store's time as far as it is known here, in Unix milliseconds: by the last answers, and else this clock. */
  storeTime(): number {
    const { clock, keyRuntimes } = this.#settings
    return clock.read().wall - (keyRuntimes()?.clockOffset ?? 0)
  }

  /** Every sandbox that isn't over yet, those included whose lease is lost but whose work goes on. */
  get runtimes(): Iterable<SandboxRuntime> {
    return this.#runtimes.values()
  }

  /** The sandbox of a lock key, however far it is. */
  find(lockKey: string): SandboxRuntime | undefined {
    return this.#runtimes.get(lockKey)
  }

  /** Whether the caller is inside a turn of any of these sandboxes. */
  refuseInside(call: string): void {
    for (const runtime of this.runtimes) runtime.activation?.turns.refuseInside(call)
  }

  /**
   * Settles with the running sandbox of a key. Begins it, joins one that is on its way, or waits for the end of one
   * that leaves. Rejects with why it doesn't run within the wait, or with what `admit` throws.
   */
  async open(ref: SandboxRef, options: OpenOptions, wait: CallWait): Promise<SandboxRuntime> {
    for (;;) {
      const runtime = this.find(ref.lockKey)
      if (runtime?.isRunning) return runtime
      this.#admit(ref.lockKey, runtime === undefined)
      if (runtime !== undefined) {
        await this.#pass(runtime, options, wait)
        continue
      }
      const own = this.#begin(ref, "run", options, wait)
      await this.#join(own, wait, own.opened)
      return own
    }
  }

  /**
   * Settles when a tombstone is all that is saved of a key. Its running sandbox writes that, or one that is begun for
   * it.
   */
  async remove(ref: SandboxRef, options: OpenOptions, wait: CallWait): Promise<void> {
    for (;;) {
      const runtime = this.find(ref.lockKey)
      this.#admit(ref.lockKey, runtime === undefined)
      if (runtime !== undefined && !runtime.isRunning) {
        await this.#pass(runtime, options, wait)
        continue
      }
      runtime?.activation?.turns.refuseInside("remove")
      runtime?.leave("removed")
      const leaving = runtime ?? this.#begin(ref, "remove", options, wait)
      const { reason, error } = await this.#join(leaving, wait, leaving.ended)
      if (reason === "removed") return wait.for(leaving.gone)
      if (error !== undefined && !(error instanceof LockLostError)) throw error as Error
    }
  }

  /** Settles when ended sandboxes have nothing left to do in the store. */
  async cleaned(): Promise<void> {
    await Promise.all(this.#cleaning)
  }

  #begin(ref: SandboxRef, purpose: "run" | "remove", options: OpenOptions, wait: CallWait): SandboxRuntime {
    const { known, key, lockKey } = ref
    const { ms: backOff } = this.#backOff.of(lockKey)
    wait.detail = () => ({ cause: this.#backOff.of(lockKey).error })
    if (backOff > 0) wait.mayWait()
    const timeout = wait.limit === 0 ? 0 : Math.max(1, wait.left - backOff)
    const lock = this.#settings.makeLock(lockKey)
    const parts: RuntimeParts = {
      ...{ key, lockKey, purpose, lock, definition: known.parts, codec: known.codec },
      id: `${lockKey}#${++this.#begun}`,
      writer: this.#writerOf(known, lockKey),
    }
    const runtime = new SandboxRuntime(this.#around, parts, {
      backOff,
      limits: { acquireWithin: timeout + lockMargin },
      acquire: {
        ...(options.whenOwned !== undefined && { whenOwned: options.whenOwned }),
        ...(options.contention !== undefined && { contention: options.contention }),
        timeout: timeout === Infinity ? "infinite" : timeout,
        timeoutSource: wait.source,
        ...(wait.watch && { observer: wait.watch.part }),
        stateVersion: known.parts.version,
      },
    })
    this.#runtimes.set(lockKey, runtime)
    return runtime
  }

  #keeper(): Keeper {
    return {
      told: (event) => {
        countEvent(this.counts, event)
        this.#settings.trace.lines?.lock(event)
        this.events.emit(event)
      },
      ended: ({ lockKey, definition }, { failure, hasRun }) => {
        if (failure?.during === "restore" || failure?.during === "run") {
          this.#backOff.failed(lockKey, definition.backOff, failure.error)
        } else if (hasRun) this.#backOff.succeeded(lockKey)
      },
      gone: ({ lockKey }, cleaned) => this.#forget(lockKey, cleaned),
    }
  }

  #writerOf({ definition, parts }: KnownDefinition, lockKey: string): CheckpointWriter {
    const { clock, checkpoints, ttl, keepCheckpoints, maxCheckpoint, adoptHeads, store, report } = this.#settings
    return new CheckpointWriter({
      ...{ store: checkpoints, clock, lockKey, keepCheckpoints, maxCheckpoint, adoptHeads, onError: report },
      ...this.#leases.origin,
      knowsBoot: this.#leases.knows,
      type: definition.name,
      version: parts.version,
      ttlMs: ttl,
      // Of locks that are made elsewhere nobody tells on which store they are.
      claimsGranted: store === undefined || !tokensOnlyGrow(store.capabilities),
    })
  }

  /** Waits for a sandbox that another call began, or that leaves. */
  async #pass(runtime: SandboxRuntime, options: OpenOptions, wait: CallWait): Promise<void> {
    runtime.activation?.turns.refuseInside("restore")
    wait.detail = () => this.#whySlow(runtime)
    wait.mayWait()
    if (runtime.isOpening) await this.#joinOther(runtime, options, wait)
    else await wait.for(runtime.gone)
  }

  /**
   * Settles as a promise of the runtime does. The last call that stops waiting for a sandbox to run ends that sandbox.
   */
  async #join<A>(runtime: SandboxRuntime, wait: CallWait, promise: Promise<A>): Promise<A> {
    runtime.callers++
    wait.detail = () => this.#whySlow(runtime)
    try {
      return await wait.for(promise)
    } finally {
      runtime.callers--
      if (wait.signal.aborted && runtime.callers === 0 && !runtime.isRunning) runtime.leave("released")
    }
  }

  /** Why a wait for the sandbox takes long. Once this process owns it, a former owner is no reason any more. */
  #whySlow({ lockKey, owner, activation, overrun, goingOn }: SandboxRuntime): WaitDetail {
    const cause = overrun ?? goingOn ?? this.#backOff.of(lockKey).error
    const where = goingOn && `a hook goes on within ${goingOn.source} (${goingOn.limitMs} ms)`
    return { owner: activation === undefined ? owner : undefined, cause, where }
  }

  /**
   * Settles when the sandbox runs for the call that began it, or when it doesn't for reasons of that call alone: then
   * this call tries.
   */
  async #joinOther(runtime: SandboxRuntime, options: OpenOptions, wait: CallWait): Promise<void> {
    if (options.whenOwned === "report" && runtime.owner !== undefined)
      throw ownedElsewhere(runtime.lockKey, runtime.owner)
    try {
      await this.#join(runtime, wait, runtime.opened)
    } catch (error) {
      if (wait.signal.aborted || !isTheirs(error, runtime, options)) throw error
    }
  }

  #forget(lockKey: string, cleaned: Promise<void> | undefined): void {
    this.#runtimes.delete(lockKey)
    if (cleaned === undefined) return
    const cleaning = cleaned.finally(() => this.#cleaning.delete(cleaning))
    this.#cleaning.add(cleaning)
  }
}

/** Whether the sandbox failed to run for the budget, the signal or the options of the call that began it. */
const isTheirs = (error: unknown, runtime: SandboxRuntime, options: OpenOptions): boolean => {
  if (runtime.snapshot.context.token !== undefined) return false
  if (error instanceof LockTimeoutError || error instanceof LockCancelledError) return true
  if (error instanceof OwnedElsewhereError) return options.whenOwned !== "report"
  return error instanceof LockContentionError && options.contention !== "fail"
}

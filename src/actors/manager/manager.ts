/**
 * The manager: the sandboxes that this process owns, or wants. Checks calls, waits for them, tries uses again, and says
 * who is let in. The registry finds, begins and joins sandboxes. What one sandbox does is its runtime's business, who
 * owns a key is the lock's.
 *
 * Not promised: that a use which was answered survives a crash, unless it was `durable`.
 */
import type { Observable } from "rxjs"
import { HandingOffError, LockLostError, type ManagerClosedError, type Owner } from "../../locks/api/errors.ts"
import { checkKey, sandboxLockKey } from "../../locks/api/keys.ts"
import type { LockEvent } from "../../locks/api/lock.ts"
import { identityOf, type StoreIdentity } from "../../locks/stores/identity.ts"
import { started } from "../../locks/stores/start.ts"
import { aFunction, millis, refuseUnknown } from "../../runtime/input/options.ts"
import { traced } from "../../trace/calls.ts"
import type { TraceCall } from "../../trace/trace.ts"
import type { Ends } from "../../trace/worker-lines.ts"
import {
  DRAIN_OPTIONS,
  type DrainOptions,
  MANAGER_USE_OPTIONS,
  type ManagerUseOptions,
  RESTORE_OPTIONS,
  type RestoreOptions,
} from "../api/call-options.ts"
import { partsOf } from "../api/definition.ts"
import { managerClosed, notHere, unknownDefinition } from "../api/problems.ts"
import type { AnyDefinition, HookContext, SandboxDefinition, SandboxView } from "../api/sandbox.ts"
import { openInside } from "../inside/inside.ts"
import { requestTap } from "../inside/taps.ts"
import {
  checkAgainst,
  inTrace,
  type KnownDefinition,
  type ManagerOptions,
  type ManagerSettings,
  settingsOf,
} from "../registry/options.ts"
import { type Admit, Registry, type SandboxRef } from "../registry/registry.ts"
import { RuntimeHandle, RuntimeView } from "../sandbox/handle.ts"
import type { SandboxRuntime } from "../sandbox/runtime.ts"
import { told } from "../sandbox/tally.ts"
import { use, type UseFn } from "../sandbox/uses.ts"
import { CallWait } from "../sandbox/waits.ts"
import { drainAll, type DrainResult } from "./drain.ts"
import { listSaved, readSaved } from "./reads.ts"
import { statsOf } from "./stats.ts"

/** Where a sandbox is. */
export type Whereabouts = Owner & {
  /** This manager owns it. */
  readonly here: boolean
}

/** The sandboxes of this process. Started by `SandboxManager.start`. */
export interface SandboxManager extends AsyncDisposable {
  /**
   * Settles with the handle of a sandbox that runs here: joins a restore in flight, or acquires the key. The wait
   * (default 30 s) covers all of it. A wait that ends takes its mark back, and releases a sandbox that comes to run for
   * nobody.
   *
   * Rejects as `Lock.acquire` does, and with the error that `restore` threw, the errors of saved state, HandingOffError
   * (asked for again before it ran), UnknownDefinitionError, ManagerClosedError and InvalidKeyError.
   */
  restoreSandbox<H>(
    definition: SandboxDefinition<unknown, unknown, H>,
    key: string,
    options?: RestoreOptions,
  ): Promise<H>
  /**
   * The usual call: restores or joins the sandbox and runs fn in a turn of it. fn never runs twice. Rejects as
   * `restoreSandbox` and `Sandbox.use` do.
   *
   * Where another process owns the sandbox, this call asks for a handoff. That begins once the sandbox has run there
   * for the owner's `minTenure` (default 5 s), and comes after the turns of processes that asked before. A use whose fn
   * hasn't begun tries again in two cases:
   * - The sandbox left before that. It tries as often as it takes; once with `contention: "fail"`.
   * - The sandbox was lost before that. It tries once more.
   */
  use<S, A>(
    definition: SandboxDefinition<S, unknown, unknown>,
    key: string,
    fn: (state: S, context: HookContext) => A | Promise<A>,
    options?: ManagerUseOptions,
  ): Promise<A>
  /** `checkpoint` of the sandbox, which has to run here: LockNotHeldError otherwise. */
  checkpointSandbox(definition: AnyDefinition, key: string): Promise<void>
  /**
   * Owns the sandbox, replaces its saved state by a tombstone and deletes the content; a later restore starts empty. A
   * sandbox that runs here ends for it, with the reason `removed`. Rejects as `restoreSandbox` does.
   */
  remove(definition: AnyDefinition, key: string, options?: RestoreOptions): Promise<void>
  /**
   * What is saved, as `checkpoint` returned it; undefined where nothing is. Without a lease, so it may be stale.
   * Rejects with the errors of saved state and StoreUnavailableError.
   */
  readCheckpoint<C>(definition: SandboxDefinition<unknown, C, unknown>, key: string): Promise<C | undefined>
  /**
   * The keys of all sandboxes of a definition that have saved state, in no order. Throws as `readCheckpoint` rejects.
   */
  list(definition: AnyDefinition): AsyncIterable<string>
  /** Who owns the sandbox: one read, stale as soon as it is there. Undefined: nobody. Rejects as `Lock.peek` does. */
  whereIs(definition: AnyDefinition, key: string): Promise<Whereabouts | undefined>
  /** Every sandbox that this process owns or wants. */
  sandboxes(): Iterable<SandboxView>
  /**
   * Whole numbers, of now and so far.
   *
   * - Sandboxes now: `acquiring`, `waiting`, `owning`, `handingOff`. `stuck`: a hook goes on past its limit.
   *   `usesWaiting`: uses that wait for their turn. `turns`: sandboxes in which a turn goes on.
   * - Done so far: `restores` and `uses` that ended well, `restoresFailed` and `usesFailed`.
   * - Checkpoints so far: `checkpoints` that are known to be stored, and `checkpointBytes`, their bytes. `checkpointMs`
   *   is the time that they took, from the beginning of the hook to the store's answer. `checkpointsFailed` were begun,
   *   and aren't known to be stored.
   * - Events of their locks so far, as `LockCounts`: those of all locks of this incarnation on the store. For locks of
   *   a `lockFactory` they are counted from events, and `throttled` is missing.
   * - `traceDropped`: lines of the trace that its file or its sink didn't take in time.
   */
  stats(): Readonly<Record<string, number>>
  /** Takes no new sandbox in from now on (ManagerClosedError); those that run go on and may be used. */
  cordon(): void
  /**
   * Lets every sandbox end its work, save and leave, and takes no new one in. The work of all ends at once; as many
   * save at a time as the store answers. ReentrantLockError from inside a turn.
   *
   * Settles when all have left and no mark of a wait is left in the store, or after `grace` (default `killGrace`).
   * `stuck` has the lock keys of those that haven't left: their leases are renewed as long as their work runs. `error`
   * says how many last states aren't known to be stored. Without an `onError` it goes to standard error, in place of
   * one error each.
   */
  drain(options?: DrainOptions): Promise<DrainResult>
  /** What happens to the leases of these sandboxes. Completes when the manager is disposed. */
  readonly events$: Observable<LockEvent>
  /** Drains, and settles when nothing of the manager is left but what is stuck. Idempotent. */
  [Symbol.asyncDispose](): Promise<void>
}

class Manager implements SandboxManager {
  readonly events$: Observable<LockEvent>
  readonly #settings: ManagerSettings
  readonly #registry: Registry
  readonly #handles = new WeakMap<SandboxRuntime, { readonly sandbox: RuntimeHandle; readonly given: unknown }>()
  #closed: ManagerClosedError["state"] | undefined
  #disposing: Promise<void> | undefined

  constructor(settings: ManagerSettings, leases: StoreIdentity) {
    this.#settings = settings
    this.#registry = new Registry(settings, leases, this.#admit)
    this.events$ = this.#registry.events.observable
    openInside(this, {
      ...{ settings, registry: this.#registry },
      stats: () => this.stats(),
      cordon: () => this.cordon(),
      isClosed: () => this.#closed !== undefined,
      checkpoint: (runtime) => this.#handlesOf(runtime).sandbox.checkpoint(),
    })
    settings.trace.whileRead(() => settings.keyRuntimes()?.taps.add(requestTap(settings)))
  }

  async restoreSandbox<H>(
    definition: SandboxDefinition<unknown, unknown, H>,
    key: string,
    options: RestoreOptions = {},
  ): Promise<H> {
    refuseUnknown("restoreSandbox", options, RESTORE_OPTIONS)
    using wait = this.#wait(definition, key, options)
    const ends = this.#called("restore", wait)
    try {
      const ref = this.#ref(definition, key)
      const runtime = await this.#registry.open(ref, options, wait)
      wait.watch?.acquired(runtime.activation?.lease)
      ends?.()
      return this.#handlesOf(runtime).given as H
    } catch (error) {
      ends?.({ error })
      throw wait.failed(error)
    }
  }

  async use<S, A>(
    definition: SandboxDefinition<S, unknown, unknown>,
    key: string,
    fn: (state: S, context: HookContext) => A | Promise<A>,
    options: ManagerUseOptions = {},
  ): Promise<A> {
    refuseUnknown("use", options, MANAGER_USE_OPTIONS)
    aFunction("fn", fn)
    using wait = this.#wait(definition, key, options)
    let begun = false
    const { signal, durable, contention = "retry" } = options
    const ends = this.#called("use", wait, durable === true)
    const attempt = async (): Promise<A> => {
      const ref = this.#ref(definition, key)
      this.#registry.find(ref.lockKey)?.activation?.turns.refuseInside("use")
      const { activation } = await this.#registry.open(ref, { ...options, contention }, wait)
      const onBegin = (): void => {
        begun = true
        wait.watch?.acquired(activation!.lease)
      }
      return use(activation!, fn as UseFn<A>, { wait, signal, durable, onBegin })
    }
    for (let tries = 1; ; tries++) {
      try {
        const answer = await attempt()
        ends?.()
        return answer
      } catch (error) {
        const isFirst = tries === 1 && (error instanceof HandingOffError || error instanceof LockLostError)
        const mayGoOn = isFirst || (error instanceof HandingOffError && contention === "retry")
        if (!begun && mayGoOn) continue
        ends?.({ error })
        throw wait.failed(error)
      }
    }
  }

  async checkpointSandbox(definition: AnyDefinition, key: string): Promise<void> {
    const ref = this.#ref(definition, key)
    const runtime = this.#registry.find(ref.lockKey)
    if (!runtime?.isRunning) throw notHere(ref.lockKey)
    await this.#handlesOf(runtime).sandbox.checkpoint()
  }

  async remove(definition: AnyDefinition, key: string, options: RestoreOptions = {}): Promise<void> {
    refuseUnknown("remove", options, RESTORE_OPTIONS)
    using wait = this.#wait(definition, key, options)
    const ends = this.#called("remove", wait)
    try {
      const ref = this.#ref(definition, key)
      await this.#registry.remove(ref, options, wait)
      wait.watch?.acquired()
      ends?.()
    } catch (error) {
      ends?.({ error })
      throw wait.failed(error)
    }
  }

  async readCheckpoint<C>(definition: SandboxDefinition<unknown, C, unknown>, key: string): Promise<C | undefined> {
    const ref = this.#ref(definition, key)
    return (await readSaved(this.#settings, ref)) as C | undefined
  }

  list(definition: AnyDefinition): AsyncIterable<string> {
    return listSaved(this.#settings, this.#known(definition).definition.name)
  }

  async whereIs(definition: AnyDefinition, key: string): Promise<Whereabouts | undefined> {
    const ref = this.#ref(definition, key)
    const owner = await this.#settings.makeLock(ref.lockKey).peek()
    if (owner === undefined) return undefined
    const lease = this.#registry.find(ref.lockKey)?.activation?.lease
    return { ...owner, here: lease !== undefined && lease.token === owner.token && lease.isHeld() }
  }

  *sandboxes(): Iterable<SandboxView> {
    for (const runtime of this.#registry.runtimes) {
      yield this.#handles.get(runtime)?.sandbox ?? new RuntimeView(runtime, this.#settings)
    }
  }

  stats(): Readonly<Record<string, number>> {
    const { runtimes, tally, counts } = this.#registry
    const { keyRuntimes, trace } = this.#settings
    return { ...statsOf(runtimes), ...told(tally), ...(keyRuntimes()?.counts ?? counts), traceDropped: trace.dropped }
  }

  cordon(): void {
    this.#closed ??= "cordoned"
  }

  async drain(options: DrainOptions = {}): Promise<DrainResult> {
    refuseUnknown("drain", options, DRAIN_OPTIONS)
    const { clock, keyRuntimes, killGrace, report, sumsUp, trace } = this.#settings
    const { grace = killGrace } = options
    this.#registry.refuseInside("drain")
    if (this.#closed !== "closed") this.#closed = "draining"
    const cleared = async (): Promise<void> => keyRuntimes()?.cleared()
    const budget = millis("grace", grace)
    const all = (): Promise<DrainResult> => drainAll(this.#registry, { clock, grace: budget, cleared })
    const result = await traced(trace, () => ({ call: "drain", budget }), all)
    if (sumsUp && result.error !== undefined) report(result.error)
    if (trace.isWritten) await trace.flush() // the process may end now
    return result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#registry.refuseInside("dispose")
    this.#disposing ??= this.#dispose()
    return this.#disposing
  }

  async #dispose(): Promise<void> {
    const { trace } = this.#settings
    const ends = trace.lines?.called({ call: "close" })
    await this.drain()
    this.#closed = "closed"
    await this.#registry.cleaned()
    this.#registry.events.complete()
    ends?.()
    const written = trace.close()
    if (trace.isWritten) await written
  }

  /** Writes into a trace that somebody reads that a call with a wait begins. */
  #called(call: TraceCall, { key, budget }: CallWait, durable?: boolean): Ends | undefined {
    const { lines } = this.#settings.trace
    return lines?.called({ call, key, ...budget, ...(durable !== undefined && { durable }) })
  }

  /** The wait of a call, whatever the call is refused for from here on. */
  #wait(definition: AnyDefinition, key: string, options: RestoreOptions): CallWait {
    const { hooks } = partsOf(definition)
    checkKey(key)
    const { clock, report: onError } = this.#settings
    return new CallWait(clock, { key: sandboxLockKey(hooks.name, key), what: "the sandbox", onError }, options)
  }

  #known(definition: AnyDefinition): KnownDefinition {
    const { name } = partsOf(definition).hooks
    const known = this.#settings.definitions.get(name)
    if (known?.definition !== definition) throw unknownDefinition(name)
    return known
  }

  #ref(definition: AnyDefinition, key: string): SandboxRef {
    checkKey(key)
    const known = this.#known(definition)
    return { known, key, lockKey: sandboxLockKey(known.definition.name, key) }
  }

  /** The handle of a running sandbox: the same for all who ask. */
  #handlesOf(runtime: SandboxRuntime): { readonly sandbox: RuntimeHandle; readonly given: unknown } {
    let handles = this.#handles.get(runtime)
    if (handles === undefined) {
      const sandbox = new RuntimeHandle(runtime, runtime.activation!, this.#settings)
      handles = { sandbox, given: runtime.definition.handle(sandbox) }
      this.#handles.set(runtime, handles)
    }
    return handles
  }

  /** Throws where no sandbox may come to run. A cordoned manager lets those go on that are on their way. */
  readonly #admit: Admit = (key, isNew) => {
    if (this.#closed === undefined || (this.#closed === "cordoned" && !isNew)) return
    throw managerClosed(this.#closed, key)
  }
}

/** Starts managers. */
export const SandboxManager: {
  /**
   * Starts a manager once its stores have started. Rejects with InvalidConfigError (each bad value and inequality with
   * its own message), UnknownDefinitionError, StoreMisconfiguredError or StoreUnavailableError.
   */
  start(options: ManagerOptions): Promise<SandboxManager>
} = {
  async start(options) {
    const settings = settingsOf(options)
    const { store, checkpointStore, checkpoints, clock, trace } = settings
    const ends = trace.lines?.called({ call: "start" })
    try {
      const by = store && inTrace(store, trace)
      if (store !== undefined) {
        await started(store, clock, by)
        checkAgainst(settings, store)
      }
      await started(checkpointStore, clock, checkpoints)
      // Locks made elsewhere don't tell their store: it counts as the one that keeps the checkpoints.
      const leases = await identityOf(store ?? checkpointStore, clock, by ?? checkpoints)
      ends?.()
      return new Manager(settings, leases)
    } catch (error) {
      ends?.({ error })
      const written = trace.close()
      if (trace.isWritten) await written
      throw error
    }
  },
}

/**
 * The manager: the sandboxes that this process owns, or wants. Checks calls, waits for them, tries uses again, and says
 * who is let in. The registry finds, begins and joins sandboxes. What one sandbox does is its runtime's business, who
 * owns a key is the lock's.
 *
 * Not promised: that a use which was answered survives a crash, unless it was `durable`.
 */
import type { Observable } from "rxjs"
import { ManagerClosedError } from "../../locks/api/errors.ts"
import { checkKey, sandboxLockKey } from "../../locks/api/keys.ts"
import type { LockEvent } from "../../locks/api/lock.ts"
import { identityOf, type StoreIdentity } from "../../locks/stores/identity.ts"
import { started } from "../../locks/stores/start.ts"
import { aFunction, millis, refuseUnknown } from "../../runtime/input/options.ts"
import { traced } from "../../trace/calls.ts"
import type { CallDetail } from "../../trace/worker-lines.ts"
import {
  CALL_OPTIONS,
  DRAIN_OPTIONS,
  type DrainOptions,
  MANAGER_USE_OPTIONS,
  type ManagerUseOptions,
  RESTORE_OPTIONS,
  type RestoreOptions,
} from "../api/call-options.ts"
import { checkKnown } from "../api/call-parts.ts"
import type { AnswerTo, CallArguments, CallOptions } from "../api/calls.ts"
import { partsOf } from "../api/definition.ts"
import type { DrainResult, SandboxManager as StartedManager, Whereabouts } from "../api/manager.ts"
import { drained, managerClosed, notHere, unknownDefinition } from "../api/problems.ts"
import type { AnyDefinition, HookContext, SandboxDefinition, SandboxView } from "../api/sandbox.ts"
import { type CallIdentity, madeCall } from "../calls/call.ts"
import { SandboxCalls } from "../calls/calls.ts"
import { unknownCall } from "../calls/problems.ts"
import { openInside } from "../inside/inside.ts"
import { requestTap } from "../inside/taps.ts"
import { inSandbox, type SandboxWish } from "../registry/attempts.ts"
import {
  checkAgainst,
  inTrace,
  type KnownDefinition,
  type ManagerOptions,
  type ManagerSettings,
  settingsOf,
} from "../registry/options.ts"
import { type Admit, Registry, type SandboxRef } from "../registry/registry.ts"
import type { Activation } from "../sandbox/activation.ts"
import { RuntimeHandle, RuntimeView } from "../sandbox/handle.ts"
import type { SandboxRuntime } from "../sandbox/runtime.ts"
import { told } from "../sandbox/tally.ts"
import { use, type UseFn } from "../sandbox/uses.ts"
import { CallWait } from "../sandbox/waits.ts"
import { drainAll } from "./drain.ts"
import { listSaved, readSaved } from "./reads.ts"
import { statsOf } from "./stats.ts"

/** The sandboxes of this process. */
export type SandboxManager = StartedManager

class Manager implements StartedManager {
  readonly events$: Observable<LockEvent>
  readonly #settings: ManagerSettings
  readonly #registry: Registry
  readonly #handles = new WeakMap<SandboxRuntime, { readonly sandbox: RuntimeHandle; readonly given: unknown }>()
  readonly #calls: SandboxCalls
  #closed: ManagerClosedError["state"] | undefined
  #disposing: Promise<void> | undefined

  constructor(settings: ManagerSettings, leases: StoreIdentity) {
    this.#settings = settings
    this.#registry = new Registry(settings, leases, this.#admit)
    this.#calls = new SandboxCalls(settings, this.#registry, (key) => {
      if (this.#closed === "closed") throw managerClosed("closed", key)
    })
    this.events$ = this.#registry.events.observable
    openInside(this, {
      ...{ settings, registry: this.#registry, calls: this.#calls },
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
    return await this.#told(wait, { call: "restore" }, async () => {
      const runtime = await this.#registry.open(this.#ref(definition, key), options, wait)
      wait.watch?.acquired(runtime.activation?.lease)
      return this.#handlesOf(runtime).given as H
    })
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
    const { signal, durable, contention = "retry" } = options
    const ref = (): SandboxRef => this.#ref(definition, key)
    const run = (activation: Activation, onBegin: () => void): Promise<A> =>
      use(activation, fn as UseFn<A>, { wait, signal, durable, onBegin })
    const wish: SandboxWish = { what: "use", ref, options: { ...options, contention }, wait, mayRepeat: () => false }
    const called = { call: "use", durable: durable === true } as const
    return await this.#told(wait, called, () => inSandbox(this.#registry, wish, run))
  }

  async call<M, Name extends keyof M & string>(
    definition: SandboxDefinition<unknown, unknown, unknown, M>,
    key: string,
    name: Name,
    ...[input, options = {}]: CallArguments<M[Name]>
  ): Promise<AnswerTo<M[Name]>> {
    refuseUnknown("call", options, CALL_OPTIONS)
    using wait = this.#wait(definition, key, options)
    const { parts } = this.#known(definition)
    const call = parts.calls.get(name)
    if (call === undefined) throw unknownCall(wait.key, name, parts.calls.keys())
    checkKnown(call, options)
    const made = madeCall(wait.key, call, input, call.durable ? this.#identity(options) : undefined)
    const { durable } = made
    const asked = { call: "call", name, ...(durable && { durable: true, callId: durable.id }) } as const
    const answer = this.#told(wait, asked, () => this.#calls.make(() => this.#ref(definition, key), made, wait))
    return (await answer) as AnswerTo<M[Name]>
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
    await this.#told(wait, { call: "remove" }, async () => {
      await this.#registry.remove(this.#ref(definition, key), options, wait)
      wait.watch?.acquired()
    })
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
    const { clock, keyRuntimes, killGrace, report, settleWithin, sumsUp, trace } = this.#settings
    const { grace = killGrace } = options
    this.#registry.refuseInside("drain")
    if (this.#closed !== "closed") this.#closed = "draining"
    const cleared = async (): Promise<void> => keyRuntimes()?.cleared()
    const budget = millis("grace", grace)
    const all = (): Promise<DrainResult> => drainAll(this.#registry, { clock, grace: budget, settleWithin, cleared })
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

  /** How a durable call is known: by what its caller says, or by what is fresh. */
  #identity({ id, sentAt }: CallOptions): CallIdentity {
    if (id !== undefined && sentAt !== undefined) return { id, sentAt, isFirst: false }
    return { id: this.#settings.clock.id(), sentAt: this.#registry.storeTime(), isFirst: true }
  }

  /** Makes a call that waits. How it ends is told to its observer, and in the trace where somebody reads that. */
  async #told<A>(wait: CallWait, asked: CallDetail, make: () => Promise<A>): Promise<A> {
    const isEarly = this.#closed === undefined || this.#closed === "cordoned"
    try {
      return await traced(this.#settings.trace, () => ({ ...asked, key: wait.key, ...wait.budget }), make)
    } catch (error) {
      const isClosed = error instanceof ManagerClosedError && error.state !== "cordoned"
      // It came before the drain, did nothing wrong, and may be made elsewhere at once.
      throw wait.failed(isClosed && isEarly ? drained(wait.key) : error)
    }
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

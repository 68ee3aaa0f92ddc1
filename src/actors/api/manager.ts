/** What a manager is to those who use one. Only types; `manager/manager.ts` starts them. */
import type { Observable } from "rxjs"
import type { Owner, StatesUnsavedError } from "../../locks/api/errors.ts"
import type { LockEvent } from "../../locks/api/lock.ts"
import type { DrainOptions, ManagerUseOptions, RestoreOptions } from "./call-options.ts"
import type { AnswerTo, CallArguments } from "./calls.ts"
import type { AnyDefinition, HookContext, SandboxDefinition, SandboxView } from "./sandbox.ts"

/** Where a sandbox is. */
export type Whereabouts = Owner & {
  /** This manager owns it. */
  readonly here: boolean
}

/** How a drain went. */
export interface DrainResult {
  /** The lock keys of the sandboxes that haven't left: their leases are renewed as long as their work runs. */
  readonly stuck: readonly string[]
  /** How many sandboxes' last state isn't known to be stored, and the first of their keys; absent where all are. */
  readonly error?: StatesUnsavedError
}

/** The sandboxes of this process. Started by `SandboxManager.start`. */
export interface SandboxManager extends AsyncDisposable {
  /**
   * Settles with the handle of a sandbox that runs here: joins a restore in flight, or acquires the key. The wait
   * (default 30 s) covers all of it. A wait that ends takes its mark back, and releases a sandbox that comes to run for
   * nobody.
   *
   * Rejects as `Lock.acquire` does, and with the error that `restore` threw, the errors of saved state, HandingOffError
   * (asked for again before it ran, or a drain began), UnknownDefinitionError, ManagerClosedError and InvalidKeyError.
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
   *
   * A use that waits when this manager begins to drain runs if its turn comes soon (see `drain`). Otherwise it rejects
   * with HandingOffError: nothing of it ran, and another process can be asked at once.
   */
  use<S, A>(
    definition: SandboxDefinition<S, unknown, unknown>,
    key: string,
    fn: (state: S, context: HookContext) => A | Promise<A>,
    options?: ManagerUseOptions,
  ): Promise<A>
  /**
   * Sends a call of the definition to the sandbox, and settles with its answer. It never moves the sandbox: one that
   * another process owns is OwnedElsewhereError.
   *
   * Until its handler begins it rejects as `use` does, and with UnknownCallError, CallInputError, OverloadedError and,
   * where it is durable, with CallIdReusedError, CallTooOldError and CallDateError: it had no effect then. Later it
   * rejects with CallThrewError, or with CallUnknownError where nobody knows whether it had its effect. Where its
   * sandbox is lost or leaves, one that is durable or `readonly` is sent again within its timeout.
   */
  call<M, Name extends keyof M & string>(
    definition: SandboxDefinition<unknown, unknown, unknown, M>,
    key: string,
    name: Name,
    ...rest: CallArguments<M[Name]>
  ): Promise<AnswerTo<M[Name]>>
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
   * - Done so far: `restores` and `uses` that ended well, `restoresFailed` and `usesFailed`. A call's handler is a use.
   *   `callsForwarded`: calls that owners in other processes answered.
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
   * Uses that wait for their turn in a sandbox that runs here run first, as long as theirs comes within half of
   * `settleWithin` and half of `grace`. All other calls that wait reject with HandingOffError, which is retryable: ask
   * another process. Calls that come later reject with ManagerClosedError.
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

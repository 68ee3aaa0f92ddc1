/**
 * What a sandbox is to those who write one and to those who use one: the hooks, what they are given, and the handle.
 * Only types; `definition.ts` makes definitions, `runtime.ts` runs them.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import type { Schedule } from "effect/Schedule"
import type { Observable } from "rxjs"
import type { LeaseView, ReleaseResult } from "../../locks/api/lock.ts"
import type { Duration } from "../../runtime/input/duration.ts"
import type { EndReason, SandboxActor, SandboxSnapshot } from "../chart/types.ts"
import type { Codec, CodecContext } from "../checkpoints/content/codec.ts"
import type { InspectedState } from "./inspected.ts"

declare const stateType: unique symbol
declare const checkpointType: unique symbol
declare const handleType: unique symbol
declare const callsType: unique symbol

/** Which calls a kind of sandbox takes: what a caller in another process has to know of it. `M` is its messages. */
export interface Callable<out M = unknown> {
  /** Names the kind in the store. Fixed for ever: another name is another kind, with no saved state. */
  readonly name: string
  /** Its calls, by name. */
  readonly calls: Readonly<Record<string, CallKind>>
  /** Only in types. */
  readonly [callsType]?: M
}

/** What kind of call it is, as the definition says. */
export interface CallKind {
  /** It is answered once its effect is stored, and has its effect once. */
  readonly durable?: boolean
  /** It changes nothing. */
  readonly readonly?: boolean
}

/**
 * A kind of sandbox, made by `defineSandbox`: pass it (not its name) wherever one is asked for, and types follow.
 * `S` is the live state, `C` what `checkpoint` returns, `H` the handle that `restoreSandbox` gives, `M` its messages.
 */
export interface SandboxDefinition<out S, out C = unknown, out H = Sandbox<S>, out M = unknown> extends Callable<M> {
  /** The version of its saved state. */
  readonly version: number
  /** Only in types. */
  readonly [stateType]?: S
  /** Only in types. */
  readonly [checkpointType]?: C
  /** Only in types. */
  readonly [handleType]?: H
}

/** Any definition. */
export type AnyDefinition = SandboxDefinition<unknown, unknown, unknown>

/** Time and chance for hooks and uses: code that takes them from here runs unchanged under a simulated clock. */
export interface SandboxClock {
  /** Unix milliseconds. */
  now(): number
  /** A number in [0,1). */
  random(): number
  /**
   * Rejects with the reason of the context's signal as soon as that aborts, and never resolves once the lease is over.
   */
  sleep(time: Duration): Promise<void>
}

/** The context of every hook and use. */
export interface HookContext {
  /** The sandbox's key, as the caller gave it. */
  readonly key: string
  /** The fencing token: pass it on to whatever checks one. */
  readonly token: number
  /** To look at, not to end. Give `lease.signal` to I/O: it aborts on loss only. */
  readonly lease: LeaseView
  /**
   * - In `restore` and `run` it aborts when the sandbox has to end, for whatever reason.
   * - In a use it aborts on loss, or when the caller's own signal aborts.
   * - In all of them it aborts once their limit is over. That is `restoreWithin` for `restore`. For the others it is
   *   `settleWithin`, counted from when the sandbox has to leave.
   */
  readonly signal: AbortSignal
  /** The manager's time and chance: code that uses it runs unchanged under a simulated clock. */
  readonly clock: SandboxClock
}

/** The context of `run`. */
export interface RunContext extends HookContext {
  /**
   * Runs fn in the sandbox's turn, so that no use and no checkpoint sees half a change. Rejects without running it:
   * with the reason of `signal` once that has aborted, and with ReentrantLockError from inside a turn. Rejects after it
   * ran where the lease is over by then (LockLostError): fn may have had effects beside those of the next owner.
   */
  readonly turn: <A>(fn: () => A | Promise<A>) => Promise<A>
  /**
   * Settles when a checkpoint of what is done so far is acknowledged. Rejects with why it isn't, and with
   * ReentrantLockError from inside a turn. Once `signal` has aborted it rejects with the signal's reason: the last
   * checkpoint is about to be made.
   */
  readonly checkpoint: () => Promise<void>
}

/** The context of `checkpoint`. */
export interface CheckpointContext {
  /** Why it is asked for. */
  readonly reason: CheckpointReason
  /** Aborts on loss, and once `checkpointWithin` is over; not for a handoff, which it may precede. */
  readonly signal: AbortSignal
}

/** The context of `close`. */
export interface CloseContext {
  /** How the sandbox ended. */
  readonly reason: EndReason
  /** Aborts once `closeWithin` is over, and not on loss: what was opened has to be closed. */
  readonly signal: AbortSignal
}

/** Why a checkpoint is asked for. */
export type CheckpointReason = "periodic" | "handoff" | "durable" | "manual"

/** What says how saved state looks: any Standard Schema for JSON, a Codec for bytes. */
// oxlint-disable-next-line typescript/no-explicit-any -- of any types: SavedBy and RestoredBy tell them
export type AnySchema = StandardSchemaV1<any, any> | Codec<any, any>

/** A Schedule of Effect's that is stepped with what was thrown; its steps neither fail nor wait. */
export type BackOffSchedule = Schedule<unknown, unknown>

/** What `checkpoint` has to return. (Asked of the Standard Schema first: zod's have `encode` and `decode` as well.) */
export type SavedBy<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Schema>
  : Schema extends Codec<infer In, infer _>
    ? In
    : never

/** What `restore` gets. */
export type RestoredBy<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : Schema extends Codec<infer _, infer Out>
    ? Out
    : never

/** How much a sandbox remembers of durable calls. What is beyond the first limit that is reached is forgotten. */
export interface CallMemoryOptions {
  /** How many calls; default 1000. */
  readonly count?: number
  /** How large they are together as JSON, in UTF-16 units; default 262,144. Each checkpoint writes all of it. */
  readonly size?: number
  /** How long after the call was first sent; default 10 min. */
  readonly age?: Duration
}

/**
 * What a definition is made of. `S` is the live state, `In` what is saved, `Out` what the schema makes of it.
 *
 * Every hook is work. It begins only while the lease is held by time (`close` alone does so afterwards). It has a
 * signal and a limit, which is an option of the manager. Once the limit is over the signal aborts, `onError` gets a
 * HookOverrunError, and `stats().stuck` counts the sandbox. Calls that wait for a restore or a checkpoint reject with
 * that error; the caller of a use waits until the use ends. The lease is kept until the hook has ended, and nothing
 * that follows it (checkpoint, close, release) begins before.
 */
export interface SandboxHooks<S, In, Out, Schema = StandardSchemaV1<In, Out> | Codec<In, Out>> {
  /** See SandboxDefinition: it becomes part of lock keys and object names. */
  readonly name: string
  /** A positive integer, raised when saved state changes its form; default 1. Above 1 there has to be a `migrate`. */
  readonly version?: number
  /** Turns state that version `from` saved into this version's, before the schema sees it. Within `restoreWithin`. */
  readonly migrate?: (saved: unknown, from: number, context: CodecContext) => unknown
  /**
   * Any Standard Schema for JSON, a Codec for bytes, or `unchecked()`. Within `restoreWithin` before a restore, and
   * within `checkpointWithin` after a checkpoint. A schema that validates asynchronously gets a CodecContext, its
   * signal included, as the `libraryOptions` of Standard Schema.
   */
  readonly schema: Schema
  /** Releases the sandbox after this time without a use, once `run` has returned. Without one: never. */
  readonly idleAfter?: Duration
  /** Saves a checkpoint this often while the sandbox runs. Without one: when it leaves, and when asked to. */
  readonly checkpointEvery?: Duration
  /**
   * How long the next try waits after `restore` or `run` threw, here: one step a failure, given what was thrown. A run
   * that ends in order begins it anew, and so do ten minutes without a failure after its pause. A schedule that has
   * ended stays at its last pause. Default: 1 s, doubled each time up to 60 s, of which half is up to chance.
   */
  readonly backOff?: BackOffSchedule
  /** How much a sandbox remembers of durable calls, so that a repetition of one is answered and not applied again. */
  readonly callMemory?: CallMemoryOptions
  /**
   * How many calls may wait in this process for one sandbox, until it runs and their turn comes; default 1000. One more
   * is refused: OverloadedError.
   */
  readonly callQueue?: number
  /**
   * Builds the live state, from what was saved last or from nothing. Throwing ends the sandbox; the next try backs off.
   * A call whose `timeout` ends while it goes on has as its error's `cause` one that names `restoreWithin`. Within
   * `restoreWithin`, like what came before it: `migrate` and the schema. A state that comes later is closed unused.
   */
  restore(context: HookContext & { readonly checkpoint: Out | undefined }): S | Promise<S>
  /**
   * The sandbox's own work. May return; throwing ends the sandbox without a checkpoint. `onError`, `Sandbox.ended` and
   * the uses that wait get a HandingOffError whose `cause` is what was thrown. Once its signal has aborted it has
   * `settleWithin` to end.
   */
  run?(state: S, context: RunContext): Promise<void>
  /**
   * What to save. Runs in a turn of its own; must not change the state. Within `checkpointWithin`, the schema and the
   * store included: what comes later is not stored, and the last good one stays.
   */
  checkpoint(state: NoInfer<S>, context: CheckpointContext): NoInfer<In> | Promise<NoInfer<In>>
  /**
   * Frees what `restore` took. Called exactly once for each restore that gave a state, when all work has ended. Within
   * `closeWithin`, after which it is stuck: the lease is kept until it has ended.
   */
  close?(state: NoInfer<S>, context: CloseContext): void | Promise<void>
  /**
   * Names the XState machine that lives in the state, so that the live page shows its chart: `{ machine, value }`.
   * Called only while somebody looks at the sandbox, at any moment, and so perhaps between two halves of a change. Must
   * give at once, and change nothing. What it throws goes to `onError`, and is shown in the chart's place.
   */
  inspectState?(state: NoInfer<S>): InspectedState
}

/** How to use a sandbox. */
export interface UseOptions {
  /** Ends the wait (LockCancelledError); once fn runs it only aborts fn's `signal`. */
  readonly signal?: AbortSignal
  /** The wait until fn begins; default 30 s. */
  readonly timeout?: Duration | "infinite"
  /** Resolve only when a checkpoint with the effects of fn is acknowledged: otherwise NotDurableError. */
  readonly durable?: boolean
}

/** A sandbox as this process sees it, owned or not (acquiring and waiting ones too). */
export interface SandboxView {
  /** The definition's name. */
  readonly name: string
  /** Its key, as the caller gave it. */
  readonly key: string
  /** Its chart's actor, to look at. */
  readonly actor: SandboxActor
  /**
   * The snapshots of its chart: the present one and all that follow. Completes with the last, also for who comes after
   * that.
   */
  readonly state$: Observable<SandboxSnapshot>
  /** While there is one. */
  readonly lease?: LeaseView | undefined
}

/** How a sandbox ended. */
export interface SandboxEnding {
  /** What brought it about. */
  readonly reason: EndReason
  /** Why, where the reason is `lost` or `failed`. */
  readonly error?: unknown
}

/** A running sandbox of this process. When it has left, its calls reject; restore it again for a new handle. */
export interface Sandbox<S> extends SandboxView {
  /** To look at; what it was, once the sandbox has ended. */
  readonly lease: LeaseView
  /**
   * Runs fn in a turn and settles as it does. Before fn began it rejects with LockTimeoutError, LockCancelledError,
   * HandingOffError (it leaves, or has left), LockLostError or ReentrantLockError. After that, with LockLostError where
   * the lease was lost meanwhile (fn may have had effects outside, and may go on), and with NotDurableError.
   */
  use<A>(fn: (state: S, context: HookContext) => A | Promise<A>, options?: UseOptions): Promise<A>
  /**
   * Settles within 30 s when a checkpoint of what is done so far is acknowledged. Rejects with why it isn't (the errors
   * of saved state), HandingOffError, LockLostError, LockTimeoutError or ReentrantLockError.
   */
  checkpoint(): Promise<void>
  /**
   * Lets the work end, saves a checkpoint and releases; settles when that is done. ReentrantLockError from inside a
   * turn. It settles with `unknown` in two cases:
   * - The store didn't tell whether the release was stored. A later call tries again.
   * - The work is stuck. The lease is kept as long as it runs.
   */
  release(): Promise<ReleaseResult>
  /** Settles once, and never rejects. */
  readonly ended: Promise<SandboxEnding>
}

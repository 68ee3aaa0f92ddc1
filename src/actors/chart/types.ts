/**
 * The words of the sandbox chart: its states, events, commands and limits. `chart.ts` says how they hang together,
 * the runtime (`runtime.ts`) what they do.
 */
import type { ActorRef, MachineSnapshot, MetaObject, StateSchema } from "xstate"
import type { ReleaseResult } from "../../locks/api/lock.ts"
import type { LeaseHealth, SandboxStateValue } from "../../trace/state-value.ts"

export type { LeaseHealth, SandboxStateValue } from "../../trace/state-value.ts"

/** Why a sandbox leaves without having failed or lost its lease. */
export type LeaveReason = "handoff" | "drain" | "idle" | "released" | "removed"

/** Why a sandbox ended. */
export type EndReason = LeaveReason | "lost" | "failed"

/** What went wrong, where the sandbox ends as `failed`. Absent error: a deadline of the lock passed. */
export interface ChartFailure {
  /** What was being done. */
  readonly during: "acquire" | "restore" | "run" | "checkpoint" | "release"
  /** What was thrown, as it was; HookOverrunError where a hook's limit is over. */
  readonly error?: unknown
}

/**
 * What the commands to the lock may take, in milliseconds. `Infinity` waits forever (on this project's clock). Hooks
 * have limits of their own (`work.overran`), and what waits for the store has the store's budgets.
 */
export interface ChartLimits {
  /** A backstop: the lock keeps its own budget, which ends sooner. */
  readonly acquireWithin: number
  /** Until a cancelled acquire has shown that it left nothing behind. */
  readonly reconcileWithin: number
  /** A backstop as well: a release has a budget of its own. */
  readonly releaseWithin: number
}

/** What the chart is started with. */
export interface ChartInput {
  /** The lock key of the sandbox. */
  readonly key: string
  /** `remove` owns the key only to replace its checkpoint by a tombstone: no hook runs. Without one: `run`. */
  readonly purpose?: "run" | "remove"
  /** Milliseconds before the first try; none without it. */
  readonly backOff?: number
  /** Those that differ from the defaults. */
  readonly limits?: Partial<ChartLimits>
}

/** What the chart remembers beside its state. */
export interface ChartContext {
  /** The lock key of the sandbox. */
  readonly key: string
  /** What the key is wanted for. */
  readonly purpose: "run" | "remove"
  /** Milliseconds before the first try, or 0. */
  readonly backOff: number
  /** What the commands to the lock may take. */
  readonly limits: ChartLimits
  /** The fencing token, from acquisition on. */
  readonly token: number | undefined
  /** How the lease does; outlives the change from owning to handing off. */
  readonly lease: LeaseHealth
  /** Set by the first request to leave. */
  readonly leaving: LeaveReason | undefined
  /** Set by the first failure; nothing is saved after one. */
  readonly failure: ChartFailure | undefined
  /** The final checkpoint. */
  readonly saved: "no" | "stored" | "failed"
  /** The state is closed, or there was none. */
  readonly closed: boolean
  /** Someone waited and was given the key. */
  readonly granted: boolean
  /** Why it was lost or refused. */
  readonly error: unknown
}

/** How an acquire ended without a lease. */
export type Refusal = "contended" | "timedOut" | "cancelled" | "failed"

/** Everything the chart reacts to. `lock.*` comes from the lock, `work.*` and `checkpoint.*` from commands. */
export type ChartEvent =
  | { readonly type: "backOff.over" }
  | { readonly type: "lock.waiting" }
  | { readonly type: "lock.acquired"; readonly token: number }
  | { readonly type: "lock.refused"; readonly how: Refusal; readonly error: unknown }
  | { readonly type: "lock.degraded" }
  | { readonly type: "lock.suspect" }
  | { readonly type: "lock.recovered" }
  | { readonly type: "lock.releaseRequested" }
  | { readonly type: "lock.granted" }
  | { readonly type: "lock.lost"; readonly error: unknown }
  /** The lock's answer is late: the limit of `acquire`, `reconcile` or `release` is over. It may come yet. */
  | { readonly type: "lock.overran" }
  /** With an error where the lease was lost already. */
  | { readonly type: "lock.released"; readonly result: ReleaseResult; readonly error?: unknown }
  /** This process wants the sandbox to end (or the acquire, before there is one). */
  | { readonly type: "leave"; readonly reason: LeaveReason }
  /** The claim may have raised the token. */
  | { readonly type: "work.restored"; readonly token: number }
  /** `restore` or `run` rejected. Before the work was asked to end that is a failure, afterwards it has stopped. */
  | { readonly type: "work.failed"; readonly error: unknown }
  /** A hook, or work that was asked to end, goes on past its limit. Its lease is kept until it ends. */
  | { readonly type: "work.overran"; readonly error: unknown }
  /** The work has ended, and others save before it: `work.settled` follows when it is its turn. */
  | { readonly type: "work.queued" }
  | { readonly type: "work.settled" }
  | { readonly type: "work.closed" }
  | { readonly type: "checkpoint.stored" }
  | { readonly type: "checkpoint.failed"; readonly error: unknown }

/**
 * The commands, each with its parameters. A command that waits ends in exactly one event. Before that there is one
 * `lock.overran` or `work.overran` where it takes longer than its limit.
 */
export interface ChartCommands {
  /** Waits out the back-off: ends in `backOff.over`, or in nothing where the chart is over before. */
  readonly backOff: unknown
  /** Within `acquireWithin`; ends in `lock.acquired` or `lock.refused`. */
  readonly acquire: unknown
  /** Interrupts the acquire, whose own event tells how it ended. Within `reconcileWithin` from now on. */
  readonly reconcile: unknown
  /** Claims the head and runs `restore`: ends in `work.restored`, `work.failed` or `work.overran`. */
  readonly restore: unknown
  /** Runs `run` and admits uses: ends in `work.failed`, or in nothing where `run` returns. */
  readonly run: unknown
  /** Interrupts restore and run: their signals abort. No event: `settle` waits for them. */
  readonly abortWork: { readonly reason: EndReason }
  /**
   * Waits for all work to end, however long, and then for the turn to save. Ends in `work.settled`; before that there
   * may be a `work.queued`, and one `work.overran` each time that a limit is over.
   */
  readonly settle: unknown
  /**
   * Settles a call of `release` as `unknown`: work ignores that it should end, and the release may never come. No
   * event.
   */
  readonly reportStuck: unknown
  /** The final checkpoint, or the tombstone: ends in `checkpoint.stored`, `checkpoint.failed` or `work.overran`. */
  readonly checkpoint: unknown
  /** Reports a failure, unless a call rejects with it. No event. */
  readonly reportFailure: unknown
  /** Closes the state if there is one, once: `work.closed`, however long that takes. */
  readonly close: unknown
  /** Within `releaseWithin`; ends in `lock.released`. */
  readonly release: unknown
  /** After loss: closes the state once the aborted work has ended. No event: the chart is over. */
  readonly abandon: unknown
}

/** A command as XState carries it. */
export type ChartCommand = { [K in keyof ChartCommands]: { type: K; params: ChartCommands[K] } }[keyof ChartCommands]

/** The conditions that the chart's transitions are drawn with. */
export interface ChartGuard {
  /** Its name in the drawing. */
  readonly type:
    | "withoutBackOff"
    | "isDegraded"
    | "isSuspect"
    | "isLeaving"
    | "isRemoval"
    | "hasFailed"
    | "wasGranted"
    | "isContended"
    | "isTimedOut"
    | "isCancelled"
    | "isUnknown"
    | "isLostAlready"
  /** None is used. */
  readonly params: unknown
}

type Nothing = {} | null | undefined

/** One moment of a sandbox's chart. */
export type SandboxSnapshot = MachineSnapshot<
  ChartContext,
  ChartEvent,
  Record<string, never>,
  SandboxStateValue,
  string,
  Nothing,
  MetaObject,
  StateSchema
>

/** A sandbox's actor for looking at: it fits XState's `useSelector`, and has neither `send` nor `stop`. */
export type SandboxActor = Pick<
  ActorRef<SandboxSnapshot, ChartEvent>,
  "id" | "sessionId" | "subscribe" | "getSnapshot" | "select"
>

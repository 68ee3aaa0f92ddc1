/** The names of a sandbox's hooks and of their limits, for messages and for what runs them. Only types. */

/** A piece of the user's code, as messages name it. */
export type HookName = "restore" | "run" | "turn" | "use" | "checkpoint" | "close" | "migrate" | "schema" | "codec"

/** The option of the manager that a limit comes from. */
export type LimitOption = "restoreWithin" | "settleWithin" | "checkpointWithin" | "closeWithin"

/** What each hook may take, in milliseconds. */
export type HookLimits = Readonly<Record<LimitOption, number>>

/** A time by which something has to have ended. Several hooks that follow each other may share one. */
export interface HookLimit {
  readonly option: LimitOption
  /** The whole of it, in milliseconds: for messages. */
  readonly ms: number
  /** In milliseconds of the clock's monotonic time. */
  readonly until: number
}

/**
 * What follows from each reason for which a sandbox ends. There is one row a reason: a reason that is added doesn't
 * compile until its row says all of this. How a sandbox comes to end for a reason is the chart's to say.
 */
import type { EndReason } from "./types.ts"

/** What follows from one reason. */
export interface ReasonRule {
  /** Completes "it is leaving this process:". */
  readonly because: string
  /** What the sandbox leaves in the store, once its work has settled: nothing where it ends without a last write. */
  readonly lastWrite: "checkpoint" | "tombstone" | "none"
  /** Another process waits for the key: it leaves before those that nobody asked for, and its lock is granted. */
  readonly isForAnother: boolean
  /**
   * All sandboxes of the manager leave. None waits for a former owner any more, no later call can have one here, and
   * the drain tells of all states that weren't saved.
   */
  readonly endsManager: boolean
}

const own = { isForAnother: false, endsManager: false } as const

export const END_REASONS: Readonly<Record<EndReason, ReasonRule>> = {
  handoff: { ...own, because: "another process asked for it", lastWrite: "checkpoint", isForAnother: true },
  drain: { ...own, because: "this process is draining", lastWrite: "checkpoint", endsManager: true },
  idle: { ...own, because: "nobody has used it for a while", lastWrite: "checkpoint" },
  released: { ...own, because: "it is being released", lastWrite: "checkpoint" },
  removed: { ...own, because: "it is being removed", lastWrite: "tombstone" },
  lost: { ...own, because: "its lease was lost", lastWrite: "none" },
  failed: { ...own, because: "it failed", lastWrite: "none" },
}

/** The rule of a reason; undefined where there is none yet. */
export const ruleOf = (reason: EndReason | undefined): ReasonRule | undefined => reason && END_REASONS[reason]

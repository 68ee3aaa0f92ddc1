/**
 * The states of a sandbox's chart, as traces and snapshots name them. The chart itself (`src/actors/chart/chart.ts`)
 * says how they hang together; they stand here because a trace, a floor below, tells of them.
 */

/** How the lease does, while there is one: renewals succeed, fail, or this process's clocks disagree. */
export type LeaseHealth = "healthy" | "degraded" | "suspect"

/**
 * Where a sandbox can be. `work` and `lease` go side by side: the lease is renewed until the last of the work is done.
 * `beginning` is left at once.
 */
export type SandboxStateValue =
  | { acquiring: "beginning" | "backingOff" | "trying" | "reconciling" }
  | { waiting: "watching" }
  | { owning: { work: "restoring" | "running"; lease: LeaseHealth } }
  | { handingOff: { work: "settling" | "stuck" | "queued" | "checkpointing" | "releasing"; lease: LeaseHealth } }
  | { released: "clean" | "handedOff" | "lost" | "contended" | "timedOut" | "cancelled" | "failed" }

/** Numbers about the sandboxes of a manager, for people and for gauges. */
import type { SandboxRuntime } from "../sandbox/runtime.ts"

/** How many sandboxes are in each state, what waits and runs in them, and in how many a hook goes on past its limit. */
export const statsOf = (runtimes: Iterable<SandboxRuntime>): Readonly<Record<string, number>> => {
  const stats = { acquiring: 0, waiting: 0, owning: 0, handingOff: 0, stuck: 0, usesWaiting: 0, turns: 0 }
  for (const { snapshot, activation, overrun } of runtimes) {
    for (const state of ["acquiring", "waiting", "owning", "handingOff"] as const) {
      if (snapshot.matches(state)) stats[state]++
    }
    if (overrun !== undefined) stats.stuck++
    stats.usesWaiting += activation?.turns.waiting ?? 0
    if (activation?.turns.busy) stats.turns++
  }
  return stats
}

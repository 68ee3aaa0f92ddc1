/** The time an attempt has, from its start, and how messages tell it. */
import type { Attempt } from "./state.ts"
import { type Instant, plus } from "./time.ts"

/** What one try without waiting may take, all the same, in milliseconds. */
export const ONE_TRY = 10_000

/** What a wait took of which budget, and whose that was, as messages say it: 0 is no time to wait for. */
export function waitedOf(waitedMs: number, limitMs: number, source: string): string {
  const waited = `${Math.round(waitedMs)} ms`
  return limitMs === 0 ? `${waited} in one try (${source})` : `${waited} of ${Math.round(limitMs)} ms (${source})`
}

/** When the attempt's budget is over; undefined for one without limit. */
export function budgetEnd(attempt: Attempt): Instant | undefined {
  if (attempt.budgetMs === undefined) return undefined
  return plus(attempt.startedAt, attempt.budgetMs === 0 ? ONE_TRY : attempt.budgetMs)
}

/** The time an attempt has, from its start. */
import type { Attempt } from "./state.ts"
import { type Instant, plus } from "./time.ts"

/** What one try without waiting may take, all the same, in milliseconds. */
export const ONE_TRY = 10_000

/** When the attempt's budget is over; undefined for one without limit. */
export function budgetEnd(attempt: Attempt): Instant | undefined {
  if (attempt.budgetMs === undefined) return undefined
  return plus(attempt.startedAt, attempt.budgetMs === 0 ? ONE_TRY : attempt.budgetMs)
}

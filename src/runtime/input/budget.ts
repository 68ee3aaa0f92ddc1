/**
 * Wait budgets as people write them, in flags, environment variables and configuration files, and which of several
 * counts. Owns syntax and precedence alone: what a bad one is called, and the typed error for it, are the caller's.
 */
import { type Duration, durationMillis } from "./duration.ts"

/**
 * A budget as it is written outside of a program: whole or decimal seconds (30, "30", "2.5"), a duration ("30 s",
 * "500ms", "2 min", "1 h"), 0 for one try without waiting, or "infinite".
 */
export type BudgetText = number | string

/** A budget in milliseconds. */
export type Budget = number | "infinite"

const seconds = /^\d+(?:\.\d+)?$/
/** In a shell the blank would need quotes. */
const duration = /^(\d+(?:\.\d+)?) ?(ms|s|min|h)$/

/** The budget that was written; undefined where it is none. */
export function budgetOf(written: unknown): Budget | undefined {
  if (typeof written === "number") return durationMillis(written * 1000)
  if (typeof written !== "string") return undefined
  if (written === "infinite") return "infinite"
  if (seconds.test(written)) return durationMillis(Number(written) * 1000)
  const [, amount, unit] = duration.exec(written) ?? []
  return amount === undefined ? undefined : durationMillis(`${amount} ${unit}` as Duration)
}

/** Where a budget can come from, the strongest first. */
export const BUDGET_ORIGINS = ["flag", "environment", "configuration", "scope", "default"] as const

/** Where a budget came from. */
export type BudgetOrigin = (typeof BUDGET_ORIGINS)[number]

/** What each origin says; undefined where it says nothing. */
export type BudgetOffers = Readonly<Partial<Record<BudgetOrigin, unknown>>>

/** The strongest origin that says anything. */
export function strongest(offers: BudgetOffers): BudgetOrigin | undefined {
  return BUDGET_ORIGINS.find((origin) => offers[origin] !== undefined)
}

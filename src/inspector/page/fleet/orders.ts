/** The orders in which the list can be. Pure. */
import type { LiveRow } from "../../live/model/live-row.ts"
import { TOP_STATES } from "../../live/model/states.ts"

/** Which of two rows comes first. */
export type Order = (one: LiveRow, other: LiveRow) => number

const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** By key, then by worker: the order in which one looks something up. */
export const byKey: Order = (one, other) => byText(one.key, other.key) || byText(one.worker, other.worker)

const byWorker: Order = (one, other) => byText(one.worker, other.worker) || byKey(one, other)

const byState: Order = (one, other) =>
  TOP_STATES.indexOf(one.state) - TOP_STATES.indexOf(other.state) || byKey(one, other)

/** The longest first: what has been so for long is what one looks for. */
const bySince: Order = (one, other) => one.since - other.since || byKey(one, other)

/** The nearest end first; who has no lease comes last. */
const byDeadline: Order = (one, other) =>
  (one.deadline ?? Number.MAX_VALUE) - (other.deadline ?? Number.MAX_VALUE) || byKey(one, other)

/** By the name of a column. */
export const ORDERS = {
  key: byKey,
  worker: byWorker,
  state: byState,
  since: bySince,
  lease: byDeadline,
} as const satisfies Readonly<Record<string, Order>>

/** A column that the list can be sorted by. */
export type Column = keyof typeof ORDERS

/** The other way round. */
export const reversed =
  (order: Order): Order =>
  (one, other) =>
    order(other, one)

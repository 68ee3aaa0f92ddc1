/**
 * The line (rule 13a): who asks for the key behind its one waiter, in order of asking. It says who is to have the
 * waiter's place next, no more: no right and no promise depends on it. A writer that drops it costs the order, nothing
 * else.
 *
 * Entries stand in the order of the token that each met when it first asked, which no clock can shift. One that asks
 * again after its own turn has met a greater token, and comes behind all that asked before. Those that only wait, and
 * ask nobody to leave, come behind all that ask, in an order of their own.
 */
import { type InLine, LINE_LENGTH, type LeaseRecord } from "../../record.ts"
import { dateFor, type Sight, unchangedFor } from "./expiry.ts"
import { isMine } from "./standing.ts"
import type { LockState } from "./state.ts"

type Me = Pick<LockState, "config">

/** What one's place goes by. */
type Rank = Pick<InLine, "asked" | "quiet">

/**
 * An entry stands for so long unless it is refreshed, in milliseconds. One that is dead costs a waiter's life, or that
 * of a grant; refreshes cost each time a write of an object that takes one in a second, and that others want to join
 * by.
 */
export const LINE_LIFE = 120_000
/** It is refreshed after this. */
export const LINE_REFRESH = 80_000
/** `Date`s are rounded down, and answers of one store may differ. In milliseconds. */
const SLACK = 1000

/** Who stands in the line, as far as is known. An entry that is no longer refreshed is left out. */
export function lineOf(sight: Sight, record: LeaseRecord | undefined): readonly InLine[] {
  return record === undefined ? [] : record.line.filter((entry, index) => !isOver(sight, entry, index))
}

/**
 * The line with me in it. An entry that stands there keeps its place. The last leaves a line that is too long: that may
 * be me.
 */
export function joined(me: Me, line: readonly InLine[], mine: InLine): readonly InLine[] {
  const at = line.findIndex(({ nonce }) => nonce === mine.nonce)
  if (at >= 0) return line.with(at, mine)
  const others = line.filter((entry) => !isMine(entry, me))
  const behind = others.findIndex((entry) => isBefore(mine, entry))
  const place = behind < 0 ? others.length : behind
  return others.toSpliced(place, 0, mine).slice(0, LINE_LENGTH)
}

/** Whether one of that rank has a place in the line. */
export const hasRoom = (line: readonly InLine[], rank: Rank): boolean =>
  line.length < LINE_LENGTH || isBefore(rank, line.at(-1)!)

/** Those of the line who are to have the waiter's place, or the key, before me. */
export function ahead(me: Me, line: readonly InLine[], mine: Pick<InLine, "nonce"> & Rank): readonly InLine[] {
  const at = line.findIndex(({ nonce }) => nonce === mine.nonce)
  return at < 0 ? line.filter((entry) => !isMine(entry, me) && !isBefore(mine, entry)) : line.slice(0, at)
}

/** Whether one that comes later is to stand before another. */
const isBefore = (late: Rank, early: Rank): boolean =>
  late.quiet === early.quiet ? early.asked > late.asked : early.quiet === true

function isOver(sight: Sight, entry: InLine, index: number): boolean {
  const date = dateFor(sight.config, sight.view, entry.bootId ?? null)
  if (date === undefined) return unchangedFor(sight.observedLine[index], LINE_LIFE, sight.now)
  const until = entry.expiresAt * 1000
  return date > until + SLACK || until > date + 2 * LINE_LIFE
}

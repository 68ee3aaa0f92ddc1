/**
 * The screen as lines of text: the fleet, its workers, its sandboxes, and the reason of the selected sandbox's state.
 * Pure.
 */
import { columnsOf } from "../../../draw/text/columns.ts"
import { whyNotOwned } from "../../../inspector/live/model/attention.ts"
import type { LiveRow } from "../../../inspector/live/model/live-row.ts"
import { TOP_STATES, type TopState } from "../../../inspector/live/model/states.ts"
import type { WorkerRow } from "../../../inspector/live/model/wire.ts"
import { visible } from "../../../inspector/live/visible.ts"
import { instantText, span } from "../../frame/moments.ts"
import type { Style } from "../../frame/output.ts"
import type { TopFeed } from "./feed.ts"
import type { TopView } from "./view.ts"

/** What can be made to stand out. */
export interface Paint {
  readonly bold: Style
  readonly dim: Style
  readonly red: Style
  readonly yellow: Style
  readonly green: Style
  readonly blue: Style
  readonly cyan: Style
  readonly inverse: Style
}

/** The size of a terminal, in characters. */
export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** What a frame is made of. */
export interface FrameParts {
  readonly feed: TopFeed
  readonly view: TopView
  readonly size: TerminalSize
  readonly paint: Paint
  /** Why the connection is lost. */
  readonly problem: string | null
  /** Renewals of each worker per second, where that is known. */
  readonly rates: ReadonlyMap<string, number>
}

/** The most workers that are shown at once. Those with problems come first. */
const MOST_WORKERS = 6

/** The frame: as many lines as the terminal has, none wider than the terminal. */
export function frameOf(parts: FrameParts): readonly string[] {
  const { size, view, paint } = parts
  const workers = workerLines(parts)
  const head = [titleLine(parts), countsLine(parts), ...workers, "", paint.bold(fit(columnsText(HEAD), size.columns))]
  const foot = footLines(parts)
  const room = Math.max(0, size.rows - head.length - foot.length)
  const rows = view.inSight(room).map((row) => rowLine(row, parts))
  if (rows.length === 0 && room > 0) rows.push(paint.dim(fit("  No sandbox is found.", size.columns)))
  const empty = Array.from({ length: Math.max(0, room - rows.length) }, () => "")
  return [...head, ...rows, ...empty, ...foot].slice(0, size.rows)
}

function titleLine({ feed, size, paint, problem }: FrameParts): string {
  const state = !feed.isLive ? "recorded" : problem === null ? "live" : "no connection"
  const text = fit(`leasehold top  ${visible(feed.name)}  ${state}  ${instantText(feed.now())}`, size.columns)
  return problem === null ? paint.bold(text) : paint.red(text)
}

function countsLine({ feed, size, view, paint, problem }: FrameParts): string {
  if (problem !== null)
    return paint.red(fit(`Nothing is heard: ${visible(problem, 300)}. It is tried again.`, size.columns))
  const counts = TOP_STATES.map((state) => `${state} ${feed.fleet.counts[state]}`).join("  ")
  return fit(`${counts}   sorted by ${view.sort}${view.onlyAttention ? ", attention only" : ""}`, size.columns)
}

function workerLines({ feed, size, paint, rates }: FrameParts): readonly string[] {
  const rank = ({ problem }: WorkerRow): number => (problem === null ? 1 : 0)
  const all = [...feed.fleet.workers.values()].sort((a, b) => rank(a) - rank(b) || (a.worker < b.worker ? -1 : 1))
  const most = Math.max(1, Math.min(MOST_WORKERS, Math.floor(size.rows / 4)))
  const lines = all.slice(0, most).map((row) => {
    const name = visible(row.worker, 40)
    if (row.problem !== null) return paint.red(fit(`! ${name}: ${visible(row.problem, 300)}`, size.columns))
    return fit(`  ${name}  ${aboutWorker(row, rates.get(row.worker))}`, size.columns)
  })
  const more = all.length - lines.length
  return more > 0 ? [...lines, paint.dim(fit(`  and ${more} more workers`, size.columns))] : lines
}

function aboutWorker({ runtime, clockOffset, closed, stats, address }: WorkerRow, rate: number | undefined): string {
  return [
    runtime === null ? undefined : visible(runtime, 40),
    address === null ? undefined : visible(address, 60),
    clockOffset === null ? undefined : `clock ${clockOffset >= 0 ? "+" : "-"}${span(clockOffset)}`,
    rate === undefined ? undefined : `${rate.toFixed(1)} renewals/s`,
    stats["throttled"] === undefined ? undefined : `429s ${stats["throttled"]}`,
    closed ? "takes none in" : undefined,
  ]
    .filter((text) => text !== undefined)
    .join("  ")
}

const HEAD = ["  STATE", "FOR", "HELD", "LEASE", "TOKEN", "WORKER", "KEY"]
/** The widths of all columns but the last, in characters. */
const WIDTHS = [26, 11, 11, 9, 8, 14]

const columnsText = (cells: readonly string[]): string =>
  cells.map((cell, at) => (at < WIDTHS.length ? padded(cell, WIDTHS[at]!) : cell)).join(" ")

function rowLine(row: LiveRow, { feed, view, size, paint }: FrameParts): string {
  const now = feed.now()
  const isSelected = row === view.selected
  const attention = view.attentionOf(row)
  const cells = [
    `${isSelected ? ">" : attention === undefined ? " " : "!"} ${stateOf(row)}`,
    span(Math.max(0, now - row.since)),
    row.ownedSince === null ? "-" : span(Math.max(0, now - row.ownedSince)),
    row.deadline === null ? "-" : row.deadline < now ? "over" : span(row.deadline - now),
    row.token === null ? "-" : `…${String(row.token).slice(-6)}`,
    visible(row.worker, 60),
    visible(row.key),
  ]
  const text = fit(columnsText(cells), size.columns)
  if (isSelected) return paint.inverse(text)
  return attention === undefined ? paint[COLOURS[row.state]](text) : paint.red(text)
}

const COLOURS: Readonly<Record<TopState, keyof Paint>> = {
  acquiring: "cyan",
  waiting: "yellow",
  owning: "green",
  handingOff: "blue",
  released: "dim",
}

function stateOf({ parts, stuck }: LiveRow): string {
  const { top, inner, work, lease } = parts
  const within = [inner ?? work, lease === "healthy" ? null : lease].filter((text) => text !== null)
  return stuck === null ? `${top} ${visible(within.join(", "), 60)}` : `${top} stuck (${visible(stuck, 12)})`
}

/** The reason of the selected sandbox's state, and the keys. */
function footLines({ feed, view, size, paint }: FrameParts): readonly string[] {
  const { selected } = view
  const why =
    selected === undefined ? "" : (view.attentionOf(selected)?.reason ?? whyNotOwned(selected, feed.now(), feed.fleet))
  const help = "arrows move  / search  s sort  a attention  q quit"
  const search = view.text === "" ? "" : `  search: ${visible(view.text)}`
  if (!view.isTyping) return [fit(visible(why, 1000), size.columns), paint.dim(fit(`${help}${search}`, size.columns))]
  const problem = view.problem === undefined ? "Enter searches, Escape leaves it" : view.problem
  return [paint.yellow(fit(visible(problem, 300), size.columns)), fit(`/${visible(view.text)}_`, size.columns)]
}

/** Cut to a width, in columns of the terminal. */
export function fit(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  let cut = ""
  let used = 1
  for (const character of text) {
    used += columnsOf(character)
    if (used > columns) break
    cut += character
  }
  return columns < 1 ? "" : `${cut}…`
}

const padded = (text: string, columns: number): string => {
  const short = fit(text, columns)
  return short + " ".repeat(Math.max(0, columns - columnsOf(short)))
}

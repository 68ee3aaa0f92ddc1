/**
 * The tables of docs/checked.md. What may happen and how far stands in the configurations, and what came of it in the
 * results: nothing in the tables is written by hand.
 */
import { type CheckConfiguration, configurations, guardSearch, larger } from "../../src/testing/check/configurations.ts"
import { settingsOf } from "../../src/testing/check/options.ts"

/** What came of a search. */
export interface Figures {
  readonly states: number
  readonly seconds: number
}

/** By the name of the search. */
export type Found = ReadonlyMap<string, Figures>

/** The name of the line for the least guard, which takes several searches. */
export const GUARD = "guard"

/** The searches of each table, in order. */
const tables: readonly Readonly<Record<string, CheckConfiguration>>[] = [
  { ...configurations, [GUARD]: guardSearch },
  larger,
]

const titles = ["search", "what may happen, at most", "together", "up to", "states", "seconds"]

/** The page with these figures in place of its own; it keeps those of all other searches. */
export function rewritten(page: string, found: Found): string {
  const known = figuresOf(page)
  let index = 0
  return page.replaceAll(/^\| search .*\n(?:\|.*\n)+/gm, () => {
    const rows = Object.entries(tables[index++] ?? {}).map(([name, { why, options }]) => {
      const { left, until } = settingsOf(options)
      const { states, seconds } = found.get(name) ?? known.get(name) ?? { states: 0, seconds: 0 }
      const took = seconds < 1 ? "< 1" : String(Math.round(seconds))
      return [`\`${name}\``, why, String(left.sum), `${until / 1000} s`, states.toLocaleString("en"), took]
    })
    return drawn(rows)
  })
}

/** The figures that the page tells. */
export function figuresOf(page: string): Found {
  const cells = Array.from(page.matchAll(/^\| `(.*)$/gm), ([, row]) => row!.split("|").map((cell) => cell.trim()))
  return new Map(
    cells.map(([name = "", , , , states = "", seconds = ""]) => [
      name.slice(0, -1),
      { states: Number(states.replaceAll(",", "")), seconds: seconds === "< 1" ? 0 : Number(seconds) },
    ]),
  )
}

function drawn(rows: readonly (readonly string[])[]): string {
  const widths = titles.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)))
  const padded = (cell: string, column: number): string =>
    column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)
  const line = (cells: readonly string[]): string => `| ${cells.map(padded).join(" | ")} |\n`
  const rule = widths.map((width, column) => (column < 2 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`))
  return [titles, rule, ...rows].map(line).join("")
}

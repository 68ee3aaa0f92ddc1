/** How often a recorded trace took each transition of leasehold's own chart. */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { sandboxChart } from "../../../actors/chart/chart.ts"
import type { CountOptions } from "../../../draw/machine/counts.ts"
import { EdgeCounter } from "../../../draw/machine/edge-counter.ts"
import { parseTrace } from "../../../trace/trace-text.ts"
import type { StateLine } from "../../../trace/trace.ts"
import { ofFlag, UsageError } from "../../errors/usage-error.ts"
import type { Call } from "../../frame/syntax.ts"

/** The most keys that a message names. */
const MOST_KEYS = 5

/**
 * Counts the transitions of a trace's sandboxes, or of those of one lock key. Throws:
 *
 * - UsageError if the file can't be read, has no such key, or has states that this release's chart hasn't;
 * - TraceFormatError if it is no trace.
 */
export function countsOf({ io, output }: Call, file: string, key: string | undefined): CountOptions {
  const states = stateLinesOf(textOf(resolve(io.cwd, file), file))
  const lines = key === undefined ? states : states.filter((line) => line.key === key)
  if (lines.length === 0) throw nothing(file, key, states)
  const counter = new EdgeCounter(sandboxChart)
  for (const { worker, key: of, value } of lines) ofFlag(() => counter.saw(JSON.stringify([worker, of]), value))
  const { counts, shared, starts, unexplained } = counter.result()
  const unsure = shared.reduce((sum, { times }) => sum + times, 0)
  const [whose, more] = [
    `${lines.length} states of ${starts} sandboxes`,
    { states: lines.length, starts, unsure, unexplained },
  ]
  output.note(
    "counted",
    `${whose}; ${unsure} times one of several transitions was taken (≤), ${unexplained} times none is known`,
    more,
  )
  return { counts, shared }
}

function textOf(path: string, file: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new UsageError(`${JSON.stringify(file)} can't be read: ${(error as Error).message}`, "Give a trace's file")
  }
}

const stateLinesOf = (text: string): readonly StateLine[] =>
  parseTrace(text).lines.filter((line): line is StateLine => line.kind === "state")

function nothing(file: string, key: string | undefined, states: readonly StateLine[]): UsageError {
  const keys = [...new Set(states.map((line) => line.key))]
  if (keys.length === 0)
    return new UsageError(`${JSON.stringify(file)} has no states of sandboxes`, "Give another trace")
  const some = keys.slice(0, MOST_KEYS).map((each) => JSON.stringify(each))
  const others = keys.length > MOST_KEYS ? `, and ${keys.length - MOST_KEYS} others` : ""
  return new UsageError(
    `${JSON.stringify(file)} has no key ${JSON.stringify(key)}`,
    `It has ${some.join(", ")}${others}`,
  )
}

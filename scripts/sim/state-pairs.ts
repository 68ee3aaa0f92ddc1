/**
 * Counts which state followed which in simulated runs: a few numbers a seed, from which the chart of all is drawn in
 * the end.
 */
import { writeFileSync } from "node:fs"
import { sandboxChart } from "../../src/actors/chart/chart.ts"
import type { SandboxStateValue } from "../../src/actors/chart/types.ts"
import { EdgeCounter, toSvg } from "../../src/draw/mod.ts"
import type { StateLine } from "../../src/trace/trace.ts"

type Value = SandboxStateValue

/** So many times a state followed another; null: a sandbox began in it. */
export type StatePair = readonly [from: Value | null, to: Value, times: number]

/** Watches the states of one run. */
export class StatePairs {
  readonly #last = new Map<string, Value>()
  readonly #pairs = new Map<string, { readonly from: Value | null; readonly to: Value; times: number }>()

  /** The next state of the trace. */
  state({ worker, key, value }: StateLine): void {
    const name = `${worker} ${key}`
    const from = this.#last.get(name) ?? null
    this.#last.set(name, value)
    const pair = JSON.stringify([from, value])
    const known = this.#pairs.get(pair) ?? { from, to: value, times: 0 }
    known.times++
    this.#pairs.set(pair, known)
  }

  /** What was counted. */
  get all(): readonly StatePair[] {
    return [...this.#pairs.values()].map(({ from, to, times }) => [from, to, times] as const)
  }
}

/** Draws how often each transition of the chart was taken, into a file. */
export async function drawChart(pairs: readonly StatePair[], file: string): Promise<void> {
  const counter = new EdgeCounter(sandboxChart)
  for (const [from, to, times] of pairs) counter.passed(from ?? undefined, to, times)
  const { counts, shared } = counter.result()
  writeFileSync(file, await toSvg(sandboxChart, { counts, shared }))
}

/** The command line of `npm run sim`, and the line of it that runs one seed again. */
import { parseArgs } from "node:util"
import { type Duration, durationMillis } from "../../src/runtime/input/duration.ts"

const options = {
  seeds: { type: "string", default: "200" },
  from: { type: "string", default: "1" },
  seed: { type: "string" },
  runtime: { type: "string" },
  jobs: { type: "string" },
  duration: { type: "string", default: "2 min" },
  first: { type: "boolean", default: false },
  twice: { type: "boolean", default: false },
  /** Of a worker of the script: its seeds come by standard input, one a line, what they show leaves as JSON. */
  worker: { type: "boolean", default: false },
} as const

/** What the script was told. */
export type SimArguments = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"]

/** How the script is called. */
export const usage =
  "usage: npm run sim -- [--seeds N [--from M] | --seed N] [--runtime node|deno] [--jobs N] [--duration <time>] [--first] [--twice]"

/** The seeds that are asked for: one, or so many from one on. */
export function seedsOf({ seed, seeds, from }: Pick<SimArguments, "seed" | "seeds" | "from">): readonly number[] {
  if (seed !== undefined) return [Number(seed)]
  return Array.from({ length: Number(seeds) }, (_, at) => Number(from) + at)
}

/** So many seeds, as CI runs them, are all run twice. */
const few = 200
/** Of more seeds one in so many. */
const sample = 20

/**
 * Whether a seed is run once more, to see that it gives the same run again: what breaks that breaks it in many seeds,
 * so of a long run one in twenty tells. `--twice` asks it of all.
 */
export const isTwice = ({ seed, seeds, twice }: SimArguments, of: number): boolean =>
  twice || seed !== undefined || Number(seeds) <= few || of % sample === 0

/** Reads the words of a command line. Throws where one is no option, and where what they ask for would run nothing. */
export function argumentsOf(words: readonly string[]): SimArguments {
  const { values } = parseArgs({ args: [...words], options })
  const { runtime, seed, seeds, from, jobs, duration } = values
  const isWhole = (text: string, least: number): boolean => /^\d+$/.test(text) && Number(text) >= least
  const demand = (holds: boolean, what: string): void => {
    if (!holds) throw new Error(what)
  }
  demand(
    runtime === undefined || runtime === "node" || runtime === "deno",
    `--runtime ${runtime} is none: node or deno`,
  )
  demand(jobs === undefined || isWhole(jobs, 1), `--jobs ${jobs} is no whole number of 1 or more`)
  demand((durationMillis(duration as Duration) ?? 0) > 0, `--duration ${duration} is no time to run for`)
  demand(seed === undefined || isWhole(seed, 0), `--seed ${seed} is no whole number of 0 or more`)
  demand(isWhole(from, 0), `--from ${from} is no whole number of 0 or more`)
  demand(isWhole(seeds, 1), `--seeds ${seeds} is no whole number of 1 or more`)
  demand(
    Number.isSafeInteger(Number(from) + Number(seeds)),
    `--from ${from} with --seeds ${seeds} is no range of seeds`,
  )
  return values
}

/**
 * Runs one seed again as it was run: with all that changes a run. How many seeds there were, in how many processes, and
 * whether the first failure ended it changes none.
 */
export function rerunLine(
  seed: number,
  { duration }: Pick<SimArguments, "duration">,
  runtime: "node" | "deno",
): string {
  const onDeno = runtime === "deno" ? " --runtime deno" : ""
  return `npm run sim -- --seed ${seed} --duration ${JSON.stringify(duration)}${onDeno}`
}

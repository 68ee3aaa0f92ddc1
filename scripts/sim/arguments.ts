/** The command line of `npm run sim`, and the line of it that runs one seed again. */
import { parseArgs } from "node:util"

const options = {
  seeds: { type: "string" },
  from: { type: "string", default: "1" },
  seed: { type: "string" },
  runtime: { type: "string" },
  jobs: { type: "string" },
  duration: { type: "string", default: "2 min" },
  first: { type: "boolean", default: false },
  /** Of a worker of the script: its seeds come by standard input, one a line, what they show leaves as JSON. */
  worker: { type: "boolean", default: false },
} as const

/** What the script was told. */
export type SimArguments = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"]

/** Reads the words of a command line. Throws where one is no option. */
export const argumentsOf = (words: readonly string[]): SimArguments => parseArgs({ args: [...words], options }).values

/**
 * Runs one seed again as it was run: with all that changes a run. How many seeds there were, in how many processes, and whether
 * the first failure ended it changes none.
 */
export function rerunLine(
  seed: number,
  { duration }: Pick<SimArguments, "duration">,
  runtime: "node" | "deno",
): string {
  const onDeno = runtime === "deno" ? " --runtime deno" : ""
  return `npm run sim -- --seed ${seed} --duration ${JSON.stringify(duration)}${onDeno}`
}

/**
 * What a command looks like, as data: from it come the parser, the help and the completions, so that none of them can
 * know of an option that the others don't.
 */
import type { Io } from "../process/io.ts"
import type { Output } from "./output.ts"

/** One option. */
export interface OptionSpec {
  /** How its value is called in the help; without one it is a switch. */
  readonly value?: string
  readonly short?: string
  readonly summary: string
  /** All values that it can have. */
  readonly values?: readonly string[]
  /** What completes it. */
  readonly completes?: "file"
}

/** What the user gave. */
export interface Given {
  readonly options: Readonly<Record<string, string | true | undefined>>
  readonly operands: readonly string[]
  /** What is to be run; undefined where there is none, or the command runs none. */
  readonly command: readonly string[] | undefined
}

/** A call of a command. */
export interface Call extends Given {
  readonly io: Io
  readonly output: Output
}

/** How the process is to end: with an exit code, or by the signal that ended what it ran. */
export type CommandEnding = number | NodeJS.Signals

/** Does what the command is for. */
export type CommandAction = (call: Call) => Promise<CommandEnding>

/** One command. */
export interface CommandSpec {
  readonly name: string
  readonly summary: string
  /** After `leasehold`. */
  readonly usage: string
  /** How many operands it takes. */
  readonly operands: readonly [least: number, most: number]
  /** It takes a command after `--`. */
  readonly runs?: boolean
  readonly options: Readonly<Record<string, OptionSpec>>
  /** Paragraphs of its help. */
  readonly about: readonly string[]
  /** Each with what it does. */
  readonly examples: readonly (readonly [line: string, does: string])[]
  readonly action: () => Promise<CommandAction>
}

/** Those that every command has. */
export const COMMON_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  json: { summary: "Results as JSON on standard output, messages as JSON lines on standard error" },
  "no-color": { summary: "No colours; as NO_COLOR=1 in the environment" },
  help: { short: "h", summary: "Show this help" },
}

/** Those of commands that use a store. */
export const STORE_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  store: {
    value: "STORE",
    completes: "file",
    summary:
      "file:DIR, gs://BUCKET[/PREFIX] or memory: (default: LEASEHOLD_STORE, the configuration, a directory of yours)",
  },
  config: {
    value: "FILE",
    completes: "file",
    summary: "The configuration file (default: LEASEHOLD_CONFIG, or the nearest)",
  },
}

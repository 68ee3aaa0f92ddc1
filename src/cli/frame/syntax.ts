/**
 * The syntax of commands, as data. The parser, the help and the completions are made from it, so each knows the same
 * options.
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
  /** The command to run; undefined if there is none, or this command runs none. */
  readonly command: readonly string[] | undefined
}

/** A call of a command. */
export interface Call extends Given {
  readonly io: Io
  readonly output: Output
}

/** How the process ends: with an exit code, or by the signal that ended the command that it ran. */
export type CommandEnding = number | NodeJS.Signals

/** The work of a command. */
export type CommandAction = (call: Call) => Promise<CommandEnding>

/** One command. */
export interface CommandSpec {
  readonly name: string
  readonly summary: string
  /** After `leasehold`. */
  readonly usage: string
  /** How many operands it takes. */
  readonly operands: readonly [least: number, most: number]
  /** Whether it takes a command after `--`. */
  readonly runs?: boolean
  readonly options: Readonly<Record<string, OptionSpec>>
  /** Paragraphs of its help. */
  readonly about: readonly string[]
  /** Each with what it does. */
  readonly examples: readonly (readonly [line: string, does: string])[]
  readonly action: () => Promise<CommandAction>
}

/** The options of every command. */
export const COMMON_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  json: { summary: "Results as JSON on standard output, messages as JSON lines on standard error" },
  "no-color": { summary: "No colours; as NO_COLOR=1 in the environment" },
  help: { short: "h", summary: "Show this help" },
}

/** The options of commands that use a store. */
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

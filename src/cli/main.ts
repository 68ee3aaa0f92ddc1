/** The command: finds the one that is meant, runs it, and writes how it went. Never rejects. */
import { COMMANDS } from "./commands.ts"
import { EXIT, exitCodeOf } from "./errors/exit-codes.ts"
import { UsageError } from "./errors/usage-error.ts"
import { readArguments } from "./frame/arguments.ts"
import { Output } from "./frame/output.ts"
import type { CommandEnding, CommandSpec } from "./frame/syntax.ts"
import { checkWords } from "./process/bytes.ts"
import type { Io } from "./process/io.ts"
import { VERSION } from "./version.ts"

/** Runs the command with the words after its name. */
export async function main(words: readonly string[], io: Io): Promise<CommandEnding> {
  const output = outputFor(words, io)
  const wanted: FailureOptions = {}
  try {
    return await act(words, io, output, wanted)
  } catch (error) {
    const code = exitCodeOf(error, wanted.exitCode)
    output.failure(error, code)
    return code
  }
}

/** The output for these words. */
export function outputFor(words: readonly string[], io: Io): Output {
  // Words after -- are for the command that is run.
  const end = words.indexOf("--")
  const ours = end < 0 ? words : words.slice(0, end)
  return new Output(io, { json: ours.includes("--json"), color: !ours.includes("--no-color") })
}

/** What the user wants to be done at failures. */
interface FailureOptions {
  exitCode?: number
}

async function act(
  [name, ...words]: readonly string[],
  io: Io,
  output: Output,
  wanted: FailureOptions,
): Promise<CommandEnding> {
  checkWords(name === undefined ? [] : [name, ...words])
  if (name === undefined) throw new UsageError("There is no command", "See: leasehold --help")
  if (name === "--help" || name === "-h" || name === "help") {
    const { helpOf, overview } = await import("./help.ts")
    const topic = words.find((word) => !word.startsWith("-"))
    const spec = topic === undefined ? undefined : specOf(topic)
    return show(output, (styles) => (spec === undefined ? overview(styles) : helpOf(spec, styles)))
  }
  if (name === "--version") return show(output, () => VERSION, { version: VERSION })
  const spec = specOf(name)
  const given = readArguments(spec, words)
  if (given.options["help"] === true) {
    const { helpOf } = await import("./help.ts")
    return show(output, (styles) => helpOf(spec, styles))
  }
  const code = exitCodeOption(given.options["exit-code"])
  if (code !== undefined) wanted.exitCode = code
  const action = await spec.action()
  return action({ ...given, io, output })
}

function show(output: Output, text: Parameters<Output["result"]>[1], value?: object): number {
  output.result(value ?? { help: text(output.styles) }, text)
  return EXIT.ok
}

function specOf(name: string): CommandSpec {
  const spec = COMMANDS.find((each) => each.name === name)
  if (spec !== undefined) return spec
  const all = COMMANDS.map((each) => each.name).join(", ")
  throw new UsageError(`${JSON.stringify(name)} is no command of leasehold`, `Use one of ${all}; see: leasehold --help`)
}

/** The exit code of timeouts and contention, as of `flock -E`. */
function exitCodeOption(text: string | true | undefined): number | undefined {
  if (text === undefined) return undefined
  if (typeof text === "string" && /^\d{1,3}$/.test(text) && Number(text) <= 255) return Number(text)
  throw new UsageError(`--exit-code is ${JSON.stringify(text)}`, "Give a whole number from 0 to 255")
}

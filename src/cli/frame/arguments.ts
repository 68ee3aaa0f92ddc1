/** Reads the words of a command line. A word that means nothing is refused by its name. */
import { parseArgs } from "node:util"
import { UsageError } from "../errors/usage-error.ts"
import { type CommandSpec, COMMON_OPTIONS, type Given, type OptionSpec } from "./syntax.ts"

/** All options of a command. */
export const optionsOf = ({ options }: CommandSpec): Readonly<Record<string, OptionSpec>> => ({
  ...options,
  ...COMMON_OPTIONS,
})

/** Reads the words after the command's name. Throws UsageError. */
export function readArguments(spec: CommandSpec, words: readonly string[]): Given {
  const end = words.indexOf("--")
  const { values, positionals } = parse(spec, end < 0 ? words : words.slice(0, end))
  const options = values as Given["options"]
  const given = { options, ...apart(spec, positionals, end < 0 ? undefined : words.slice(end + 1)) }
  if (options["help"] === true) return given
  checkOperands(spec, given)
  for (const [name, { values: known }] of Object.entries(spec.options)) checkValue(name, options[name], known)
  return given
}

/**
 * Divides the words at `--`. What follows is the command, or more operands if this command runs none.
 *
 * If no key stands before `--`, and a word that begins with `-` follows, then keys follow. They end at another `--`.
 */
function apart({ runs }: CommandSpec, operands: readonly string[], rest?: readonly string[]): Omit<Given, "options"> {
  if (runs !== true) return { operands: [...operands, ...(rest ?? [])], command: undefined }
  if (operands.length > 0 || rest?.[0]?.startsWith("-") !== true) return { operands, command: rest }
  const end = rest.indexOf("--")
  return end < 0
    ? { operands: rest, command: undefined }
    : { operands: rest.slice(0, end), command: rest.slice(end + 1) }
}

function parse(spec: CommandSpec, words: readonly string[]): ReturnType<typeof parseArgs> {
  const options = Object.fromEntries(
    Object.entries(optionsOf(spec)).map(([name, { value, short }]) => [
      name,
      { type: value === undefined ? ("boolean" as const) : ("string" as const), ...(short !== undefined && { short }) },
    ]),
  )
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
  } catch (error) {
    const [said = ""] = (error instanceof Error ? error.message : String(error)).split(/\.(?: |$)/)
    throw new UsageError(said, `See: leasehold ${spec.name} --help`)
  }
}

function checkOperands(spec: CommandSpec, { operands, command = [] }: Given): void {
  const see = `Usage: leasehold ${spec.usage}`
  const [least, most] = spec.operands
  if (operands.length < least) throw new UsageError(`${spec.name} needs ${needed(spec)}`, see)
  if (operands.length > most) throw new UsageError(`${JSON.stringify(operands[most])} is one argument too many`, see)
  if (spec.runs === true && command.length === 0) {
    throw new UsageError("There is no command to run", `Give it after --; ${see}`)
  }
}

const needed = ({ operands: [least], usage }: CommandSpec): string =>
  least === 1 ? (/<([a-z]+)>/.exec(usage)?.[1] ?? "an argument") : `${least} arguments`

function checkValue(name: string, value: string | true | undefined, known: readonly string[] | undefined): void {
  if (known === undefined || value === undefined) return
  if (known.some((each) => each === value || (each.endsWith(":") && String(value).startsWith(each)))) return
  throw new UsageError(`--${name} is ${JSON.stringify(value)}`, `Use one of ${known.join(", ")}`)
}

/** The help: of the command as a whole, and of each of its commands. */
import { COMMANDS } from "./commands.ts"
import { optionsOf } from "./frame/arguments.ts"
import { type Styles, table } from "./frame/output.ts"
import type { CommandSpec, OptionSpec } from "./frame/syntax.ts"

const WIDTH = 80

/** `leasehold --help`. */
export function overview({ bold, dim }: Styles): string {
  const commands = table(COMMANDS.map(({ name, summary }) => [`  ${name}`, summary]))
  const examples = COMMANDS.flatMap((spec) => spec.examples.slice(0, 1))
  return [
    "leasehold: locks and leases between processes and machines, in a directory or a bucket",
    `${bold("Usage")}\n  leasehold <command> [options]`,
    `${bold("Commands")}\n${commands}`,
    `${bold("Examples")}\n${exampleLines(examples, dim)}`,
    `leasehold <command> --help tells more. Exit codes: docs/errors.md.`,
  ].join("\n\n")
}

/** `leasehold <command> --help`. */
export function helpOf(spec: CommandSpec, { bold, dim }: Styles): string {
  const options = Object.entries(optionsOf(spec)).map(([name, option]) => [
    `  ${optionText(name, option)}`,
    option.summary,
  ])
  return [
    `leasehold ${spec.name}: ${spec.summary}`,
    `${bold("Usage")}\n  leasehold ${spec.usage}`,
    ...spec.about.map(wrapped),
    `${bold("Options")}\n${table(options)}`,
    `${bold("Examples")}\n${exampleLines(spec.examples, dim)}`,
  ].join("\n\n")
}

function optionText(name: string, { value, short }: OptionSpec): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`
  return short === undefined ? long : `-${short}, ${long}`
}

const exampleLines = (examples: CommandSpec["examples"], dim: Styles["dim"]): string =>
  examples.map(([line, does]) => `  ${dim(`# ${does}`)}\n  ${line}`).join("\n")

function wrapped(text: string): string {
  const lines: string[] = [""]
  for (const word of text.split(" ")) {
    const line = lines.at(-1)!
    if (line !== "" && line.length + word.length >= WIDTH) lines.push(word)
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`
  }
  return lines.join("\n")
}

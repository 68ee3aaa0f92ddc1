/**
 * `leasehold completions <shell>`: a script that completes commands, options and the values of options. Owns the
 * scripts; the table of commands is given to it.
 */
import { EXIT } from "../errors/exit-codes.ts"
import { UsageError } from "../errors/usage-error.ts"
import { optionsOf } from "../frame/arguments.ts"
import type { CommandAction, CommandSpec, OptionSpec } from "../frame/syntax.ts"

type Commands = readonly CommandSpec[]

const shells: Readonly<Record<string, (commands: Commands) => string>> = { bash, zsh, fish }

/** The action of `completions`, for these commands. */
export function completionsOf(commands: Commands): CommandAction {
  return async ({ operands, output }) => {
    const [shell = ""] = operands
    const script = shells[shell]
    if (script === undefined)
      throw new UsageError(`${JSON.stringify(shell)} is no shell with completions`, "Use bash, zsh or fish")
    const text = script(commands)
    output.result({ shell, script: text }, () => text)
    return EXIT.ok
  }
}

const names = (spec: CommandSpec): string =>
  Object.entries(optionsOf(spec))
    .flatMap(([name, { short }]) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])])
    .join(" ")

const operandsOf = ({ name }: CommandSpec): string => (name === "completions" ? Object.keys(shells).join(" ") : "")

/** The options of all commands that take a value, by their names. */
const valued = (commands: Commands): ReadonlyMap<string, OptionSpec> =>
  new Map(commands.flatMap((spec) => Object.entries(spec.options)).filter(([, { value }]) => value !== undefined))

function bash(commands: Commands): string {
  const values = [...valued(commands)].map(([name, { values: known, completes }]) => {
    const reply =
      known === undefined ? (completes === "file" ? "compgen -f" : "compgen -W ''") : `compgen -W '${known.join(" ")}'`
    return `    --${name}) COMPREPLY=($(${reply} -- "$word")); return ;;`
  })
  const words = commands.map(
    (spec) => `    ${spec.name}) words="${[names(spec), operandsOf(spec)].join(" ").trim()}" ;;`,
  )
  return `# leasehold completions bash: source this, or put it where bash-completion looks.
_leasehold() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words i
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ \${COMP_WORDS[i]} == -- ]]; then
      case "\${COMP_WORDS[1]}" in
${commands
  .filter(({ runs }) => runs)
  .map(({ name }) => `        ${name}) COMPREPLY=($(compgen -c -f -- "$word")) ;;`)
  .join("\n")}
      esac
      return
    fi
  done
  case "$before" in
${values.join("\n")}
  esac
  case "\${COMP_WORDS[1]}" in
${words.join("\n")}
    *) words="${commands.map(({ name }) => name).join(" ")} --help --version" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _leasehold leasehold`
}

function zsh(commands: Commands): string {
  return `#compdef leasehold
# leasehold completions zsh: put it into a directory of $fpath as _leasehold, or source it after compinit.
autoload -Uz bashcompinit && bashcompinit
${bash(commands)}`
}

function fish(commands: Commands): string {
  const isFirst = "__fish_use_subcommand"
  const lines = commands.flatMap((spec) => [
    `complete -c leasehold -n ${isFirst} -a ${spec.name} -d ${fishText(spec.summary)}`,
    ...Object.entries(optionsOf(spec)).map(([name, option]) => fishOption(spec.name, name, option)),
    ...(operandsOf(spec) === ""
      ? []
      : [`complete -c leasehold -n '__fish_seen_subcommand_from ${spec.name}' -a '${operandsOf(spec)}'`]),
  ])
  return `# leasehold completions fish: put it into ~/.config/fish/completions/leasehold.fish.
complete -c leasehold -f
${lines.join("\n")}`
}

function fishOption(command: string, name: string, { value, short, summary, values, completes }: OptionSpec): string {
  const flags = [
    `-l ${name}`,
    short && `-s ${short}`,
    value && (completes === "file" ? "-r -F" : "-x"),
    values && `-a '${values.join(" ")}'`,
  ]
  return `complete -c leasehold -n '__fish_seen_subcommand_from ${command}' ${flags.filter(Boolean).join(" ")} -d ${fishText(summary)}`
}

const fishText = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`

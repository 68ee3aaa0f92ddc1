/**
 * How an environment gets through the shell of a gate unchanged. Shells drop what they couldn't name, and give some
 * variables values of their own as they start: dash some, bash more. No runtime passes bytes on that are no UTF-8. Such
 * variables go to the command by env(1): the shell has them under names of its own, with such bytes in octal, and puts
 * them before the command.
 *
 * Not promised: `_`, and SHLVL and OLDPWD where the shell is bash or BusyBox. To keep these would take one more program
 * each time.
 */
import { Buffer } from "node:buffer"
import { type Environment, lostVariables } from "../../process/bytes.ts"
import { isHere } from "../../process/here.ts"

/** What gets through in which way. */
export interface Passage {
  /** What the shell is given. Its own arguments are seen by every user, its environment is not. */
  readonly shell: Environment
  /** Lines of sh that take away what was added on the way, and put the rest before `"$@"` where there is any. */
  readonly line: string
  /** Whether there is, so that env(1) takes a command whose name has a `=` for one more variable. */
  readonly isByEnv: boolean
}

/** Those that a shell sets, whatever it is given, and those that the gate's own lines use. */
const OF_SHELLS =
  /^(BASH.*|COMP_WORDBREAKS|EPOCHREALTIME|EPOCHSECONDS|HISTCMD|IFS|LINENO|OPTERR|OPTIND|PPID|PS[124]|RANDOM|SHELLOPTS|SRANDOM|gate|line|leasehold_bytes_\d+(_\d+)?)$/

/** Those that the gate tells the command: what its caller had there is of another run. */
const OF_GATE = /^LEASEHOLD_(DEADLINE|TOKEN)$/

/**
 * Deno names what it passes beside standard input, output and error, and would take a command's descriptor for that.
 */
const OF_DENO = "DENO_EXTRA_STDIO_FDS"

/** Characters of octal in one variable: Linux takes 131,072 bytes with the name, and octal needs five for one. */
const MOST_OCTAL = 100_000

/** For this process's working directory. */
export function passageOf(env: Environment): Passage {
  const { pairs: lost } = lostVariables(env)
  const instead = new Set(lost.map(({ name }) => name))
  const given = Object.entries(env).filter(
    (each): each is [string, string] => each[1] !== undefined && !instead.has(each[0]),
  )
  const changed = given.filter((each) => !isKept(each)).map(([name, value]) => Buffer.from(`${name}=${value}`))
  const theirs = lost.filter(({ name }) => !OF_GATE.test(name)).map(({ bytes }) => bytes)
  const carried = [...changed, ...theirs].map((bytes, index) => pieces(`leasehold_bytes_${index}`, escaped(bytes)))
  const isByEnv = carried.length > 0
  return {
    shell: Object.fromEntries([...given.filter((each) => isKept(each)), ...carried.flat()]),
    line: [
      ["unset", OF_DENO, ...(env["PWD"] === undefined ? ["PWD"] : [])].join(" "),
      ...carried.map((each) => putting(each.map(([name]) => name))),
      ...(isByEnv ? ['set -- /usr/bin/env -- "$@"'] : []),
    ].join("\n"),
    isByEnv,
  }
}

/** For `printf %b`: what isn't ASCII in octal. */
const escaped = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/[^\n\x20-\x7e]|\\/g, (byte) => `\\0${byte.charCodeAt(0).toString(8).padStart(3, "0")}`)

/** As many variables as it takes, by their names. */
function pieces(name: string, octal: string): readonly (readonly [string, string])[] {
  const count = Math.ceil(octal.length / MOST_OCTAL)
  return Array.from({ length: count }, (_, index) => [
    `${name}_${index}`,
    octal.slice(index * MOST_OCTAL, (index + 1) * MOST_OCTAL),
  ])
}

/**
 * A shell cuts line ends off at the end of what it reads, so another character stands behind them: one that ends no
 * letter.
 */
const putting = (names: readonly string[]): string =>
  `${names[0]}=$(printf %b. "${names.map((name) => `$${name}`).join("")}"); set -- "\${${names[0]}%.}" "$@"; unset ${names.join(" ")}`

function isKept([name, value]: readonly [string, string]): boolean {
  if (name === "PWD") return isHere(value) // else a shell gives it a value of its own
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name !== OF_DENO && !OF_SHELLS.test(name)
}

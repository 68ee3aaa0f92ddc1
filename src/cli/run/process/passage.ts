/**
 * How an environment gets through the shell of a gate unchanged. Three kinds of variables don't by themselves:
 *
 * - Shells drop variables whose names they don't allow.
 * - Shells give some variables values of their own as they start: dash some, bash more.
 * - Runtimes pass on no bytes that are no UTF-8.
 *
 * Such variables go to the command by env(1). The shell is given them under other names, with such bytes in octal, and
 * puts them before the command.
 *
 * Not promised: `_`, and SHLVL and OLDPWD if the shell is bash or BusyBox. To keep these would take one more program
 * each time.
 */
import { Buffer } from "node:buffer"
import { type Environment, lostVariables } from "../../process/bytes.ts"
import { isHere } from "../../process/here.ts"

/** An environment, as a gate's shell is given it and passes it on. */
export interface Passage {
  /** The shell's environment. Arguments would be seen by every user. */
  readonly shell: Environment
  /** Lines of sh that remove what was added on the way, and put the other variables before `"$@"`, if there are any. */
  readonly line: string
  /** Whether there are any: then env(1) would take a command with `=` in its name for one more variable. */
  readonly isByEnv: boolean
}

/** Variables that shells set by themselves, and those that the gate's own lines use. */
const OF_SHELLS =
  /^(BASH.*|COMP_WORDBREAKS|EPOCHREALTIME|EPOCHSECONDS|HISTCMD|IFS|LINENO|OPTERR|OPTIND|PPID|PS[124]|RANDOM|SHELLOPTS|SRANDOM|gate|line|leasehold_bytes_\d+(_\d+)?)$/

/** Variables that the gate sets for the command. The caller's values are of another run. */
const OF_GATE = /^LEASEHOLD_(DEADLINE|TOKEN)$/

/**
 * Deno's list of the descriptors that it passes on. A command that is Deno would take its own descriptors for those.
 */
const OF_DENO = "DENO_EXTRA_STDIO_FDS"

/** Characters of octal in one variable: Linux takes 131,072 bytes with the name, and octal needs five for one. */
const MOST_OCTAL = 100_000

/** How the environment gets through, in this process's working directory. */
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

/** For `printf %b`: bytes that aren't printable ASCII in octal. */
const escaped = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/[^\n\x20-\x7e]|\\/g, (byte) => `\\0${byte.charCodeAt(0).toString(8).padStart(3, "0")}`)

/** The octal text in as many variables as it takes, by their names. */
function pieces(name: string, octal: string): readonly (readonly [string, string])[] {
  const count = Math.ceil(octal.length / MOST_OCTAL)
  return Array.from({ length: count }, (_, index) => [
    `${name}_${index}`,
    octal.slice(index * MOST_OCTAL, (index + 1) * MOST_OCTAL),
  ])
}

/**
 * A line of sh that puts one variable before the command. `$(…)` drops line ends at the end of its text, so a full stop
 * stands there, which is then removed.
 */
const putting = (names: readonly string[]): string =>
  `${names[0]}=$(printf %b. "${names.map((name) => `$${name}`).join("")}"); set -- "\${${names[0]}%.}" "$@"; unset ${names.join(" ")}`

function isKept([name, value]: readonly [string, string]): boolean {
  if (name === "PWD") return isHere(value) // a shell keeps PWD only if it names the directory that it is in
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name !== OF_DENO && !OF_SHELLS.test(name)
}

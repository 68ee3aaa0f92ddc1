/**
 * How an environment gets through the shell of a gate unchanged. Shells drop what they couldn't name, and give some variables
 * values of their own as they start: dash some, bash more. Such ones the shell isn't given at all, the command has them by env(1).
 * So it has those whose bytes are no UTF-8, which no runtime passes on: the shell is given them in octal, under a name of its own.
 *
 * Not promised: `_`, and SHLVL and OLDPWD where the shell is bash. To keep these would take one more program each time.
 */
import { lostVariables } from "../bytes.ts"
import { isHere } from "../here.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** What gets through in which way. */
export interface Passage {
  /** What the shell is given. */
  readonly shell: Environment
  /** Before the command: the variables that go by env(1). */
  readonly words: readonly string[]
  /** Lines of sh that take away what was added on the way, and put env(1) before `"$@"` where it is needed. */
  readonly line: string
  /** Whether env(1) is, which takes a command whose name has a `=` for one more variable. */
  readonly isByEnv: boolean
}

/** Those that a shell sets, whatever it is given, and those that the gate's own lines use. */
const OF_SHELLS =
  /^(BASH.*|COMP_WORDBREAKS|EPOCHREALTIME|EPOCHSECONDS|HISTCMD|IFS|LINENO|OPTERR|OPTIND|PPID|PS[124]|RANDOM|SHELLOPTS|SRANDOM|gate|line|leasehold_bytes_\d+)$/

/** Deno names what it passes beside standard input, output and error, and would take a command's descriptor for that. */
const OF_DENO = "DENO_EXTRA_STDIO_FDS"

/** For this process's working directory. */
export function passageOf(env: Environment): Passage {
  const { pairs: lost } = lostVariables(env)
  const instead = new Set(lost.map(({ name }) => name))
  const given = Object.entries(env).filter(
    (each): each is [string, string] => each[1] !== undefined && !instead.has(each[0]),
  )
  const [kept, changed] = [given.filter((each) => isKept(each)), given.filter((each) => !isKept(each))]
  const isByEnv = changed.length + lost.length > 0
  return {
    shell: Object.fromEntries([...kept, ...lost.map(({ bytes }, index) => [`leasehold_bytes_${index}`, octal(bytes)])]),
    words: changed.map(([name, value]) => `${name}=${value}`),
    line: [
      ["unset", OF_DENO, ...(env["PWD"] === undefined ? ["PWD"] : [])].join(" "),
      ...lost.map((_, index) => decoding(`leasehold_bytes_${index}`)),
      ...(isByEnv ? ['set -- /usr/bin/env -- "$@"'] : []),
    ].join("\n"),
    isByEnv,
  }
}

/** For `printf %b`. */
const octal = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte)
    return /[\w=/.:,-]/.test(character) ? character : `\\0${byte.toString(8).padStart(3, "0")}`
  }).join("")

/** A shell cuts line ends off at the end of what it reads, so another character stands behind them: one that ends no letter. */
const decoding = (name: string): string =>
  `${name}=$(printf %b. "$${name}"); set -- "\${${name}%.}" "$@"; unset ${name}`

function isKept([name, value]: readonly [string, string]): boolean {
  if (name === "PWD") return isHere(value) // else a shell gives it a value of its own
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name !== OF_DENO && !OF_SHELLS.test(name)
}

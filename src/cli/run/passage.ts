/**
 * How an environment gets through the shell of a gate unchanged. Shells drop what they couldn't name, and give some variables
 * values of their own as they start: dash some, bash more. Such ones the shell isn't given at all, the command has them by env(1).
 *
 * Not promised: `_`, and SHLVL and OLDPWD where the shell is bash. To keep these would take one more program each time.
 */
import { statSync } from "node:fs"
import { isAbsolute, normalize } from "node:path"

export type Environment = Readonly<Record<string, string | undefined>>

/** What gets through in which way. */
export interface Passage {
  /** What the shell is given. */
  readonly shell: Environment
  /** Before the command. Empty where nothing is to be done. */
  readonly words: readonly string[]
  /** A line of sh that takes away what was added on the way. */
  readonly line: string
}

/** Those that a shell sets, whatever it is given, and those that the gate's own lines use. */
const OF_SHELLS =
  /^(BASH.*|COMP_WORDBREAKS|EPOCHREALTIME|EPOCHSECONDS|HISTCMD|IFS|LINENO|OPTERR|OPTIND|PPID|PS[124]|RANDOM|SHELLOPTS|SRANDOM|gate|line)$/

/** Deno names what it passes beside standard input, output and error, and would take a command's descriptor for that. */
const OF_DENO = "DENO_EXTRA_STDIO_FDS"

/** For this process's working directory. */
export function passageOf(env: Environment): Passage {
  const given = Object.entries(env).filter((each): each is [string, string] => each[1] !== undefined)
  const [kept, changed] = [given.filter((each) => isKept(each)), given.filter((each) => !isKept(each))]
  return {
    shell: Object.fromEntries(kept),
    words: changed.length === 0 ? [] : ["/usr/bin/env", "--", ...changed.map(([name, value]) => `${name}=${value}`)],
    line: ["unset", OF_DENO, ...(env["PWD"] === undefined ? ["PWD"] : [])].join(" "),
  }
}

function isKept([name, value]: readonly [string, string]): boolean {
  if (name === "PWD") return isHere(value)
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name !== OF_DENO && !OF_SHELLS.test(name)
}

/** A shell leaves PWD alone where it names the directory that it is in. */
function isHere(path: string): boolean {
  if (!isAbsolute(path) || normalize(path) !== path) return false
  const [there, here] = [path, "."].map((each) => statSync(each, { throwIfNoEntry: false }))
  return there !== undefined && there.ino === here?.ino && there.dev === here.dev
}

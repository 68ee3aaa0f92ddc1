/**
 * Whether a command can be run at all, as far as a look tells, so that `run` says in its own words that it can't, and
 * not a shell in its. Where a look can't tell the command is fit: what is wrong is said as it starts.
 */
import { type Stats, statSync } from "node:fs"
import { StartError } from "../errors/start-error.ts"
import { LOST } from "../process/bytes.ts"

/** There is no such program, or it is none. */
export class UnfitCommandError extends StartError {
  override readonly next: string
  /** As a shell has it: 127 where there is none, 126 where it can't be executed. */
  readonly exitCode: 126 | 127

  private constructor(name: string, why: string, next: string, exitCode: 126 | 127) {
    super(`The command ${JSON.stringify(name)}`, new Error(why))
    this.next = next
    this.exitCode = exitCode
  }

  /** Where it was looked for, and is not. */
  static missing(name: string): UnfitCommandError {
    if (name.includes("/")) return new UnfitCommandError(name, "there is no such file", "Correct its path", 127)
    const next = "Correct its name, or PATH; what is a shell's own is run by sh -c"
    return new UnfitCommandError(name, "there is no such program in PATH", next, 127)
  }

  /** Before a command env(1) sets what a shell can't pass on, and takes a name with `=` for more of that. */
  static likeAssignment(name: string): UnfitCommandError {
    const why = 'its name has a "=", and its environment has variables that only env(1) passes on'
    return new UnfitCommandError(name, why, "Run it through a link whose path has no =", 126)
  }

  /** Where there is something of that name which nobody may execute. */
  static noProgram(name: string): UnfitCommandError {
    const next = "Make it executable, or name the program that reads it before it"
    return new UnfitCommandError(name, "it is not executable", next, 126)
  }
}

/** What is wrong with the command of that name; undefined where nothing is, or nobody can tell. */
export function unfitness(name: string, path: string | undefined): UnfitCommandError | undefined {
  if (path?.includes(LOST) === true) return undefined
  const places = name.includes("/") ? [name] : path?.split(":").map((folder) => `${folder || "."}/${name}`)
  if (places === undefined) return undefined // a shell then looks where it thinks best
  let isThere = false
  for (const place of places) {
    const found = look(place)
    if (found === "fit") return undefined
    isThere ||= found === "unfit"
  }
  return isThere ? UnfitCommandError.noProgram(name) : UnfitCommandError.missing(name)
}

function look(place: string): "fit" | "unfit" | "missing" {
  try {
    const found: Stats | undefined = statSync(place, { throwIfNoEntry: false })
    if (found === undefined) return "missing"
    // Whether it is executable for this user the system knows better.
    return found.isFile() && (found.mode & 0o111) !== 0 ? "fit" : "unfit"
  } catch (error) {
    return (error as { code?: unknown }).code === "ENOTDIR" ? "missing" : "fit"
  }
}

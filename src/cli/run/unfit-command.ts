/**
 * Whether a command can be run, as far as a look at the file system tells. `run` then says so itself, instead of a
 * shell. If a look can't tell, the command counts as fit, and its start says what is wrong.
 */
import { type Stats, statSync } from "node:fs"
import { StartError } from "../errors/start-error.ts"
import { LOST } from "../process/bytes.ts"

/** The error of a command that is missing, or is no program. */
export class UnfitCommandError extends StartError {
  override readonly next: string
  /** As of a shell: 127 if it is missing, 126 if it can't be executed. */
  readonly exitCode: 126 | 127

  private constructor(name: string, why: string, next: string, exitCode: 126 | 127) {
    super(`The command ${JSON.stringify(name)}`, new Error(why))
    this.next = next
    this.exitCode = exitCode
  }

  /** Of a command that isn't where it was looked for. */
  static missing(name: string): UnfitCommandError {
    if (name.includes("/")) return new UnfitCommandError(name, "there is no such file", "Correct its path", 127)
    const next = "Correct its name, or PATH; what is a shell's own is run by sh -c"
    return new UnfitCommandError(name, "there is no such program in PATH", next, 127)
  }

  /** Of a name with `=`: env(1), which has to set some variables, would take it for one more. */
  static likeAssignment(name: string): UnfitCommandError {
    const why = 'its name has a "=", and its environment has variables that only env(1) passes on'
    return new UnfitCommandError(name, why, "Run it through a link whose path has no =", 126)
  }

  /** Of a file that nobody may execute. */
  static noProgram(name: string): UnfitCommandError {
    const next = "Make it executable, or name the program that reads it before it"
    return new UnfitCommandError(name, "it is not executable", next, 126)
  }
}

/** What is wrong with the command of that name; undefined if nothing is, or a look can't tell. */
export function unfitness(name: string, path: string | undefined): UnfitCommandError | undefined {
  if (path?.includes(LOST) === true) return undefined
  const places = name.includes("/") ? [name] : path?.split(":").map((folder) => `${folder || "."}/${name}`)
  if (places === undefined) return undefined // without PATH a shell has places of its own
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
    // Whether this user may execute it is left to the system.
    return found.isFile() && (found.mode & 0o111) !== 0 ? "fit" : "unfit"
  } catch (error) {
    return (error as { code?: unknown }).code === "ENOTDIR" ? "missing" : "fit"
  }
}

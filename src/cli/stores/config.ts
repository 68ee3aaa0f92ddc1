/**
 * The configuration file: where it is looked for, and what can stand in it. The first that is found counts, whole:
 * settings of two files are never mixed.
 *
 *     { "store": "gs://bucket/prefix", "locking": { "timeout": "5 min" }, "scopes": { "deploy": 1800 } }
 */
import { readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { InvalidConfigError } from "../../locks/api/errors.ts"
import type { WaitBudgetOptions } from "../../locks/waits/budget.ts"
import { budgetOf } from "../../runtime/input/budget.ts"
import { checkPlaces } from "../process/bytes.ts"
import type { Io } from "../process/io.ts"
import { lookAt, orRemedy, type PathStranger } from "../process/strangers.ts"
import { userFolder } from "../process/user-folder.ts"

/** What can be configured. Bare numbers are seconds. */
export interface Config {
  readonly store?: string
  readonly locking?: { readonly timeout?: number | string }
  readonly scopes?: NonNullable<WaitBudgetOptions["scopes"]>
}

/** A configuration and the file it is from; undefined where there is none. */
export interface FoundConfig {
  readonly file: string | undefined
  readonly config: Config
}

/** Its name in a project: looked for in the working directory and those above it. */
export const PROJECT_FILE = "leasehold.config.json"

/**
 * The file that `--config` or LEASEHOLD_CONFIG names, the nearest of a project, or the user's. Throws
 * InvalidConfigError.
 */
export function findConfig(io: Io, named: string | undefined): FoundConfig {
  checkPlaces(io.env)
  const given = named ?? (io.env["LEASEHOLD_CONFIG"] || undefined)
  if (given !== undefined) {
    const file = resolve(io.cwd, given)
    const text = textOf(file)
    if (text === undefined) throw missing(file, named === undefined ? "LEASEHOLD_CONFIG" : "--config")
    return { file, config: parseConfig(file, text) }
  }
  for (const file of places(io)) {
    const text = textFound(file)
    if (text !== undefined) return { file, config: parseConfig(file, text) }
  }
  return { file: undefined, config: {} }
}

/**
 * Reads a file that nobody named, if it is there. It counts only if no other user can have put it there: with another
 * store a lock would keep nobody out.
 */
function textFound(file: string): string | undefined {
  const { isThere, stranger } = reading(file, () => lookAt(file)) ?? {}
  if (isThere !== true) return undefined
  if (stranger !== undefined) throw foreign(file, stranger)
  return textOf(file)
}

/** Where a configuration is looked for, the first place first. */
export function places(io: Io): readonly string[] {
  const project: string[] = []
  for (let at = resolve(io.cwd), above = ""; at !== above; above = at, at = dirname(at))
    project.push(join(at, PROJECT_FILE))
  const folder = userFolder(io, "config")
  return folder === undefined ? project : [...project, join(folder, "config.json")]
}

const textOf = (file: string): string | undefined => reading(file, () => readFileSync(file, "utf8"))

/** The result of `read`; undefined if the file is missing. */
function reading<A>(file: string, read: () => A): A | undefined {
  try {
    return read()
  } catch (cause) {
    const { code, name } = cause as { code?: unknown; name?: unknown }
    // Deno says NotCapable of each place that it may not read: no file there is meant for this process.
    if (code === "ENOENT" || code === "ENOTDIR" || name === "NotCapable") return undefined
    throw new InvalidConfigError({
      message: `The configuration ${file} can't be read (${String(code ?? cause)})`,
      next: "Make it readable, or name another by --config",
      cause,
    })
  }
}

function foreign(file: string, stranger: PathStranger): InvalidConfigError {
  const { at, why } = stranger
  const where = at === file ? "" : `${at}: `
  return new InvalidConfigError({
    message: `The configuration ${file}, which nobody named, could be another user's (${where}${why})`,
    next: `Name it by --config or LEASEHOLD_CONFIG if you trust it, as you would another${orRemedy(stranger)}`,
  })
}

function missing(file: string, by: string): InvalidConfigError {
  return new InvalidConfigError({
    message: `The configuration ${file}, named by ${by}, is not there`,
    next: "Create it, or name another",
  })
}

function parseConfig(file: string, text: string): Config {
  let config: unknown
  try {
    config = JSON.parse(text)
  } catch (cause) {
    throw new InvalidConfigError({
      message: `The configuration ${file} is not JSON: ${(cause as Error).message}`,
      next: "Correct it",
      cause,
    })
  }
  const top = section(file, "it", config, ["store", "locking", "scopes", "$schema"])
  if (top["store"] !== undefined && typeof top["store"] !== "string") {
    throw wrong(file, `its store is ${JSON.stringify(top["store"])}`, `Write it as text, such as "gs://bucket/prefix"`)
  }
  const { locking = {}, scopes = {} } = top
  const { timeout } = section(file, "its locking", locking, ["timeout"])
  if (timeout !== undefined) checkBudget(file, "its locking.timeout", timeout)
  for (const [scope, budget] of Object.entries(section(file, "its scopes", scopes)))
    checkBudget(file, `its scope ${JSON.stringify(scope)}`, budget)
  return top
}

/** Checks a budget, also one that this call doesn't use: else another call would fail by it later. */
function checkBudget(file: string, what: string, written: unknown): void {
  if (budgetOf(written) !== undefined) return
  const next = 'Write seconds (30 or 2.5), a duration ("30 s", "2 min"), 0 for one try without waiting, or "infinite"'
  throw wrong(file, `${what} is ${JSON.stringify(written)}, which is no wait budget`, next)
}

function section(
  file: string,
  what: string,
  value: unknown,
  known?: readonly string[],
): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong(file, `${what} is no object`, `Write { … }`)
  }
  const unknown = known && Object.keys(value).find((name) => !known.includes(name))
  if (unknown === undefined) return value as Readonly<Record<string, unknown>>
  throw wrong(file, `${what} has ${JSON.stringify(unknown)}, which means nothing`, `Use some of ${known!.join(", ")}`)
}

function wrong(file: string, message: string, next: string): InvalidConfigError {
  return new InvalidConfigError({ message: `The configuration ${file}: ${message}`, next })
}

/**
 * Words and variables whose bytes are no UTF-8. Node reads each such byte as U+FFFD, which names another file. Deno
 * leaves such a variable out. On Linux /proc keeps what a process was given, so it is known which were lost.
 *
 * Not promised:
 *
 * - Which bytes were lost on other systems. There a text with U+FFFD counts as one that lost some.
 * - Which variables Deno left out there, or without `--allow-all`, which it asks for to read /proc.
 */
import { Buffer, isUtf8 } from "node:buffer"
import { readFileSync } from "node:fs"
import { InvalidConfigError } from "../../locks/api/errors.ts"
import { UsageError } from "../errors/usage-error.ts"

/** What decoders write instead of bytes that are no text. */
export const LOST = "\uFFFD"

/** The variables that name places which the command and its clients use. */
const PLACES = [
  ...["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "LEASEHOLD_CONFIG", "LEASEHOLD_STORE"],
  ...["GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "STORAGE_EMULATOR_HOST"],
]

/** Environment variables, as a runtime has them. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A variable, with all its bytes. */
export interface LostPair {
  /** As far as it can be read. */
  readonly name: string
  /** The name, a `=` and the value. */
  readonly bytes: Uint8Array
}

/** Variables that the runtime didn't read as they were given. */
export interface LostVariables {
  readonly pairs: readonly LostPair[]
  /** The variables whose bytes can't be known. */
  readonly unknown: readonly string[]
}

/** Throws UsageError for a word after the command's name that lost bytes. `proc`: the /proc to read. */
export function checkWords(words: readonly string[], proc = "/proc"): void {
  if (!words.some((word) => word.includes(LOST))) return
  const given = givenBytes(proc, "cmdline")?.slice(-words.length)
  const at = words.findIndex((word, index) => word.includes(LOST) && !isThat(word, given?.[index]))
  if (at < 0) return
  throw new UsageError(
    `Argument ${at + 1}, ${JSON.stringify(words[at])}, has bytes that are no UTF-8, and would name something else`,
    "Reach it by a name in UTF-8: through a link, or by a pattern that a shell fills in (sh -c 'rm caf*')",
  )
}

/** The variables of this environment that lost bytes. */
export function lostVariables(env: Environment, proc = "/proc"): LostVariables {
  const given = givenBytes(proc, "environ")
  if (given !== undefined) return { pairs: given.flatMap((bytes) => lostPair(env, bytes) ?? []), unknown: [] }
  return { pairs: [], unknown: Object.keys(env).filter((name) => `${name}${env[name] ?? ""}`.includes(LOST)) }
}

/**
 * Throws InvalidConfigError if a variable that names a place of the command lost bytes: it would name another place.
 */
export function checkPlaces(env: Environment, proc = "/proc"): void {
  const { pairs, unknown } = lostVariables(env, proc)
  const lost = [...pairs.map(({ name }) => name), ...unknown]
  const name = PLACES.find((each) => lost.includes(each))
  if (name !== undefined) throw unreadable(name, "leasehold would look elsewhere")
}

/** Throws InvalidConfigError for a variable that can't be passed on unchanged. */
export function checkVariables(env: Environment, proc = "/proc"): void {
  const [name] = lostVariables(env, proc).unknown
  if (name !== undefined) throw unreadable(name, "this system doesn't tell which, to pass them on")
}

function unreadable(name: string, why: string): InvalidConfigError {
  return new InvalidConfigError({
    message: `The variable ${JSON.stringify(name)} has bytes that are no UTF-8: ${why}`,
    next: `Set it to text in UTF-8, or leave it out: env -u ${name} leasehold …`,
  })
}

/** The variable, if it lost bytes. One that was set since then lost nothing. */
function lostPair(env: Environment, bytes: Uint8Array): LostPair | undefined {
  if (isUtf8(bytes)) return undefined
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
  const end = text.indexOf("=")
  if (end < 1) return undefined // no variable
  const [name, value] = [text.slice(0, end), text.slice(end + 1)]
  return env[name] === undefined || env[name] === value ? { name, bytes } : undefined
}

/** Whether the user typed U+FFFD. */
const isThat = (word: string, bytes: Uint8Array | undefined): boolean =>
  bytes !== undefined && Buffer.from(word).equals(bytes)

/** The words or variables to the byte; undefined without /proc. Each ends with a zero byte. */
function givenBytes(proc: string, file: "cmdline" | "environ"): readonly Uint8Array[] | undefined {
  try {
    const pieces = readFileSync(`${proc}/self/${file}`, "latin1").split("\0") // which has a character for each byte
    return pieces.slice(0, -1).map((piece) => Buffer.from(piece, "latin1"))
  } catch {
    return undefined
  }
}

/**
 * Keys, and the names of their objects. A name is a pure function of its key. Two keys never share a name, not even on
 * a file system that ignores case, and no name leads out of its area.
 */
import { sha256 } from "../../runtime/time/hash.ts"
import { InvalidKeyError } from "./errors.ts"
import { escapedName, HASHED_PREFIX, MAX_NAME_BYTES, wholeEscapes } from "./name-bytes.ts"

const MAX_KEY_BYTES = 512

/**
 * Throws InvalidKeyError unless `key` is one: non-empty, NFC, at most 512 bytes, no control characters, no dot
 * segments.
 */
export function checkKey(key: unknown): asserts key is string {
  const problem = keyProblem(key)
  if (problem === undefined) return
  const shown = typeof key === "string" ? key : `a value of type ${typeof key}`
  throw new InvalidKeyError({
    message: `${JSON.stringify(shown.slice(0, 80))} is not a key: it ${problem}`,
    next: "Use a non-empty NFC string of at most 512 bytes without control characters and without . or .. segments",
    key: shown,
  })
}

/** The form of most keys, in which only the length can be wrong. */
const PLAIN = /^[\w:=@-]+(?:[./][\w:=@-]+)*$/

function keyProblem(key: unknown): string | undefined {
  if (typeof key !== "string") return "is not a string"
  if (key.length <= MAX_KEY_BYTES && PLAIN.test(key)) return undefined
  if (key === "") return "is empty"
  if (!key.isWellFormed()) return "has a lone surrogate"
  if (new TextEncoder().encode(key).length > MAX_KEY_BYTES) return `is over ${MAX_KEY_BYTES} bytes`
  if (key.normalize("NFC") !== key) return "is not in Unicode normal form C"
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(key)) return "has a control character"
  if (key.split("/").some((part) => part === "." || part === "..")) return "has a . or .. segment"
  return undefined
}

/** The lock key of a sandbox. Each part is escaped by itself: only one pair of parts makes a given lock key. */
export function sandboxLockKey(definition: string, key: string): string {
  return `${escapePart(definition)}/${escapePart(key)}`
}

/** The parts that `sandboxLockKey` joined. Undefined for a lock key that it didn't make. */
export function splitSandboxLockKey(lockKey: string): { definition: string; key: string } | undefined {
  const parts = lockKey.split("/")
  if (parts.length !== 2) return undefined
  const [definition = "", key = ""] = parts.map((part) => part.replaceAll("%2F", "/").replaceAll("%25", "%"))
  return sandboxLockKey(definition, key) === lockKey ? { definition, key } : undefined
}

function escapePart(part: string): string {
  return part.replaceAll("%", "%25").replaceAll("/", "%2F")
}

/** The object name of a key: `[a-z0-9._-]` stand for themselves, every other byte is `=` and two hex digits. */
export function encodeName(key: string): string {
  const encoded = escapedName(key)
  if (encoded.length <= MAX_NAME_BYTES) return encoded
  return `${wholeEscapes(encoded.slice(0, HASHED_PREFIX))}~${sha256(key)}`
}

/**
 * The key of a name. Undefined where the name has only a hash of the key, which is in the body then, or is the name of
 * no key.
 */
export function decodeName(name: string): string | undefined {
  if (name.includes("~")) return undefined
  const bytes: number[] = []
  for (let i = 0; i < name.length; i++) {
    if (name[i] !== "=") bytes.push(name.charCodeAt(i))
    else bytes.push(Number.parseInt(name.slice(i + 1, (i += 2) + 1), 16))
  }
  const key = new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes))
  return keyProblem(key) === undefined && encodeName(key) === name ? key : undefined
}

/** The prefix of the names of all keys that begin with `prefix`, cut to what a hashed name keeps. */
export function namePrefix(prefix: string): string {
  return wholeEscapes(escapedName(prefix).slice(0, HASHED_PREFIX))
}

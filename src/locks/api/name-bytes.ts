/**
 * How the bytes of a key stand in the name of its object. Pure, and without hashes: the live page uses it in a browser.
 */

/** The longest name, in bytes: file systems allow 255. In a longer one a hash replaces all beyond `HASHED_PREFIX`. */
export const MAX_NAME_BYTES = 180

/** How much of a long name is kept before its hash, in bytes. */
export const HASHED_PREFIX = 100

/** `[a-z0-9._-]` stand for themselves, every other byte is `=` and two hex digits; so is a dot that comes first. */
export function escapedName(key: string): string {
  let name = ""
  for (const byte of new TextEncoder().encode(key)) {
    const char = String.fromCharCode(byte)
    const plain = /[a-z0-9_-]/.test(char) || (char === "." && name !== "")
    name += plain ? char : `=${byte.toString(16).padStart(2, "0")}`
  }
  return name
}

/** The name without a half escape at its end. */
export function wholeEscapes(encoded: string): string {
  return encoded.replace(/=[0-9a-f]?$/, "")
}

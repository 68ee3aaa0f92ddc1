/**
 * How the bytes of a key stand in the name of its object. Pure, and without hashes: the live page uses it in a browser.
 */

/** The longest name, in bytes: file systems allow 255. In a longer one a hash replaces all beyond `HASHED_PREFIX`. */
export const MAX_NAME_BYTES = 180

/** How much of a long name is kept before its hash, in bytes. */
export const HASHED_PREFIX = 100

/** `[a-z0-9._-]` stand for themselves, every other byte is `=` and two hex digits; so is a dot that comes first. */
export function escapedName(key: string): string {
  const escaped = Array.from(new TextEncoder().encode(key), (byte, at) => {
    const char = String.fromCharCode(byte)
    const plain = /[a-z0-9_-]/.test(char) || (char === "." && at > 0)
    return plain ? char : `=${byte.toString(16).padStart(2, "0")}`
  })
  return escaped.join("") // a name that grew by one sign at a time would stay in memory as a tree of its signs
}

/** The name without a half escape at its end. */
export function wholeEscapes(encoded: string): string {
  return encoded.replace(/=[0-9a-f]?$/, "")
}

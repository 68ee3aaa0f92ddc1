/**
 * Text of others as people may read it: what isn't there to be seen is made visible, and what is long is cut. It may
 * neither steer a terminal nor turn the direction of what stands beside it. Pure; it runs in a browser too.
 */

/** A key has at most 512 bytes, so that none that is one is cut. In characters. */
const LONGEST = 512

/**
 * The text with its controls, marks of direction, invisible characters and lone surrogates as `⟨U+202E⟩`, cut with a
 * `…` where it is longer than `longest`.
 */
export function visible(text: string, longest: number = LONGEST): string {
  const head = text.length > longest ? `${text.slice(0, Math.max(0, longest - 1))}…` : text
  return head.replaceAll(UNSEEN, (character) => `⟨U+${hexOf(character.codePointAt(0) ?? 0)}⟩`)
}

/** All of Unicode's category "other", line and paragraph separators, and letters that show nothing. */
const UNSEEN = /\p{C}|\p{Zl}|\p{Zp}|\u115F|\u1160|\u3164|\uFFA0|\u034F/gu

const hexOf = (code: number): string => code.toString(16).toUpperCase().padStart(4, "0")

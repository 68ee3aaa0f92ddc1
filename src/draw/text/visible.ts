/**
 * Texts of others as they may be shown: what can't be seen, or steers a terminal or the direction of writing, is
 * written out; what is long is cut; what means something to XML is escaped. The same on every runtime.
 */

/** Control and format characters, line and paragraph ends, halves of pairs, and what XML can't have at all. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\uFFFE\uFFFF]/gu

/** The text in one line, each unseen character as `\u{…}`; spaces are made one. */
export const visible = (text: string): string =>
  text
    .replaceAll(/[\t\n\r ]+/g, " ")
    .replaceAll(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)

/** At most so many characters, the last ones an ellipsis where there were more. */
export function shortened(text: string, most: number, ellipsis = "…"): string {
  if (text.length <= most) return text
  const characters = Array.from(text.slice(0, 2 * most + 2))
  return characters.length <= most ? text : `${characters.slice(0, most - ellipsis.length).join("")}${ellipsis}`
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

/** As content or as a quoted attribute of XML. Line ends and what can't be seen are written out. */
export const xml = (text: string): string =>
  visible(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "")

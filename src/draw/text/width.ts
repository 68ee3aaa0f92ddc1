/**
 * How wide a text is, by a table, so that the same machine has the same drawing on every runtime and machine. The
 * widths are those of Arial, which Helvetica and Liberation Sans share; where a viewer has none of them, `textLength`
 * in the drawing makes its font as wide as the table says.
 */

/** The fonts whose widths these are. */
export const FONT = 'Helvetica, Arial, "Liberation Sans", sans-serif'

/** In thousandths of the font's size, from the space to the tilde. */
// oxfmt-ignore
const REGULAR = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556,
  556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778,
  722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222,
  500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
]
// oxfmt-ignore
const BOLD = [
  278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556,
  556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778,
  722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278,
  556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
]

/** In thousandths: signs that drawings have of themselves. */
const SIGNS: Readonly<Record<string, number>> = { "…": 1000, "×": 584, "≤": 549 }
/** In thousandths: letters of Latin, Greek and Cyrillic are hardly wider than this. */
const LETTER = 700
/** In thousandths: all that is drawn in a square, as ideographs and emoji, and what nobody knows. */
const SQUARE = 1050
/** From here on characters are drawn in squares (Hangul Jamo, then ideographs). */
const FIRST_SQUARE = 0x1100

/** The width of a text of one line in pixels at this size, also in pixels, to a tenth. */
export function textWidth(text: string, size: number, isBold = false): number {
  const table = isBold ? BOLD : REGULAR
  let thousandths = 0
  for (const character of text) thousandths += SIGNS[character] ?? widthOf(character.codePointAt(0) ?? 0, table)
  return Math.ceil((thousandths * size) / 100) / 10
}

function widthOf(codePoint: number, table: readonly number[]): number {
  const known = table[codePoint - 0x20]
  if (known !== undefined) return known
  return codePoint < FIRST_SQUARE ? LETTER : SQUARE
}

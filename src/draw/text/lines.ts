/**
 * Pieces of text of several looks, set into lines of a width. Owns letters' sizes; what is written is said elsewhere.
 */
import { shortened, visible } from "./visible.ts"
import { textWidth } from "./width.ts"

/** What a piece of text is, which decides its letters and its colour. */
export type TextLook = "title" | "event" | "guard" | "action" | "word" | "note" | "count"

/** A piece of text that is never broken. */
export interface Piece {
  readonly text: string
  readonly look: TextLook
}

/** A piece that has its place. */
export interface TextRun extends Piece {
  /** From the left end of its line, in pixels. */
  readonly x: number
  readonly width: number
}

/** In characters: a longer piece is cut. */
export const LONGEST_PIECE = 34

/** Of letters, in pixels: readable at 100 %. */
export const FONT_SIZE: Readonly<Record<TextLook, number>> = {
  ...{ title: 13, event: 11, guard: 11, action: 11, word: 11, note: 11, count: 11 },
}

/** The looks with bold letters. */
export const isBold = (look: TextLook): boolean => look === "title" || look === "event" || look === "count"

/** In pixels, between two pieces of a line. */
const SPACE = 4

/** A piece of at most so many characters, all of them visible. */
export const piece = (look: TextLook, text: string, most: number = LONGEST_PIECE): Piece => ({
  look,
  text: shortened(visible(text), most),
})

/** Names with commas between them. */
export const listed = (look: TextLook, names: readonly string[]): readonly Piece[] =>
  names.map((name, index) => {
    const { text } = piece(look, name)
    return { look, text: index < names.length - 1 ? `${text},` : text }
  })

const widthOf = ({ text, look }: Piece): number => textWidth(text, FONT_SIZE[look], isBold(look))

/** Breaks pieces into lines of at most this width, where a piece isn't wider. A slash stays with what follows it. */
export function wrap(pieces: readonly Piece[], widest: number): readonly (readonly Piece[])[] {
  const lines: Piece[][] = []
  let width = 0
  for (const together of glued(pieces)) {
    const needed = together.reduce((sum, each) => sum + SPACE + widthOf(each), -SPACE)
    const line = lines.at(-1)
    if (line !== undefined && width + SPACE + needed <= widest) {
      line.push(...together)
      width += SPACE + needed
    } else {
      lines.push([...together])
      width = needed
    }
  }
  return lines
}

function glued(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const groups: Piece[][] = []
  for (const [index, each] of pieces.entries()) {
    if (pieces[index - 1]?.text.endsWith("/") === true) groups.at(-1)?.push(each)
    else groups.push([each])
  }
  return groups
}

/** Sets one line, from this x on. */
export function setLine(
  pieces: readonly Piece[],
  from: number,
): { readonly runs: readonly TextRun[]; readonly width: number } {
  let x = from
  const runs = pieces.map((each) => {
    const run = { ...each, x, width: widthOf(each) }
    x += run.width + SPACE
    return run
  })
  return { runs, width: Math.max(0, x - SPACE - from) }
}

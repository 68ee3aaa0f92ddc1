/**
 * Text in the columns of a terminal. Not promised: that a terminal's font makes every character as wide as this says.
 */

/** From here on characters take two columns (Hangul Jamo, then ideographs and emoji). */
const FIRST_WIDE = 0x1100
/** Signs in between that take one: punctuation, arrows, lines, and what else is drawn narrow. */
const NARROW = [0x1e00, 0x2e7f] as const

/** How many columns a text takes. */
export function columnsOf(text: string): number {
  let columns = 0
  for (const character of text) columns += columnsOfCharacter(character)
  return columns
}

function columnsOfCharacter(character: string): number {
  const codePoint = character.codePointAt(0) ?? 0
  return codePoint < FIRST_WIDE || (codePoint >= NARROW[0] && codePoint <= NARROW[1]) ? 1 : 2
}

/** Breaks a text between words, and a word that is longer than a line wherever the line ends. */
export function wrapColumns(text: string, first: number, rest: number): readonly string[] {
  const lines: string[] = [""]
  const room = (): number => (lines.length === 1 ? first : rest)
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? ""
    if (line !== "" && columnsOf(line) + 1 + columnsOf(word) <= room()) lines[lines.length - 1] = `${line} ${word}`
    else if (line === "") putWord(word)
    else {
      lines.push("")
      putWord(word)
    }
  }
  return lines

  function putWord(word: string): void {
    for (const character of word) {
      const line = lines.at(-1) ?? ""
      if (columnsOf(line) + columnsOfCharacter(character) > room()) lines.push(character)
      else lines[lines.length - 1] = `${line}${character}`
    }
  }
}

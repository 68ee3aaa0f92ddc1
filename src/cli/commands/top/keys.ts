/** What a terminal sends, as keys. Pure. */

/** One key. */
export type Key =
  | { readonly name: "text"; readonly text: string }
  | {
      readonly name:
        | "up"
        | "down"
        | "pageUp"
        | "pageDown"
        | "home"
        | "end"
        | "enter"
        | "escape"
        | "backspace"
        | "interrupt"
        | "other"
    }

type NamedKey = Exclude<Key["name"], "text">

const SEQUENCES: ReadonlyMap<string, NamedKey> = new Map(
  Object.entries({
    "\u001b[A": "up",
    "\u001bOA": "up",
    "\u001b[B": "down",
    "\u001bOB": "down",
    "\u001b[5~": "pageUp",
    "\u001b[6~": "pageDown",
    "\u001b[H": "home",
    "\u001bOH": "home",
    "\u001b[1~": "home",
    "\u001b[F": "end",
    "\u001bOF": "end",
    "\u001b[4~": "end",
    "\r": "enter",
    "\n": "enter",
    "\u001b": "escape",
    "\u007f": "backspace",
    "\b": "backspace",
    "\u0003": "interrupt",
    "\u0004": "interrupt",
  } as const),
)

/** An escape sequence, a control character, or a character. */
// oxlint-disable-next-line no-control-regex -- terminals send control characters
const KEY = /\u001b\[[0-9;]*[A-Za-z~]|\u001bO[A-Za-z]|[\s\S]/gu

/** The keys of one read. A sequence that is cut in two reads is taken for other keys, which do nothing. */
export function keysOf(text: string): readonly Key[] {
  return Array.from(text.matchAll(KEY), ([sequence]): Key => {
    const name = SEQUENCES.get(sequence)
    if (name !== undefined) return { name }
    return /^[\p{C}]|^.{3,}/u.test(sequence) ? { name: "other" } : { name: "text", text: sequence }
  })
}

/**
 * Names and texts as Mermaid reads them. Its lexer has words that mean something wherever they stand. So ids are made
 * of letters that form no such word, and in texts all but plain characters are entities.
 */
import type { ChartGraph } from "./machine/graph.ts"
import { shortened, visible } from "./text/visible.ts"

/** In characters: a longer text is cut. */
const LONGEST_TEXT = 80

/** Words that begin something else than an id, or that objects have by themselves. */
const RESERVED =
  /^(accdescr|acctitle|class|classdef|click|default|direction|end|fork|hide|href|join|note|scale|state|style)|^(constructor|tostring|valueof|hasownproperty|__)/i

/**
 * What needs no entity. A number sign, a colon, a semicolon, a quote and all brackets that mean something are not among
 * it.
 */
const PLAIN = /[^\w .,/()[\]=+*?!<>-]|[<>]|[\u00b0\u00b6\u00df\ufb02]/gu

/** An id for each state, made of its path. */
export function mermaidIds(graph: ChartGraph): ReadonlyMap<string, string> {
  const ids = new Map<string, string>()
  const taken = new Set<string>()
  for (const path of graph.states.keys()) {
    const id = unused(idFrom(path === "" ? graph.name : path), taken)
    taken.add(id.toLowerCase())
    ids.set(path, id)
  }
  return ids
}

function idFrom(text: string): string {
  const plain = shortened(text, LONGEST_TEXT, "").replaceAll(/\W+/g, "_")
  return /^[a-z]/i.test(plain) && !RESERVED.test(plain) ? plain : `s_${plain}`
}

function unused(id: string, taken: ReadonlySet<string>): string {
  let unusedId = id
  for (let count = 2; taken.has(unusedId.toLowerCase()); count++) unusedId = `${id}_${count}`
  return unusedId
}

/** A text for a label or a note. */
export const mermaidText = (text: string): string =>
  shortened(visible(text), LONGEST_TEXT)
    .replaceAll(PLAIN, (character) => (isLetter(character) ? character : entity(character)))
    // What its lexer looks for anywhere in a line, or at the beginning of one.
    .replaceAll(
      /direction(?=\s+(?:TB|BT|RL|LR))|^end(?=\s+note)|\[(?=\[)/gi,
      (found) => entity(found[0] ?? "") + found.slice(1),
    )

/** Letters of other scripts stay readable; the signs that Mermaid writes entities with don't. */
const isLetter = (character: string): boolean =>
  (character.codePointAt(0) ?? 0) > 0xa0 && !/[\u00b0\u00b6\u00df\ufb02]/.test(character)

const entity = (character: string): string => `#${character.codePointAt(0) ?? 0};`

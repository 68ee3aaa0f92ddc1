/**
 * What Mermaid's own lexer accepts of a state diagram, line by line: a strict reading of stateDiagram.jison (mermaid
 * 11), for the forms that are used. Mermaid itself isn't run.
 */

const ID =
  /^(?!(?:accdescr|acctitle|class|classdef|click|default|direction|end|fork|hide|href|join|note|scale|state|style))[a-z]\w*$/i

/** Its lexer takes these for something wherever they stand. */
const ANYWHERE = /direction\s+(TB|BT|RL|LR)|%%|<<|\[\[/i
/** Every sign of a label is plain or an entity. */
const TEXT = /^(?:#\d+;|[^#:;"'`%{}<>&|\\$~^@\p{Cc}])*$/u

/** All lines that Mermaid wouldn't read as they are meant. */
export function unreadable(diagram: string): string[] {
  const [first, ...lines] = diagram.trimEnd().split("\n")
  const wrong = first === "stateDiagram-v2" ? [] : [`it begins with ${first}`]
  const declared = new Set<string>()
  const named: string[] = []
  let open = 0
  let isNote = false
  for (const indented of lines) {
    const line = indented.trim()
    if (ANYWHERE.test(line)) wrong.push(line)
    if (isNote) {
      isNote = line !== "end note"
      if (isNote && (!TEXT.test(line) || /^end\s+note/i.test(line))) wrong.push(line)
      continue
    }
    const state = /^state "([^"]+)" as (\w+)( \{)?$/.exec(line)
    const arrow = /^(\w+|\[\*\]) --> (\w+|\[\*\])(?: : (.+))?$/.exec(line)
    const note = /^note right of (\w+)$/.exec(line)
    if (state !== null) {
      const [, title = "", id = "", brace] = state
      if (!TEXT.test(title) || !ID.test(id) || declared.has(id.toLowerCase())) wrong.push(line)
      declared.add(id.toLowerCase())
      if (brace !== undefined) open++
    } else if (arrow !== null) {
      const [, from = "", to = "", text = ""] = arrow
      named.push(...[from, to].filter((id) => id !== "[*]"))
      if (!TEXT.test(text)) wrong.push(line)
    } else if (note !== null) {
      named.push(note[1]!)
      isNote = true
    } else if (line === "}") open--
    else if (line !== "--" || open === 0) wrong.push(line)
  }
  if (open !== 0 || isNote) wrong.push("something isn't closed")
  return [...wrong, ...named.filter((id) => !declared.has(id.toLowerCase())).map((id) => `${id} is declared nowhere`)]
}

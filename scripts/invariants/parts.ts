/**
 * The headings of docs/invariants.md: the rules of docs/protocol.md, then the parts of the house that have no rule
 * there.
 */

/** What a test may name, with the heading that it has in the page. */
export type Headings = ReadonlyMap<string, string>

/** Promises beyond the protocol, by the word that a test names them by. */
const parts: Readonly<Record<string, string>> = {
  record: "The record and strangers",
  locks: "Locks, seen from outside",
  providers: "Lock providers",
  waits: "Wait budgets",
  stores: "Stores",
  load: "Under load",
  chart: "The chart and its sandboxes",
  calls: "Calls",
  command: "The command",
  inspector: "The live page",
  drawings: "Drawings",
  traces: "Traces",
  input: "Bad input",
  leftovers: "Nothing is left behind",
  searches: "Searches through all worlds",
  simulations: "Simulations",
  processes: "Real processes",
}

/** Reads the rules from the sections of docs/protocol.md that number them. */
export function headingsOf(protocol: string): Headings {
  const sections = protocol.split(/^## /m).filter((section) => /^(?:Rules|Checkpoints)\n/.test(section))
  const rules = sections.flatMap((section) =>
    Array.from(
      section.matchAll(/^(?: {4}\*\*)?(\d+[a-z]?)\. (?:\*\*)?([^.*]+)/gm),
      ([, number, title]): [string, string] => [`rule ${number}`, `Rule ${number}: ${title!.toLowerCase()}`],
    ),
  )
  return new Map([...rules, ...Object.entries(parts)])
}

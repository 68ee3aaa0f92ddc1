/**
 * Reads from the tests what each of them pins. A comment above a test says it:
 *
 *     // Tests rule 13a: The line is bounded, its entries expire, and giving up erases one.
 *     // Tests rule 1, rule 16.
 *
 * The rules are those of docs/protocol.md and the parts those of parts.ts. A comment counts for the test below it and
 * for the tests after that one, until the next such comment or the end of the `describe`. One without a sentence adds
 * no line to docs/invariants.md. Nobody checks that a test shows what its comment says.
 */
import { readdirSync, readFileSync } from "node:fs"

/** One comment of a test. */
export interface Tag {
  /** Relative to the repository. */
  readonly file: string
  /** The rules and parts that it names, such as `rule 13a` and `stores`. */
  readonly names: readonly string[]
  /** What is pinned, in a sentence. */
  readonly claim: string | undefined
}

/** Also in support files, which have tests that several files run. */
export function tagsOf(root: string): Tag[] {
  const files = readdirSync(`${root}tests`, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  )
  return files.toSorted().flatMap((file) => tagsIn(`tests/${file}`, readFileSync(`${root}tests/${file}`, "utf8")))
}

/** The tags of one file, in the order of its lines. */
export function tagsIn(file: string, text: string): Tag[] {
  return Array.from(text.matchAll(/^ *\/\/ Tests ([\w ,]+)(?:: (.+)|\.)$/gm), ([, names, claim]) => ({
    file,
    names: names!.split(", "),
    claim,
  }))
}

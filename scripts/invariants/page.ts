/** Writes docs/invariants.md from the tags of the tests, and names what is wrong with them. */
import type { Headings } from "./parts.ts"
import type { Tag } from "./tags.ts"

const opening = `# Invariants

What is pinned, and by the tests of which files. \`npm run invariants\` writes this page from the comments \`// Tests …\` above
the tests: \`grep -rn "Tests rule 13a" tests\` finds those of a rule. The rules are those of [protocol.md](protocol.md).
`

/** The page. */
export function pageOf(headings: Headings, tags: readonly Tag[]): string {
  const sections = Array.from(headings, ([name, title]) => {
    const lines = linesOf(tags.filter((tag) => tag.names.includes(name)))
    return `\n## ${title}\n\n${lines.join("\n")}\n`
  })
  return opening + sections.join("")
}

/** One line for each sentence, with all the files that pin it. */
function linesOf(tags: readonly Tag[]): string[] {
  const files = new Map<string, Set<string>>()
  for (const { claim, file } of tags) {
    if (claim !== undefined) files.set(claim, (files.get(claim) ?? new Set()).add(file))
  }
  return Array.from(files, ([claim, pinnedBy]) => `- ${claim} ${[...pinnedBy].map((file) => `\`${file}\``).join(", ")}`)
}

/** Rules and parts without a sentence that is pinned, and names in tests that are neither. */
export function faultsOf(headings: Headings, tags: readonly Tag[]): string[] {
  const claimed = new Set(tags.filter(({ claim }) => claim !== undefined).flatMap(({ names }) => names))
  const unpinned = [...headings.keys()].filter((name) => !claimed.has(name)).map((name) => `no test pins ${name}`)
  const unknown = tags.flatMap(({ file, names }) =>
    names.filter((name) => !headings.has(name)).map((name) => `${file} pins ${name}, which isn't there`),
  )
  return [...unpinned, ...unknown]
}

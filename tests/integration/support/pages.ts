/** What the pages tell to type. */
import { readFileSync } from "node:fs"

export const page = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8")

/** The blocks of a page in that language. */
export const blocks = (name: string, language: string): readonly string[] =>
  Array.from(page(name).matchAll(/^```(\w+)\n([^]*?)^```$/gm)).flatMap(([, is, body]) => (is === language ? body! : []))

/** The one with this among it. */
export function block(name: string, language: string, text: string): string {
  const found = blocks(name, language).find((body) => body.includes(text))
  if (found === undefined) throw new Error(`${name} has no block in ${language} with ${text}`)
  return found
}

/** What is typed in a block of a console. */
export const typed = (text: string): string[] => Array.from(text.matchAll(/^\$ (.*)$/gm), ([, line]) => line!)

/** All lines that docs/seeing-it.md tells to type. */
export const seeingIt = (): string[] => [
  ...blocks("docs/seeing-it.md", "console").flatMap(typed),
  ...blocks("docs/seeing-it.md", "sh").flatMap((script) => script.trimEnd().split("\n")),
]

/** Whether one draws a module of the user's: cli-chart.test.ts runs those, and cli-seeing-it.test.ts all others. */
export const drawsModule = (line: string): boolean => line.startsWith("npx leasehold chart src/")

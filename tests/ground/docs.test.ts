/** What the pages say of the code, compared with the code. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import npm from "../../package.json" with { type: "json" }
import * as callErrors from "../../src/actors/api/call-errors.ts"
import { EXIT, exitCodeOf } from "../../src/cli/errors/exit-codes.ts"
import * as errors from "../../src/locks/api/errors.ts"

const root = (path: string): URL => new URL(`../../${path}`, import.meta.url)
const read = (path: string): string => readFileSync(root(path), "utf8")

type ErrorClass = new (details: never) => errors.LockError

type Named = { readonly name: string | undefined }
const byName = (a: Named, b: Named): number => (a.name ?? "").localeCompare(b.name ?? "")

const classes = Object.entries({ ...errors, ...callErrors }).filter(([name]) => name !== "LockError") as [
  string,
  ErrorClass,
][]

/** What every error can be made from, whatever more its class wants. */
const anything = { message: "m", next: "n", needs: [], saved: 2, known: 1 } as never

describe("the pages", () => {
  it("show the counter of the README to the letter as the example that runs", () => {
    const [, shown] = /```ts\n(\/\/ The first sandbox[\s\S]*?)```/.exec(read("README.md")) ?? []
    expect(shown).toBe(read("examples/counter/main.ts"))
  })

  it("show a manager that writes its trace to the letter as the example that runs", () => {
    const [, shown] = /```typescript\n(\/\/ A manager[\s\S]*?)```/.exec(read("docs/trace.md")) ?? []
    expect(shown).toBe(read("examples/live-trace/main.ts"))
  })

  it("show a section in a web server to the letter as the example that runs", () => {
    const [, shown] = /```ts\n(\/\*\* Who has the seat[\s\S]*?)```/.exec(read("docs/providers.md")) ?? []
    expect(shown).toContain("locks.withLock(")
    expect(read("examples/web-server/main.ts")).toContain(shown)
  })

  // Tests command: Every way to fail has an exit code of its own, and the page says it.
  it("list every error class with its code, whether it can be retried, and the command's exit code", () => {
    const rows = [...read("docs/errors.md").matchAll(/^\| `(\w+)`\s+\| `(\w+)`\s+\| (yes|no)\s+\| (\d+)\s+\|/gm)]
    const listed = rows.map(([, name, code, retryable, exit]) => ({ name, code, retryable, exit: Number(exit) }))
    const real = classes.map(([name, ErrorClass]) => {
      const error = new ErrorClass(anything)
      return {
        name: error._tag,
        code: error.code,
        retryable: error.retryable ? "yes" : "no",
        exit: exitCodeOf(error),
        class: name,
      }
    })
    const wanted = real.map(({ class: name, code, retryable, exit }) => ({ name, code, retryable, exit }))
    expect(listed.toSorted(byName)).toEqual(wanted.toSorted(byName))
    expect(real.map(({ name }) => name)).toEqual(classes.map(([name]) => name))
  })

  it("give the ways in which the command can fail exit codes of their own", () => {
    const codes = Object.values(EXIT)
    expect(new Set(codes).size).toBe(codes.length)
    const text = read("docs/errors.md")
    expect(codes.filter((code) => !new RegExp(`\\| ${code} +\\|`).test(text))).toEqual([])
  })

  it("list no error that nothing throws: an error class is exported with the code that makes one", () => {
    const sources = readdirSync(root("src"), { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".ts"),
    )
    const code = sources.map((file) => read(`src/${file}`)).join("\n")
    expect(classes.filter(([name]) => !code.includes(`new ${name}(`)).map(([name]) => name)).toEqual([])
    expect(classes.length).toBeGreaterThan(20)
  })

  it("link only to files and folders that exist", () => {
    const pages = [
      "README.md",
      "CHANGELOG.md",
      "CONTRIBUTING.md",
      "examples/README.md",
      ...readdirSync(root("docs"))
        .filter((name) => name.endsWith(".md"))
        .map((page) => `docs/${page}`),
    ]
    const links = pages.flatMap((page) =>
      Array.from(read(page).matchAll(/\]\((?!https?:)([^)#]+)/g), ([, target]) => ({ page, target: target! })),
    )
    expect(links.filter(({ page, target }) => !existsSync(new URL(target, root(page))))).toEqual([])
    expect(links.length).toBeGreaterThan(5)
  })

  it("name in the changelog whatever can be imported, but for error classes, which docs/errors.md lists", async () => {
    const names = Object.keys(npm.exports).filter((name) => name !== "./package.json")
    const entries = await Promise.all(
      names.map(async (name) => Object.keys((await import(`leasehold${name.slice(1)}`)) as object)),
    )
    const log = read("CHANGELOG.md")
    const unnamed = entries
      .flat()
      .filter((name) => !(name in errors || name in callErrors) && !log.includes(`\`${name}\``))
    expect(unnamed).toEqual([])
    expect(entries.flat().length).toBeGreaterThan(60)
  })

  it("name only scripts of package.json", () => {
    const text = read("README.md") + read("CONTRIBUTING.md") + read("examples/README.md")
    const named = Array.from(text.matchAll(/npm run ([\w:-]+)/g), ([, script]) => script!)
    expect(named.filter((script) => !(script in npm.scripts))).toEqual([])
    expect(named).toContain("check")
  })

  it("name only tests that exist in docs/simulated.md, one at least for each seed that found something", () => {
    const rows = Array.from(read("docs/simulated.md").matchAll(/^\| (\d+.*?) \|.*`(tests\/[^`]+)`: "(.*)" +\|$/gm))
    const missing = rows.filter(([, , file, name]) => !read(file!).includes(name!)).map(([row]) => row)
    expect(missing).toEqual([])
    expect(rows).toHaveLength([...read("docs/simulated.md").matchAll(/^\| \d/gm)].length)
    const pinned = new Set(rows.flatMap(([, seeds]) => seeds!.match(/\d{3,}/g) ?? []))
    const told = read("docs/simulated.md").matchAll(/(?:\*\*Seeds?|\(seed) (\d+)(?: and (\d+))?/g)
    expect([...told].flatMap(([, ...seeds]) => seeds.filter((seed) => seed && !pinned.has(seed)))).toEqual([])
    expect(rows.length).toBeGreaterThan(10)
  })
})

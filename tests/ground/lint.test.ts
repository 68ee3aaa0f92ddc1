// Pins that the linter refuses what oxlint.config.ts says it refuses, and lets through what that allows: every case is
// a file of a copy of the repository's folders, linted in one run with the repository's configuration; the rules
// reported there must be exactly the expected ones. It does not test oxlint's own rules beyond that.
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

interface Case {
  /** Where it is written; `#` stands for a number that no other case has. */
  readonly file: string
  readonly source: string
  /** The rule that must refuse it, or nothing where it is allowed. */
  readonly rule?: string
}

const globals = "no-restricted-globals"
const properties = "no-restricted-properties"
const imports = "no-restricted-imports"

/** What no file of src may do, whatever its floor. */
const unreplayable: readonly (readonly [source: string, rule: string])[] = [
  ["export const x: number = Date.now()", globals],
  ["export const x: Date = new Date()", globals],
  ["export const x: number = globalThis.Date.now()", globals],
  ["export const x: number = performance.now()", globals],
  ["export const x: string = crypto.randomUUID()", globals],
  ["setTimeout(() => {}, 1)", globals],
  ["globalThis.setTimeout(() => {}, 1)", globals],
  ["setInterval(() => {}, 1)", globals],
  ["setImmediate(() => {})", globals],
  ["export const x: string | undefined = process.env.HOME", globals],
  ["export const x: number = Math.random()", properties],
  ["export const x: AbortSignal = AbortSignal.timeout(1)", properties],
  ['import process from "node:process"\nexport const x: bigint = process.hrtime.bigint()', properties],
  ['import { setTimeout } from "node:timers/promises"\nexport const x: unknown = setTimeout', imports],
  ['import { setTimeout } from "node:timers"\nexport const x: unknown = setTimeout', imports],
  ['import { performance } from "node:perf_hooks"\nexport const x: unknown = performance', imports],
  ['import { randomUUID } from "node:crypto"\nexport const x: unknown = randomUUID', imports],
  ['import { webcrypto } from "node:crypto"\nexport const x: unknown = webcrypto', imports],
  ['import * as all from "node:crypto"\nexport const x: unknown = all', imports],
  ['import { hrtime } from "node:process"\nexport const x: unknown = hrtime', imports],
  ['import { Effect } from "effect"\nexport const x: unknown = Effect', imports],
  ['import type { Effect } from "effect"\nexport type X = Effect.Effect<void>', imports],
  ['export * from "effect"', imports],
  ['import { x } from "rxjs/internal/Observable"\nexport { x }', imports],
  ['import { x } from "leasehold"\nexport { x }', imports],
  ['import { x } from "../mod.ts"\nexport { x }', imports],
]

const floors = ["runtime", "draw", "locks", "trace", "actors", "inspector", "testing", "cli"]
const gcs = "src/locks/stores/gcs/#.ts"
const inside = (floor: string): string => `src/${floor}/deep/#.ts`
const importOf = (specifier: string): string => `import { x } from "${specifier}"\nexport { x }`

const timeCases: readonly Case[] = [...floors.map(inside), gcs].flatMap((file) =>
  unreplayable.map(([source, rule]) => ({ file, source, rule })),
)

const libraryCases: readonly Case[] = [
  { file: inside("runtime"), source: 'import { createHash } from "node:crypto"\nexport { createHash }' },
  { file: inside("runtime"), source: 'import { timer } from "rxjs"\nexport { timer }' },
  { file: inside("locks"), source: 'import { timer } from "rxjs"\nexport { timer }', rule: imports },
  { file: inside("locks"), source: 'import { map } from "rxjs"\nexport { map }' },
  { file: inside("locks"), source: 'import * as Effect from "effect/Effect"\nexport { Effect }' },
  { file: inside("locks"), source: importOf("undici"), rule: imports },
  { file: inside("locks"), source: importOf("google-auth-library"), rule: imports },
  { file: gcs, source: importOf("undici") },
  { file: "src/runtime/time/clock.ts", source: "export const x: number = Date.now() + Math.random()" },
  { file: "examples/#.ts", source: importOf("../../src/mod.ts"), rule: imports },
  { file: "examples/#.ts", source: importOf("leasehold") },
  ...["tests", "examples", "bench", "scripts"].flatMap((folder) => [
    { file: `${folder}/#.ts`, source: importOf("effect"), rule: imports },
    { file: `${folder}/#.ts`, source: importOf("rxjs/internal/x"), rule: imports },
    { file: `${folder}/#.ts`, source: "export const x: number = Date.now()" },
  ]),
]

const carelessCases: readonly Case[] = [
  { file: inside("locks"), source: "const x = 1", rule: "no-unused-vars" },
  { file: inside("locks"), source: "console.log(1)", rule: "no-console" },
  { file: inside("locks"), source: "export const x: any = 1", rule: "no-explicit-any" },
  {
    file: inside("locks"),
    source: "export const f = (g: () => Promise<void>): void => {\n  g()\n}",
    rule: "no-floating-promises",
  },
  { file: inside("locks"), source: `export {}\n${"// A line.\n".repeat(400)}`, rule: "max-lines" },
  {
    file: inside("locks"),
    source: `export const f = (x: number[]): void => {\n${"  x.push(1)\n".repeat(60)}}`,
    rule: "max-lines-per-function",
  },
  {
    file: "tests/#.test.ts",
    source: 'import { it } from "vitest"\nit("says nothing", () => {})',
    rule: "expect-expect",
  },
  {
    file: "tests/#.test.ts",
    source: 'import { expect, it } from "vitest"\nit.only("is alone", () => {\n  expect(1).toBe(1)\n})',
    rule: "no-focused-tests",
  },
  {
    file: "tests/#.test.ts",
    source: 'import { expect, it } from "vitest"\nit.skip("is out", () => {\n  expect(1).toBe(1)\n})',
    rule: "no-disabled-tests",
  },
]

const cases = [...timeCases, ...libraryCases, ...carelessCases].map(({ file, source, rule }, number) => ({
  file: file.replace("#", `case-${number}`),
  source,
  rules: rule === undefined ? [] : [rule],
}))

/** Runs the repository's oxlint in the folder; on Deno too it is a program of Node's. */
function lint(folder: string): Promise<string> {
  const bin = join(root, "node_modules", ".bin")
  const env = { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` }
  return new Promise((settle) => {
    execFile(join(bin, "oxlint"), ["--format", "json"], { cwd: folder, env, maxBuffer: 2 ** 26 }, (_error, stdout) =>
      settle(stdout),
    )
  })
}

/** The rules reported in each file, by their plain names: "typescript(no-explicit-any)" is "no-explicit-any". */
function rulesByFile(output: string): Map<string, Set<string>> {
  const report = JSON.parse(output) as { diagnostics: { code: string; filename: string }[] }
  const rules = new Map<string, Set<string>>()
  for (const { code, filename } of report.diagnostics) {
    const name = /\((.+)\)$/.exec(code)?.[1] ?? code
    rules.set(filename, (rules.get(filename) ?? new Set()).add(name))
  }
  return rules
}

describe("the linter", () => {
  let folder: string
  let reported: Map<string, Set<string>>

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "leasehold-lint-"))
    for (const name of ["oxlint.config.ts", "tsconfig.json", "package.json"])
      await cp(join(root, name), join(folder, name))
    await symlink(join(root, "node_modules"), join(folder, "node_modules"))
    for (const { file, source } of cases) {
      await mkdir(dirname(join(folder, file)), { recursive: true })
      await writeFile(join(folder, file), `${source}\n`)
    }
    reported = rulesByFile(await lint(folder))
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each(cases)("in $file, for `$source`, reports $rules", ({ file, rules }) => {
    expect([...(reported.get(file) ?? [])]).toEqual(rules)
  })
})

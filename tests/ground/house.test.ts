/**
 * The house check: each rule refuses what it should in small made-up trees, and the project's own list of rooms is
 * whole.
 */
import { describe, expect, it } from "vitest"
import { rooms } from "../../scripts/house/rooms.ts"
import {
  circles,
  fullRooms,
  misplacedHeaders,
  type Tree,
  upwardImports,
  wideComments,
  wrongRooms,
} from "../../scripts/house/rules.ts"

const tree = (files: Readonly<Record<string, string>>): Tree => new Map(Object.entries(files))
const house = { "src/ground": "The ground.", "src/ground/cellar": "Stores.", "src/roof": "The roof." }

describe("imports", () => {
  const above = ["src/ground/a.ts imports src/roof/b.ts, which is above it"]

  it.each([
    ["of values", 'import { b } from "../roof/b.ts"', above],
    ["of types", 'import type { B } from "../roof/b.ts"', above],
    ["over several lines", 'import {\n  b,\n} from "../roof/b.ts"', above],
    ["for their effects", 'import "../roof/b.ts"', above],
    ["that are passed on", 'export * from "../roof/b.ts"', above],
    ["at the time of a call", 'export const b = async () => (await import("../roof/b.ts")).b', above],
    ["of a type where it stands", 'export type B = import("../roof/b.ts").B', above],
    ["of the same room", 'import { c } from "./c.ts"', []],
    ["of a package", 'import { Subject } from "rxjs"', []],
  ])("%s go down only", (_, text, wrong) => {
    expect(upwardImports(tree({ "src/ground/a.ts": text }), house)).toEqual(wrong)
  })

  it("go down into the room before, also where that is a folder of its own", () => {
    const files = { "src/roof/a.ts": 'import "../ground/b.ts"', "src/ground/cellar/c.ts": 'import "../b.ts"' }
    expect(upwardImports(tree(files), house)).toEqual([])
    expect(upwardImports(tree({ "src/ground/b.ts": 'import "./cellar/c.ts"' }), house)).toEqual([
      "src/ground/b.ts imports src/ground/cellar/c.ts, which is above it",
    ])
  })

  it("of files that don't belong to src are not looked at", () => {
    const files = { "tests/a.ts": 'import "../src/roof/b.ts"', "scripts/b.ts": 'import "../tests/a.ts"' }
    expect(upwardImports(tree(files), house)).toEqual([])
  })

  it("make no circle, of types alone and around corners", () => {
    const files = {
      "src/ground/a.ts": 'import type { B } from "./b.ts"',
      "src/ground/b.ts": 'export const c = async () => (await import("./c.ts")).c',
      "src/ground/c.ts": 'import "./a.ts"',
      "src/ground/d.ts": 'import "./a.ts"',
      "src/roof/x.ts": 'import "./y.ts"',
      "src/roof/y.ts": 'import "./x.ts"',
    }
    expect(circles(tree(files))).toEqual([
      "src/ground/a.ts -> src/ground/b.ts -> src/ground/c.ts -> src/ground/a.ts is a circle",
      "src/roof/x.ts -> src/roof/y.ts -> src/roof/x.ts is a circle",
    ])
    expect(circles(tree({ ...files, "src/ground/c.ts": "", "src/roof/y.ts": "" }))).toEqual([])
  })
})

describe("rooms", () => {
  it("are all listed, and there", () => {
    const files = { "src/ground/a.ts": "", "src/ground/cellar/b.ts": "", "src/garden/c.css": "", "tests/d.ts": "" }
    expect(wrongRooms(tree(files), house)).toEqual([
      "src/garden is not in the list of rooms",
      "src/roof is in the list of rooms, and isn't there",
    ])
  })

  it("of the project are each said to own something, in one sentence", () => {
    for (const [path, owns] of Object.entries(rooms))
      expect({ path, owns: /^[A-Z`].*[^.]\.$/.test(owns) }).toEqual({ path, owns: true })
  })

  it("have twelve files at most, of whatever kind", () => {
    const files = Array.from({ length: 12 }, (_, number) => [`src/ground/${number}.ts`, ""] as const)
    expect(fullRooms(new Map(files))).toEqual([])
    expect(fullRooms(new Map([...files, ["src/ground/cellar/a.ts", ""]]))).toEqual([])
    expect(fullRooms(new Map([...files, ["src/ground/page.css", ""]]))).toEqual(["src/ground has 13 files: 12 at most"])
  })
})

describe("the opening comment", () => {
  const behind = "its opening comment stands behind an import"

  it.each([
    ["src/a.ts", "/** Owns a. */\nimport 'b'\n", []],
    ["src/a.ts", "// Owns a.\nimport 'b'\n", []],
    ["src/a.ts", "#!/usr/bin/env node\n/** Owns a. */\n", []],
    ["src/a.ts", "export const a = 1\n", ["src/a.ts has no opening comment"]],
    ["src/a.ts", "import 'b'\n\n/** Of a. */\nexport const a = 1\n", ["src/a.ts has no opening comment"]],
    ["src/a.ts", "import 'b'\n/** Owns a. */\nimport 'c'\n", [`src/a.ts: ${behind}`]],
    ["tests/a.ts", "import 'b'\n// Owns a.\nimport 'c'\n", [`tests/a.ts: ${behind}`]],
    ["tests/a.ts", "import 'b'\n", []],
    ["src/page.css", "a {}\n", []],
  ])("in %s, of %j: %j", (path, text, wrong) => {
    expect(misplacedHeaders(tree({ [path]: text }))).toEqual(wrong)
  })
})

describe("comments", () => {
  const word = "a".repeat(114)

  it.each([
    [`// ${word}`, false],
    [`// ${word}b c`, false],
    [`// ${word}b cd`, true],
    [` * ${word}b cd`, true],
    [`/** ${word} */`, true],
    [`  // ${word}b`, false],
    [`const a = 1 // ${word}`, true],
    [`const a = "${word} // b"`, false],
    [`const a = ${word}`, false],
  ])("are no wider than code may be: %s", (line, isWide) => {
    expect(wideComments(tree({ "scripts/a.ts": `a\n${line}\n` }))).toEqual(
      isWide ? [`scripts/a.ts:2 is ${line.length} wide`] : [],
    )
  })
})

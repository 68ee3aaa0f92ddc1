import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { ActLog, readActs } from "../../examples/sqlite-workers/act-log.ts"
import { judge } from "../../examples/sqlite-workers/owners.ts"

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "leasehold-acts-"))
  path = join(folder, "acts.jsonl")
})
afterEach(() => rmSync(folder, { recursive: true }))

describe("the act log", () => {
  it("keeps what several writers append in the order in which they did", () => {
    using a = new ActLog(path)
    using b = new ActLog(path)
    const endA = a.start("a", "k", 1, "select 'ä'")
    endA()
    b.start("b", "k", 2, "x".repeat(100))
    a.dead("b")
    const lines = readActs(path)
    expect(lines).toMatchObject([
      { what: "start", act: "a/1", process: "a", key: "k", token: 1, sql: "select 'ä'" },
      { what: "end", act: "a/1" },
      { what: "start", act: "b/1", process: "b", key: "k", token: 2, sql: "x".repeat(60) },
      { what: "dead", process: "b" },
    ])
    expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).toSorted((x, y) => x - y))
    expect(judge(lines)).toMatchObject({ acts: 2, cutShort: 1, ownersAtOnce: 1, problems: [] })
  })

  it("lets two owners at once show", () => {
    using a = new ActLog(path)
    using b = new ActLog(path)
    const endA = a.start("a", "k", 1, "insert")
    const endB = b.start("b", "k", 2, "insert")
    endB()
    endA()
    expect(judge(readActs(path)).ownersAtOnce).toBe(2)
  })

  it("is refused when a line can't be read", () => {
    appendFileSync(path, '{"what":"dead","process":"a","at":1}\nnonsense\n')
    expect(() => readActs(path)).toThrow("line 2 of")
    appendFileSync(path, '{"what":')
    expect(() => readActs(path)).toThrow("ends inside a line")
  })
})

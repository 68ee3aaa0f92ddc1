// Pins that the oracle sees what must not be, and nothing else: small logs, written by hand.
import { describe, expect, it } from "vitest"
import type { LogLine } from "./log.ts"
import { judge, type Verdict } from "./oracle.ts"

const held = (act: string): LogLine => ({ what: "held", act })
const start = (act: string, token: number, rows = 0, key = "k"): readonly LogLine[] => [
  { what: "start", process: act.slice(0, 2), act, key, token, rows },
  held(act),
]
const step = (act: string): LogLine => ({ what: "step", act })
const end = (act: string): readonly LogLine[] => [step(act), held(act)]
const stored = (row: string, key = "k"): LogLine => ({ what: "stored", process: row.slice(0, 2), key, row })
const dead = (process: string): LogLine => ({ what: "dead", process })
const acquired = (process: string, how: string): LogLine => ({ what: "acquired", process, key: "k", token: 1, how })

const judged = (lines: readonly (LogLine | readonly LogLine[])[], rows: readonly string[] = []): Verdict =>
  judge(lines.flat(), new Map([["k", rows]]))

describe("the oracle", () => {
  it("counts what happened", () => {
    const changes = ["created", "granted", "reserved", "takeover", "free"].map((how) => acquired("a1", how))
    expect(judged([...changes, start("a1.1", 1), end("a1.1"), stored("a1.1")], ["a1.1"])).toEqual({
      ...{ handoffs: 2, takeovers: 1, acts: 1, stored: 1, overlaps: [], lost: [], problems: [] },
    })
  })

  it("is content with acts one after the other, and on different keys", () => {
    const one = [start("a1.1", 1), end("a1.1"), start("b1.1", 2), end("b1.1")]
    expect(judged(one).overlaps).toEqual([])
    expect(judged([start("a1.1", 1), start("b1.1", 2, 0, "other"), end("a1.1"), end("b1.1")]).overlaps).toEqual([])
  })

  // Tests processes: The oracle of chaos runs sees overlaps, lost rows and lower tokens, where a change makes some.
  it("tells of two that act on a key at once", () => {
    const both = [start("a1.1", 1), start("b1.1", 2), end("a1.1"), end("b1.1")]
    expect(judged(both).overlaps).toEqual(["b1.1 begins on k while a1.1 goes on"])
  })

  it("tells of one that acts on for a step of many, and then sees that its lease is over", () => {
    const late = [start("a1.1", 1), start("b1.1", 2), step("a1.1"), held("a1.1"), step("a1.1")]
    expect(judged(late).overlaps).toEqual(["b1.1 begins on k while a1.1 goes on"])
  })

  it("excuses who was stopped in a step, or before it had begun, and who was killed", () => {
    expect(judged([start("a1.1", 1), start("b1.1", 2), step("a1.1"), end("b1.1")]).overlaps).toEqual([])
    expect(judged([start("a1.1", 1), step("a1.1"), start("b1.1", 2), held("a1.1")]).overlaps).toEqual([])
    expect(judged([start("a1.1", 1), dead("a1"), start("b1.1", 2), end("b1.1")]).overlaps).toEqual([])
    const [late] = start("a1.1", 1)
    expect(judged([start("b1.1", 2), stored("b1.1"), late!], ["b1.1"])).toMatchObject({
      ...{ acts: 1, overlaps: [], lost: [], problems: [] },
    })
  })

  it("tells of a row that was acknowledged and is gone, in the end or when the next owner begins", () => {
    expect(judged([stored("a1.1")], []).lost).toEqual(["a1.1 of k"])
    expect(judged([stored("a1.1"), start("b1.1", 2, 0)], ["a1.1"]).lost).toEqual([
      "b1.1 finds 0 rows of k, where 1 were acknowledged",
    ])
    expect(judged([stored("a1.1"), start("b1.1", 2, 2)], ["x", "a1.1"]).lost).toEqual([])
  })

  it("tells of a row that is there twice, of a lower token, of one token for two, and of an act by the dead", () => {
    expect(judged([], ["a1.1", "a1.1"]).problems).toEqual(["a1.1 is twice in k"])
    expect(judged([start("b1.1", 2), end("b1.1"), start("a1.1", 1)]).problems).toHaveLength(1)
    expect(judged([start("b1.1", 2), end("b1.1"), start("a1.1", 2)]).problems).toHaveLength(1)
    expect(judged([dead("a1"), start("a1.1", 1)]).problems).toEqual(["a1.1 begins after a1 was dead"])
    expect(judged([{ what: "problem", process: "a1", message: "oops" }]).problems).toEqual(["a1: oops"])
  })
})

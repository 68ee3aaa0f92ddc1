import { describe, expect, it } from "vitest"
import type { ActLine } from "../../examples/sqlite-workers/act-log.ts"
import { judge } from "../../examples/sqlite-workers/owners.ts"

const start = (process: string, act: number, token: number, key = "k"): ActLine => ({
  what: "start",
  act: `${process}/${act}`,
  process,
  key,
  token,
  sql: "select 1",
  at: 0,
})
const end = (process: string, act: number): ActLine => ({ what: "end", act: `${process}/${act}`, at: 0 })
const dead = (process: string): ActLine => ({ what: "dead", process, at: 0 })

describe("owners at once, judged from the act log", () => {
  it("are none where nobody acted", () => {
    expect(judge([dead("a")])).toEqual({ acts: 0, cutShort: 0, ownersAtOnce: 0, problems: [] })
  })

  it("are one while owners follow each other", () => {
    const lines = [start("a", 1, 1), end("a", 1), start("a", 2, 1), end("a", 2), start("b", 1, 2), end("b", 1)]
    expect(judge(lines)).toEqual({ acts: 3, cutShort: 0, ownersAtOnce: 1, problems: [] })
  })

  it("are two when an act begins before the other process's act has ended", () => {
    const lines = [start("a", 1, 1), start("b", 1, 2), end("a", 1), end("b", 1)]
    expect(judge(lines).ownersAtOnce).toBe(2)
  })

  it("are two when a former owner acts again, though no two acts overlap", () => {
    const lines = [start("a", 1, 1), end("a", 1), start("b", 1, 2), end("b", 1), start("a", 2, 1), end("a", 2)]
    const { ownersAtOnce, problems } = judge(lines)
    expect(ownersAtOnce).toBe(2)
    expect(problems).toEqual(["a/2 acts on k under token 1, after b under 2"])
  })

  it("are as many as overlap, whoever began first", () => {
    const starts = [start("a", 1, 1), start("b", 1, 2), start("c", 1, 3)]
    expect(judge([...starts, end("b", 1), end("a", 1), end("c", 1)]).ownersAtOnce).toBe(3)
  })

  it("are counted for each key alone", () => {
    const lines = [start("a", 1, 1, "x"), start("b", 1, 2, "y"), end("a", 1), end("b", 1)]
    expect(judge(lines).ownersAtOnce).toBe(1)
  })

  it("are one when a killed owner was seen dead before the next one acted", () => {
    const lines = [start("a", 1, 1), dead("a"), start("b", 1, 2), end("b", 1)]
    expect(judge(lines)).toEqual({ acts: 2, cutShort: 1, ownersAtOnce: 1, problems: [] })
  })

  it("are two when the next one acted before the killed owner was seen dead", () => {
    const lines = [start("a", 1, 1), start("b", 1, 2), end("b", 1), dead("a")]
    expect(judge(lines)).toMatchObject({ cutShort: 1, ownersAtOnce: 2 })
  })

  it("are two when an act has no end and its process was never seen dead", () => {
    const lines = [start("a", 1, 1), start("b", 1, 2), end("b", 1)]
    expect(judge(lines)).toMatchObject({ cutShort: 1, ownersAtOnce: 2 })
  })

  it("are two when one process acts under two tokens in turns", () => {
    const lines = [start("a", 1, 1), end("a", 1), start("a", 2, 2), end("a", 2), start("a", 3, 1), end("a", 3)]
    expect(judge(lines)).toMatchObject({ ownersAtOnce: 2, problems: ["a/3 acts on k under token 1, after a under 2"] })
  })
})

describe("what else the act log shows", () => {
  it("is one token under two processes, also when they don't overlap", () => {
    const lines = [start("a", 1, 7), end("a", 1), start("b", 1, 7), end("b", 1)]
    expect(judge(lines)).toMatchObject({
      ownersAtOnce: 1,
      problems: ["b acts on k under token 7, which is that of a"],
    })
  })

  it("is a token that falls", () => {
    const lines = [start("a", 1, 7), end("a", 1), start("b", 1, 6), end("b", 1)]
    expect(judge(lines)).toMatchObject({ ownersAtOnce: 1, problems: ["b/1 acts on k under token 6, after a under 7"] })
  })

  it("is an act of the dead, and acts that begin twice or only end", () => {
    expect(judge([dead("a"), start("a", 1, 1)]).problems).toEqual(["a/1 begins after a was seen dead"])
    expect(judge([start("a", 1, 1), start("a", 1, 1)]).problems).toEqual(["a/1 begins twice"])
    expect(judge([end("a", 1)]).problems).toEqual(["a/1 ends without having begun"])
    expect(judge([start("a", 1, 1), end("a", 1), end("a", 1)]).problems).toHaveLength(1)
  })
})

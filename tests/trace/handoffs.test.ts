// Pins how a change of owner is told from what single workers say, whichever of them a trace has seen.
import { describe, expect, it } from "vitest"
import { Handoffs } from "../../src/trace/handoffs.ts"
import type { HandoffLine, LockLine } from "../../src/trace/trace.ts"

type Said = Pick<LockLine, "type"> & Partial<LockLine>

const owner = (ownerId: string, token: number): { ownerId: string; token: number; expiresAt: number } => ({
  ownerId,
  token,
  expiresAt: 0,
})

/** What is told of these events of one key; each is `at` its place in the list, times ten. */
function told(...said: readonly (readonly [ownerId: string, Said])[]): Partial<HandoffLine>[] {
  const handoffs = new Handoffs()
  return said.flatMap(([ownerId, event], index) => {
    const at = index * 10
    const line = { kind: "lock", at, wall: at, worker: ownerId, key: "k", ownerId, ...event } as const
    const handoff = handoffs.after(line)
    if (handoff === undefined) return []
    const { how, from, fromToken, to, token, ms } = handoff
    return [{ how, from, fromToken, to, token, ms }]
  })
}

describe("a handoff", () => {
  it("is told when the new owner has the key, with the time in which nobody had it", () => {
    expect(
      told(
        ["a", { type: "Acquired", token: 1, how: "created" }],
        ["a", { type: "Granted", token: 1, how: "grant", waiterId: "b" }],
        ["a", { type: "Released", token: 1 }],
        ["b", { type: "Acquired", token: 2, how: "granted" }],
      ),
    ).toEqual([{ how: "granted", from: "a", fromToken: 1, to: "b", token: 2, ms: 20 }])
  })

  it("names the former owner also where only the new one is recorded", () => {
    expect(
      told(["b", { type: "Waiting", owner: owner("a", 5) }], ["b", { type: "Acquired", token: 6, how: "reserved" }]),
    ).toEqual([{ how: "reserved", from: "a", fromToken: 5, to: "b", token: 6, ms: null }])
    expect(
      told(
        ["b", { type: "Waiting", owner: owner("stranger", 0) }],
        ["b", { type: "Acquired", token: 6, how: "takeover" }],
      ),
    ).toEqual([{ how: "takeover", from: "stranger", fromToken: 0, to: "b", token: 6, ms: null }])
  })

  it("names nobody where the trace has seen nobody", () => {
    expect(told(["b", { type: "Acquired", token: 6, how: "takeover" }])).toEqual([
      { how: "takeover", from: null, fromToken: null, to: "b", token: 6, ms: null },
    ])
  })

  it("is from nobody who gave the key up: in between it was another's, which a worker alone hasn't seen", () => {
    expect(
      told(
        ["a", { type: "Acquired", token: 1, how: "created" }],
        ["a", { type: "Granted", token: 1, how: "grant", waiterId: "b" }],
        ["a", { type: "Released", token: 1, result: "released" }],
        ["a", { type: "Acquired", token: 3, how: "takeover" }],
      ),
    ).toEqual([{ how: "takeover", from: null, fromToken: null, to: "a", token: 3, ms: null }])
  })

  it("is from an owner whose release nobody answered for", () => {
    expect(
      told(
        ["a", { type: "Acquired", token: 1, how: "created" }],
        ["a", { type: "Released", token: 1, result: "unknown" }],
        ["b", { type: "Acquired", token: 2, how: "takeover" }],
      ),
    ).toEqual([{ how: "takeover", from: "a", fromToken: 1, to: "b", token: 2, ms: 10 }])
  })

  it("is no free key that somebody takes", () => {
    expect(
      told(
        ["a", { type: "Acquired", token: 1, how: "created" }],
        ["a", { type: "Released", token: 1 }],
        ["b", { type: "Acquired", token: 2, how: "free" }],
      ),
    ).toEqual([])
  })

  it("is not confused by what a former owner learns late", () => {
    expect(
      told(
        ["a", { type: "Acquired", token: 1, how: "created" }],
        ["a", { type: "Renewed", token: 3 }], // a claim raised the token
        ["b", { type: "Acquired", token: 4, how: "takeover" }],
        ["a", { type: "Recovered", token: 3 }],
        ["a", { type: "Lost", token: 3 }],
        ["c", { type: "Waiting", owner: owner("b", 4) }],
        ["b", { type: "Granted", token: 4, how: "grant", waiterId: "c" }],
        ["c", { type: "Acquired", token: 5, how: "granted" }],
      ),
    ).toEqual([
      { how: "takeover", from: "a", fromToken: 3, to: "b", token: 4, ms: null },
      { how: "granted", from: "b", fromToken: 4, to: "c", token: 5, ms: 10 },
    ])
  })
})

// Pins what is said of saved state, by traces that are right and traces that are not.
import { describe, expect, it } from "vitest"
import { invariants } from "../../../src/testing/invariants/mod.ts"
import { head, removed, told, work } from "./told.ts"

const { noOldTokens, noStepBack, claimsKeepState, fencedBeforeRestore } = invariants
const saved = [head(0, "a", { token: 7, seq: 1 }), head(1, "a", { token: 7, seq: 2, sha256: "t" })] as const

describe("no old tokens", () => {
  it("is content where tokens grow, and where a stranger does what it will", () => {
    expect(told(noOldTokens, ...saved, head(2, "b", { token: 8, seq: 3 }))).toEqual([])
    expect(
      told(noOldTokens, ...saved, head(2, null, { token: 1, seq: 3 }), head(3, "a", { token: 7, seq: 4 })),
    ).toEqual([])
  })

  // Tests traces: The invariants of traces hold of simulated runs, and each tells of what goes against it.
  it("tells of a lower token, and of an equal one of another activation", () => {
    expect(told(noOldTokens, head(0, "b", { token: 8, seq: 1 }), head(1, "a", { token: 7, seq: 2 }))).toHaveLength(1)
    expect(told(noOldTokens, ...saved, head(2, "b", { token: 7, seq: 3 }))).toEqual([
      "two activations write ledger=2fk/head under token 7",
    ])
  })
})

describe("no step back", () => {
  it("is content where each write is the next, and where an operator deletes", () => {
    expect(told(noStepBack, ...saved, removed(5, null, "state"))).toEqual([])
  })

  // Tests traces.
  it("tells of a number left out, of one that comes again, and of a delete", () => {
    expect(told(noStepBack, ...saved, head(2, "a", { token: 7, seq: 4 }))).toHaveLength(1)
    expect(told(noStepBack, ...saved, head(2, "b", { token: 8, seq: 2 }))).toHaveLength(1)
    expect(told(noStepBack, ...saved, removed(5, "a", "state"))).toEqual(["a deletes ledger=2fk/head"])
  })
})

describe("claims keep state", () => {
  it("is content where the next owner claims what was there, restores, and goes on", () => {
    const claim = head(2, "b", { token: 8, seq: 3, sha256: "t" })
    const next = head(4, "b", { token: 8, seq: 4, sha256: "u" })
    expect(told(claimsKeepState, ...saved, claim, work(3, "b", "restore began", 8), next)).toEqual([])
  })

  it("is content with what is saved after a restore that needed no claim", () => {
    const next = head(4, "b", { token: 8, seq: 3, sha256: "u" })
    expect(told(claimsKeepState, ...saved, work(3, "b", "restore began", 8), next)).toEqual([])
  })

  // Tests traces.
  it("tells of an owner that writes something else before it has restored", () => {
    expect(told(claimsKeepState, ...saved, head(2, "b", { token: 8, seq: 3, sha256: "u" }))).toEqual([
      "b replaces what ledger=2fk/head held before it has restored it",
    ])
  })
})

describe("fenced before restore", () => {
  it("is content with writes under the restored token, and above", () => {
    const lines = [
      work(2, "b", "restore began", 8),
      head(3, "b", { token: 8, seq: 3 }),
      head(4, "a", { token: 9, seq: 4 }),
    ]
    expect(told(fencedBeforeRestore, ...saved, ...lines)).toEqual([])
  })

  // Tests traces.
  it("tells of a former owner's write that lands after it", () => {
    const late = head(3, "a", { token: 7, seq: 3 })
    expect(told(fencedBeforeRestore, ...saved, work(2, "b", "restore began", 8), late)).toEqual([
      "a saves under token 7 after b restored under 8",
    ])
  })
})

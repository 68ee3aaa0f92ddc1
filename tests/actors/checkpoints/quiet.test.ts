/** Rule 15: for how long a head is waited out, whose owner may run yet. */
import { describe, expect, it } from "vitest"
import { quietFor } from "../../../src/actors/checkpoints/head-writes.ts"
import { emptyHead, type Head } from "../../../src/actors/checkpoints/head.ts"
import { settings } from "./head-model.ts"

describe("a head", () => {
  const of = (token: number): Head => ({
    ...{ ...emptyHead({ ...settings, ttlMs: 12_000 }), token, nonce: "n", opId: "o", over: null },
  })

  it("is waited out for its ttl where there was no record, or one that came to be after it", () => {
    expect(quietFor({ ...settings, created: true, began: 7 }, of(5))).toBe(12_000)
    expect(quietFor({ ...settings, began: 6 }, of(5))).toBe(12_000)
    expect(quietFor({ ...settings, began: 5 }, of(5))).toBe(0)
  })

  it("is waited out where it has a greater token than the record told of before: its owner's record is another", () => {
    expect(quietFor({ ...settings, began: 3, after: 4 }, of(5))).toBe(12_000)
    expect(quietFor({ ...settings, began: 3, after: 5 }, of(5))).toBe(0)
    expect(quietFor({ ...settings, began: 3, after: undefined }, of(5))).toBe(0)
  })

  it("that isn't there, or of a sandbox that was removed, is not", () => {
    expect(quietFor({ ...settings, created: true }, null)).toBe(0)
    expect(quietFor({ ...settings, created: true }, { ...of(5), saved: { state: "removed" } })).toBe(0)
  })
})

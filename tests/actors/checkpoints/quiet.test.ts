/** Rule 15: for how long a head is waited out, whose owner may be at work yet. */
import { describe, expect, it } from "vitest"
import { emptyHead, type Head } from "../../../src/actors/checkpoints/head/head.ts"
import { waitOutFor } from "../../../src/actors/checkpoints/head/writes.ts"
import { settings } from "./head-model.ts"

describe("a head", () => {
  const head: Head = {
    ...{ ...emptyHead({ ...settings, ttlMs: 12_000 }), token: 5, nonce: "n", opId: "o", predecessorOpId: null },
  }

  // Tests rule 15: A head is waited out unless the record proves that its owner has ended.
  it("is waited out for its ttl unless its owner is known to have ended", () => {
    expect(waitOutFor({ ...settings, past: [] }, head)).toBe(12_000)
    expect(waitOutFor({ ...settings, past: ["m", "o"] }, head)).toBe(12_000)
    expect(waitOutFor({ ...settings, past: ["m", "n"] }, head)).toBe(0)
  })

  it("is waited out for whoever its owner waited for, whatever is known of itself", () => {
    expect(waitOutFor({ ...settings, past: ["n"] }, { ...head, waitOutMs: 20_000 })).toBe(20_000)
    expect(waitOutFor({ ...settings, past: [] }, { ...head, waitOutMs: 20_000 })).toBe(20_000)
    expect(waitOutFor({ ...settings, past: [] }, { ...head, waitOutMs: 2000 })).toBe(12_000)
  })

  it("that isn't there is not", () => {
    expect(waitOutFor({ ...settings, past: [] }, null)).toBe(0)
  })
})

/** The stores that locks make for themselves: one for the same parts in a process. */
import { describe, expect, it } from "vitest"
import { memoryStore } from "../../../src/locks/stores/memory-store.ts"
import type { LeaseStore } from "../../../src/locks/stores/port.ts"
import { SharedStores } from "../../../src/locks/stores/shared.ts"
import { collected } from "../../support/gc.ts"

describe("shared stores", () => {
  it("are one for the same parts, and another for each other part", () => {
    const stores = new SharedStores<LeaseStore>()
    const client = {}
    const get = (...parts: unknown[]): LeaseStore => stores.get(parts, () => memoryStore())
    const store = get("bucket", undefined, client)
    expect(get("bucket", undefined, client)).toBe(store)
    for (const parts of [
      ["bucke", undefined, client],
      ["bucket", "", client],
      ["bucket", undefined, {}],
    ])
      expect(get(...parts)).not.toBe(store)
  })

  it("are made once, and stay", async () => {
    const stores = new SharedStores<LeaseStore>()
    let made = 0
    const make = (): LeaseStore => {
      made++
      return memoryStore()
    }
    stores.get(["place"], make)
    await collected()
    stores.get(["place"], make)
    expect(made).toBe(1)
  })
})

/** The stores that locks make for themselves: one for the same parts, for as long as something uses it. */
import { describe, expect, it } from "vitest"
import type { LeaseStore } from "../../../src/locks/store.ts"
import { memoryStore } from "../../../src/locks/stores/memory.ts"
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

  it("are forgotten once nothing uses them", async () => {
    const stores = new SharedStores<LeaseStore>()
    let made = 0
    const get = (): LeaseStore => {
      const make = (): LeaseStore => {
        made++
        return memoryStore()
      }
      return stores.get(["place"], make)
    }
    get()
    await collected()
    const kept = get()
    await collected()
    expect(get()).toBe(kept)
    expect(made).toBe(2)
  })
})

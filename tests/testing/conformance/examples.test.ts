// The store of docs/testing.md under vitest, word for word.
/* oxlint-disable vitest/valid-title, vitest/expect-expect -- what is called expects */

// --- example: under vitest
import type { ObjectStore } from "leasehold"
import { conformance } from "leasehold/testing"
import { describe, it } from "vitest"
import { mapStore, type Objects } from "./map-store.ts"

const places = new Map<string, Objects>()

function makeStore(place: string): ObjectStore {
  const objects: Objects = places.get(place) ?? new Map()
  places.set(place, objects)
  return mapStore(objects)
}

describe("my store, by the contract of a store", () => {
  for (const { name, run } of conformance(makeStore)) it(name, run)
})
// --- end

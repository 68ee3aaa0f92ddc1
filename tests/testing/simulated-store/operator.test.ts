/** Operators in simulated stores: what they delete, what they leave instead of records, and what they mend. */
import { describe, expect, it } from "vitest"
import { parseRecord } from "../../../src/locks/record.ts"
import type { ObjectRef } from "../../../src/locks/stores/port.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { Draw } from "../../../src/testing/simulate/plan/draw.ts"
import { damages, Operator } from "../../../src/testing/simulated-store/operator.ts"
import { SimulatedStore } from "../../../src/testing/simulated-store/store.ts"
import { Stranger } from "../../../src/testing/simulated-store/stranger.ts"

const ref: ObjectRef = { area: "leases", name: "k" }
const record = new TextEncoder().encode(
  '{"ownerId":"a","expiresAt":1,"waitingOwnerId":null,"waiterExpiresAt":null,"v":1,"needs":[],"key":"k"}',
)

class World {
  readonly time = new VirtualTime()
  readonly writes: string[] = []
  readonly store = new SimulatedStore({
    ...{ time: this.time, chance: new Draw(1) },
    onApplied: ({ worker, body }) => void this.writes.push(`${worker} ${body === undefined ? "deletes" : "writes"}`),
  })
  readonly operator = new Operator(this.store)

  get bytes(): Uint8Array | undefined {
    return this.store.objects.get("leases/k")?.body
  }
}

describe("an operator", () => {
  it("deletes what is there", () => {
    const { operator, store, writes } = new World()
    operator.delete(ref)
    store.tamper(ref, record)
    operator.delete(ref)
    expect(writes).toEqual(["null writes", "null deletes"])
  })

  it.each(damages)("leaves no record in a record's place, nor where there was none: %s", (damage) => {
    for (const before of [record, undefined]) {
      const world = new World()
      world.store.tamper(ref, before)
      world.operator.damage(ref, damage)
      const bytes = world.bytes!
      expect(() => parseRecord("k", new TextDecoder().decode(bytes))).toThrow("not its lease record")
      expect(bytes.length > 64 * 1024).toBe(damage === "huge")
    }
  })

  it("mends by deleting, what it damaged alone, and once", () => {
    const { operator, store, writes } = new World()
    operator.damage(ref, "list")
    expect(operator.hasToMend(ref)).toBe(true)
    operator.mend(ref)
    expect(operator.hasToMend(ref)).toBe(false)
    operator.damage(ref, "empty")
    store.tamper(ref, record)
    operator.mend(ref)
    expect(writes).toEqual(["null writes", "null deletes", "null writes", "null writes"])
  })

  it.each(damages)("leaves to strangers nothing that they would take: %s", (damage) => {
    const { operator, store, time, writes } = new World()
    const stranger = new Stranger("s", { store, now: () => time.read().wall, keeps: true })
    operator.damage(ref, damage)
    for (const move of ["own", "wait", "leave", "grant", "delete"] as const) stranger.move(ref, move)
    stranger.goes(ref)
    expect(writes).toEqual(["null writes"])
  })
})

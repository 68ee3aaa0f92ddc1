/** Strangers in simulated stores: what they write, and what they leave alone. */
import { describe, expect, it } from "vitest"
import type { ObjectRef } from "../../../src/locks/stores/port.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { Draw } from "../../../src/testing/simulate/plan/draw.ts"
import { SimulatedStore } from "../../../src/testing/simulated-store/store.ts"
import { Stranger } from "../../../src/testing/simulated-store/stranger.ts"

const ref: ObjectRef = { area: "leases", name: "k" }

class World {
  readonly time = new VirtualTime()
  readonly store = new SimulatedStore({ time: this.time, chance: new Draw(1) })

  stranger(id: string, keeps = false, slow = 0): Stranger {
    return new Stranger(id, { store: this.store, now: () => this.now() - slow, keeps })
  }

  now(): number {
    return this.time.read().wall
  }

  write(record: object): void {
    this.store.tamper(ref, new TextEncoder().encode(JSON.stringify(record)))
  }

  get record(): unknown {
    const version = this.store.objects.get("leases/k")
    return version === undefined ? undefined : JSON.parse(new TextDecoder().decode(version.body))
  }
}

const owned = (world: World, ms: number): object => ({
  ...{ ownerId: "a", expiresAt: (world.now() + ms) / 1000, waitingOwnerId: null, waiterExpiresAt: null },
  owner: { for: "a", token: 7 },
})

describe("a stranger", () => {
  it("takes what is free, and renews it", async () => {
    const world = new World()
    const stranger = world.stranger("s")
    stranger.move(ref, "own")
    expect(world.record).toMatchObject({ ownerId: "s", expiresAt: (world.now() + 30_000) / 1000 })
    await world.time.advance(10_000)
    stranger.move(ref, "own")
    expect(world.record).toMatchObject({ ownerId: "s", expiresAt: (world.now() + 30_000) / 1000 })
  })

  it("waits where another owns, and takes it only when that is over for longer than clocks disagree", async () => {
    const world = new World()
    const stranger = world.stranger("s")
    world.write(owned(world, 10_000))
    stranger.move(ref, "own")
    expect(world.record).toMatchObject({ ownerId: "a" })
    stranger.move(ref, "wait")
    expect(world.record).toMatchObject({ ownerId: "a", waitingOwnerId: "s" })
    await world.time.advance(14_999)
    stranger.move(ref, "own")
    expect(world.record).toMatchObject({ ownerId: "a" })
    await world.time.advance(1)
    stranger.move(ref, "own")
    expect(world.record).toMatchObject({ ownerId: "s", waitingOwnerId: null })
  })

  it.each([
    [true, { owner: { for: "a", token: 7 } }],
    [false, {}],
  ])("keeps what it doesn't know (%s), or drops it", (keeps, rest) => {
    const world = new World()
    world.write(owned(world, 10_000))
    world.stranger("s", keeps).move(ref, "wait")
    const { ownerId, expiresAt, waitingOwnerId, waiterExpiresAt, ...other } = world.record as Record<string, unknown>
    expect([ownerId, waitingOwnerId, typeof expiresAt, typeof waiterExpiresAt]).toEqual(["a", "s", "number", "number"])
    expect(other).toEqual(rest)
  })

  it("hands over to whoever waits, or deletes its record, not before it has owned for a while", async () => {
    const world = new World()
    const stranger = world.stranger("s")
    const other = world.stranger("t")
    stranger.move(ref, "own")
    await world.time.advance(9000)
    other.move(ref, "wait")
    stranger.move(ref, "grant")
    expect(world.record).toMatchObject({ ownerId: "s", waitingOwnerId: "t" })
    await world.time.advance(1000)
    stranger.move(ref, "grant")
    expect(world.record).toMatchObject({ ownerId: "t", waitingOwnerId: null })
    stranger.move(ref, "delete")
    expect(world.record).toMatchObject({ ownerId: "t" })
    other.move(ref, "own")
    await world.time.advance(10_000)
    other.move(ref, "delete")
    expect(world.record).toBeUndefined()
  })

  it("goes without a trace of itself", () => {
    const world = new World()
    const stranger = world.stranger("s")
    stranger.move(ref, "own")
    stranger.goes(ref)
    expect(world.record).toMatchObject({ ownerId: null, expiresAt: 0 })
  })

  it("writes by its own clock, which may be behind", () => {
    const world = new World()
    world.stranger("s", false, 4000).move(ref, "own")
    expect(world.record).toMatchObject({ expiresAt: (world.now() + 26_000) / 1000 })
  })
})

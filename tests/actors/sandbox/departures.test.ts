import { describe, expect, it } from "vitest"
import { Departures } from "../../../src/actors/sandbox/departures.ts"
import { Admission } from "../../../src/locks/admission/admission.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { counter, gate, World } from "../world.ts"

describe("the departures of a manager", () => {
  // Tests load: As many leave at once as the store answers, awaited ones first; limits count from the turn.
  it("are as many at once as the store has room for, those first that somebody waits for", async () => {
    const time = new VirtualTime()
    const departures = new Departures(time, () => new Admission(time))
    const order: string[] = []
    const begin = (name: string, urgent: boolean) => {
      const departure = departures.begin(urgent)
      void departure.turn.then(() => order.push(name))
      return departure
    }
    const first = Array.from({ length: 32 }, (_, index) => begin(`${index}`, false))
    expect(departures.hasRoom).toBe(false)
    begin("drained", false)
    begin("handed off", true)
    await time.advance(60_000)
    expect(order).toHaveLength(32)
    first[5]!.end()
    first[5]!.end()
    await time.advance(0)
    expect(order.slice(32)).toEqual(["handed off"])
    first[6]!.end()
    await time.advance(0)
    expect(order.slice(32)).toEqual(["handed off", "drained"])
  })

  it("don't wait for hooks that take long, but for the store", async () => {
    const time = new VirtualTime()
    const departures = new Departures(time, () => undefined)
    const [slow, saving] = Array.from({ length: 64 }, () => departures.begin(false))
    slow!.hooks()
    saving!.hooks()
    saving!.stores()
    await time.advance(999)
    expect(departures.hasRoom).toBe(false)
    await time.advance(1)
    departures.begin(false)
    expect(departures.hasRoom).toBe(false)
    await time.advance(60_000)
    expect(departures.hasRoom).toBe(false)
    expect(time.pendingTimers).toBe(0)
  })

  it("settle the turn of one that ends before it has come", async () => {
    const time = new VirtualTime()
    const departures = new Departures(time, () => undefined)
    for (let begun = 0; begun < 64; begun++) departures.begin(false)
    const queued = departures.begin(false)
    queued.end()
    await queued.turn
    expect(departures.hasRoom).toBe(false)
  })
})

describe("a drain of more sandboxes than are saved at once", () => {
  // Tests load.
  it("ends the work of all at once, and counts the limit of each checkpoint from its turn", async () => {
    const world = new World()
    const going = gate()
    let taking = 0
    let most = 0
    const sandbox = counter({
      checkpoint: async ({ n }) => {
        most = Math.max(most, ++taking)
        await going.promise
        taking--
        return { n }
      },
    })
    const a = await world.manager("a", sandbox, { checkpointWithin: "5 s" })
    const keys = Array.from({ length: 100 }, (_, index) => `k${index}`)
    const handles = await world.run(Promise.all(keys.map((key) => a.restoreSandbox(sandbox, key))))
    const signals: string[] = []
    const draining = a.drain({ grace: "1 min" })
    await world.time.advance(900)
    for (const { actor } of handles) signals.push(JSON.stringify(actor.getSnapshot().value))
    expect(most).toBe(64)
    expect(signals.filter((value) => value.includes("queued"))).toHaveLength(36)
    expect(signals.filter((value) => value.includes("running"))).toEqual([])
    going.resolve()
    expect(await world.run(draining)).toEqual({ stuck: [] })
    for (const key of keys) expect(await world.saved(sandbox, key)).toEqual({ n: 0 })
    await world.end()
  })
})

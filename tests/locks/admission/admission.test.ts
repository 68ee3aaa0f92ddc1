import { describe, expect, it } from "vitest"
import { Admission, admissionTo, type Slot, type Urgency } from "../../../src/locks/admission/admission.ts"
import { ConcurrencyLimit } from "../../../src/locks/admission/concurrency-limit.ts"
import { StoreUnavailableError } from "../../../src/locks/api/errors.ts"
import { memoryStore } from "../../../src/locks/stores/memory-store.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

/** A door at which nobody more finds room: of its first limit all slots are taken. */
const full = (time: VirtualTime): { readonly door: Admission; readonly slots: Slot[] } => {
  const door = new Admission(time)
  const slots: Slot[] = []
  for (let slot = door.tryEnter("keep"); slot !== undefined; slot = door.tryEnter("keep")) slots.push(slot)
  return { door, slots }
}

describe("the door to a store", () => {
  // Tests load: What keeps a lease comes first, then saves, claims, renewals with time, marks, and looks.
  it("lets in at once as many as the limit says, and of looks no more than are answered quickly", () => {
    const time = new VirtualTime()
    expect(full(time).slots).toHaveLength(32)
    const door = new Admission(time)
    expect(Array.from({ length: 40 }, () => door.tryEnter("look")).filter(Boolean)).toHaveLength(4)
  })

  it("lets in the most urgent first, of one urgency by `by`, and then in the order of coming", async () => {
    const time = new VirtualTime()
    const { door, slots } = full(time)
    const order: string[] = []
    const waits = (name: string, urgency: Urgency, by: number): void =>
      void door.queue({ urgency, by }, (slot) => {
        order.push(name)
        slot.free()
      })
    waits("look", "look", 0)
    waits("late mark", "mark", 2)
    waits("mark", "mark", 1)
    waits("claim", "claim", 5)
    waits("next claim", "claim", 5)
    waits("early renewal", "renew", 0)
    waits("head", "save", 9)
    waits("renewal", "keep", 20)
    waits("renewal of a shorter lease", "keep", 10)
    await time.advance(0)
    expect(order).toEqual([])
    for (const slot of slots) slot.free()
    await time.advance(0)
    expect(order).toEqual([
      ...["renewal of a shorter lease", "renewal", "head", "claim", "next claim", "early renewal", "mark", "late mark"],
      "look",
    ])
  })

  it("keeps the place of who sends one request after the other", async () => {
    const time = new VirtualTime()
    const { door, slots } = full(time)
    const order: string[] = []
    const first = door.number()
    door.queue({ urgency: "claim", by: 0 }, () => order.push("second"))
    door.queue({ urgency: "claim", by: 0, number: first }, () => order.push("first, again"))
    for (const slot of slots.slice(0, 10)) slot.free()
    await time.advance(0)
    expect(order).toEqual(["first, again", "second"])
  })

  it("puts what has become urgent before what was more urgent, and last what can't be answered in time", async () => {
    const time = new VirtualTime()
    const { door, slots } = full(time)
    await time.advance(800)
    for (const slot of slots.splice(0, 20)) slot.answered() // so long it takes
    for (let slot = door.tryEnter("keep"); slot !== undefined; slot = door.tryEnter("keep")) slots.push(slot)
    const order: string[] = []
    const now = time.mono()
    door.queue({ urgency: "save", by: 0 }, () => order.push("head"))
    door.queue({ urgency: "renew", by: now + 30_000, urgentFrom: now + 1000 }, () => order.push("renewal"))
    door.queue({ urgency: "keep", by: now + 1500, end: now + 1500 }, () => order.push("too late"))
    await time.advance(1000)
    expect(order).toEqual([])
    for (const slot of slots) slot.free()
    await time.advance(0)
    expect(order).toEqual(["renewal", "head", "too late"])
  })

  // Tests load: A request is made when its turn has come; its content and deadline are of then.
  it("is waited for until a time, or an abort, and forgets a ticket that is given back", async () => {
    const time = new VirtualTime()
    const { door, slots } = full(time)
    const abort = new AbortController()
    const late = door.enter("save", time.mono() + 3000)
    const aborted = door.enter("save", time.mono() + 9000, abort.signal)
    let called = false
    door.queue({ urgency: "keep", by: 0 }, () => (called = true)).cancel()
    abort.abort()
    expect(await aborted).toBeUndefined()
    await time.advance(3000)
    expect(await late).toBeUndefined()
    slots[0]!.free()
    slots[0]!.free()
    await time.advance(0)
    expect(called).toBe(false)
    expect(door.tryEnter("keep")).toBeDefined()
    expect(door.tryEnter("keep")).toBeUndefined()
    expect(time.pendingTimers).toBe(0)
  })

  it("is one for a store and a clock, and none where a request costs a system call", () => {
    const time = new VirtualTime()
    const near = memoryStore({ clock: time })
    expect(admissionTo(near, time)).toBeUndefined()
    const far = { ...near, name: "far", capabilities: { ...near.capabilities, cheapReads: false } } as typeof near
    expect(admissionTo(far, time)).toBe(admissionTo(far, time))
    expect(admissionTo(far, new VirtualTime())).not.toBe(admissionTo(far, time))
  })

  // Tests load: No more requests are under way than the store answers in a second; the limit follows the rate.
  it("takes an overloaded store's refusals for slow answers", async () => {
    const time = new VirtualTime()
    const { door, slots } = full(time)
    await time.advance(10)
    const error = new StoreUnavailableError({ message: "no", next: "later", status: 503 })
    for (const slot of slots.slice(0, 16)) slot.answered(error)
    expect(door.limit).toBe(16)
  })
})

describe("the limit of requests under way", () => {
  const limit = (): ConcurrencyLimit => new ConcurrencyLimit({ wantedMs: 1000, mostMs: 1000, atRest: 32 })

  /** A store of so many requests a second is asked for all that the limit allows, for so many seconds. */
  const served = (of: ConcurrencyLimit, perSecond: number, seconds: number, from = 0): number => {
    let now = from
    const queue: number[] = []
    for (; now < from + seconds * 1000; now += 1000 / perSecond) {
      while (queue.length < of.at(now)) queue.push(now)
      of.answered(queue.shift()!, now, queue.length + 1, false)
    }
    return now
  }

  // Tests load.
  it.each([10, 50, 200])(
    "comes to what a store of %i requests a second answers within the time wanted",
    (perSecond) => {
      const of = limit()
      const now = served(of, perSecond, 60)
      expect(of.at(now)).toBeGreaterThan(0.5 * perSecond)
      expect(of.at(now)).toBeLessThanOrEqual(1.2 * perSecond)
    },
  )

  it("falls at once with the rate of answers, and rises again", () => {
    const of = limit()
    const fast = served(of, 200, 30)
    const slow = served(of, 20, 10, fast)
    expect(of.at(slow)).toBeLessThanOrEqual(32)
    expect(of.at(served(of, 200, 30, slow))).toBeGreaterThan(100)
  })

  it("isn't lowered by single answers that take long while most don't", () => {
    const of = limit()
    for (let now = 0; now < 60_000; now += 20) of.answered(now - (now % 400 === 0 ? 3000 : 100), now, 20, false)
    expect(of.at(60_000)).toBeGreaterThanOrEqual(32)
  })

  it("never falls below what sees the end of an outage", () => {
    const of = limit()
    for (let now = 5000; now < 300_000; now += 1250) of.answered(now - 5000, now, 4, false)
    expect(of.at(300_000)).toBe(4)
  })
})

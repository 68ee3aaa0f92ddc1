/** Rule 11: leaving. */
import { describe, expect, it } from "vitest"
import { acquire, type ProcessModel } from "./process-model.ts"
import { overtaken } from "./store-model.ts"
import { Stranger } from "./strangers.ts"
import { World } from "./world.ts"

const result = (process: ProcessModel): unknown => process.last("Released")?.result

describe("rule 11: release", () => {
  it("ends the ownership here and now, and leaves a released record that keeps its end", () => {
    const world = new World()
    const a = world.owner("a")
    const token = a.token!
    world.send(a, { type: "release" })
    expect(a.holds(world.at)).toBe(false)
    world.until(() => a.phase === "idle")
    expect(result(a)).toBe("released")
    expect(world.store.body).toMatchObject({
      ownerId: null,
      expiresAt: 0,
      owner: null,
      ended: { token, how: "release" },
    })
  })

  // Tests rule 11: A release is idempotent, and waits for the write in flight, not for its retries.
  it("is idempotent: a second one changes nothing, under way or done", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    world.send(a, { type: "release" })
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    world.send(a, { type: "release" })
    world.advance(5000)
    expect(a.count("Released")).toBe(1)
    expect(world.store.history).toHaveLength(2)
  })

  it("waits for the renewal that is in flight", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    const renewal = world.nextWrite(a)
    world.send(a, { type: "release" })
    world.advance(3000)
    expect(world.open(a)).toBe(renewal)
    a.network = "up"
    world.answer(renewal)
    world.until(() => a.phase === "idle")
    expect(result(a)).toBe("released")
    expect(world.store.history).toHaveLength(3)
    expect(a.types).toEqual(["Acquired", "Released"])
  })

  it("doesn't wait for that renewal's retries: one look, then it leaves", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    const renewal = world.nextWrite(a)
    world.send(a, { type: "release" })
    world.lose(renewal)
    const leave = world.nextWrite(a)
    expect(JSON.parse((leave.command as { body: string }).body)).toMatchObject({ ownerId: null })
    world.deliver(renewal)
    a.network = "up"
    world.answer(leave)
    expect(leave.result?.kind).toBe("refused")
    world.until(() => a.phase === "idle")
    expect(result(a)).toBe("released")
    expect(world.store.body["ownerId"]).toBeNull()
  })

  it("a renewal's answer that the release overtook changes nothing", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "renew" })
    const renewal = world.nextWrite(a)
    world.deliver(renewal)
    world.lose(renewal)
    world.send(a, { type: "release" })
    world.answer(world.nextWrite(a))
    expect(result(a)).toBe("released")
    world.answer(renewal)
    expect(a.phase).toBe("idle")
    expect(a.holds(world.at)).toBe(false)
    expect(a.types.at(-1)).toBe("Released")
  })

  // Tests rule 11: A release's result is true: released, alreadyLost or unknown.
  it("whose answer is lost is learned from the record", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "release" })
    world.loseAnswer(world.nextWrite(a))
    world.answer(world.next(a, "read"))
    expect(result(a)).toBe("released")
  })

  it("that whom it granted the key overtook with a write is known at once, with no wait", () => {
    const world = new World({ clock: "exact", spacing: 0 })
    const a = world.owner("a")
    const b = world.waiter("b")
    world.until(() => a.count("ReleaseRequested") > 0)
    a.network = "held"
    world.send(a, { type: "release" })
    const leave = world.nextWrite(a)
    world.deliver(leave)
    world.until(() => b.count("Renewed") > 0)
    world.answer(leave, overtaken(world.store.time(world.at)!))
    const at = world.at
    world.answer(world.next(a, "read"))
    expect(world.at).toBe(at)
    expect(result(a)).toBe("released")
  })

  it("whose key was taken before it was sent is alreadyLost, and after it was sent unknown", () => {
    for (const [when, expected] of [
      ["before", "alreadyLost"],
      ["after", "unknown"],
    ] as const) {
      const world = new World()
      const a = world.owner("a")
      world.advance(2000)
      a.network = "held"
      world.send(a, { type: when === "before" ? "renew" : "release" })
      const write = world.nextWrite(a)
      if (when === "before") world.send(a, { type: "release" })
      world.lose(write)
      new Stranger(world, "s").own()
      world.watchdog.excuse("one holder")
      world.answer(world.next(a, "read"))
      expect(result(a)).toBe(expected)
      expect(world.store.body["ownerId"]).toBe("s")
    }
  })

  it("of a lease that is lost already is no release", () => {
    const world = new World()
    const a = world.owner("a")
    world.store.remove(world.at)
    world.advance(2500)
    world.send(a, { type: "release" })
    world.advance(5000)
    expect(a.types).toEqual(["Acquired", "Lost"])
    expect(world.store.text).toBeUndefined()
  })

  it("that reaches nobody is unknown after 10 s, also when nothing could be sent: the lease may stand until it runs out", () => {
    for (const sent of [true, false]) {
      const world = new World()
      const a = world.owner("a")
      world.advance(2000)
      a.network = "down"
      if (!sent) world.send(a, { type: "renew" })
      world.send(a, { type: "release" })
      const start = world.at
      world.until(() => a.phase === "idle")
      expect(world.at - start).toBeLessThan(10_010)
      expect(result(a)).toBe("unknown")
      expect(world.store.body["ownerId"]).toBe("a")
    }
  })

  it("reads first where the clocks jumped, and ends an ownership that is suspect all the same", () => {
    const world = new World()
    const a = world.owner("a")
    a.freeze("suspended", world.at)
    world.advance(5000)
    a.thaw(world.at)
    world.send(a, { type: "release" })
    expect(world.next(a).command.type).toBe("read")
    world.until(() => a.phase === "idle")
    expect(result(a)).toBe("released")
  })

  // Tests rule 11: A release never writes a record that needs what isn't known.
  it("never writes a record that needs what this release doesn't know", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(1500)
    const foreign = JSON.stringify({ ...world.store.body, needs: ["heartbeat"] })
    world.store.put(foreign, world.at)
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(result(a)).toBe("unknown")
    expect(world.store.text).toBe(foreign)
  })

  it("a key is free for the next as soon as it is released", () => {
    const world = new World({ clock: "exact", spacing: 0 })
    const a = world.owner("a")
    const before = a.token!
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    const at = world.at
    const b = world.owner("b")
    expect(world.at - at).toBeLessThan(100)
    expect(b.token).toBeGreaterThan(before)
  })
})

describe("rule 11: a release after one whose end nobody could tell", () => {
  /** It has released while its network was down, for longer than a release takes. */
  const unheard = () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "down"
    world.send(a, { type: "release", note: "n" })
    world.until(() => a.phase === "idle")
    expect(result(a)).toBe("unknown")
    a.network = "held"
    return { world, a }
  }

  // Tests rule 11: A release after one that nobody could tell the end of looks first, and leaves what is its own.
  it("looks, and leaves a key that is still its own, with what the first was to say", () => {
    const { world, a } = unheard()
    const b = world.waiter("b")
    a.network = "up"
    world.send(a, { type: "release" })
    expect(world.next(a).command.type).toBe("read")
    world.until(() => a.phase === "idle")
    expect(result(a)).toBe("released")
    world.until(() => b.holds(world.at))
    expect(b.last("Acquired")).toMatchObject({ how: "granted" })
    expect(b.state.phase).toMatchObject({ hold: { note: "n" } })
  })

  it("learns that the first landed after all", () => {
    const world = new World()
    const a = world.owner("a")
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "release" })
    world.loseAnswer(world.nextWrite(a))
    a.network = "down"
    world.until(() => a.phase === "idle")
    expect(result(a)).toBe("unknown")
    a.network = "up"
    const writes = world.store.history.length
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(result(a)).toBe("released")
    expect(world.store.history).toHaveLength(writes)
  })

  it("is unknown for good once another has the key", () => {
    const { world, a } = unheard()
    world.advance(60_000)
    const b = world.owner("b")
    a.network = "up"
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(a.count("Released")).toBe(2)
    expect(b.holds(world.at)).toBe(true)
    const requests = world.requests.filter(({ process }) => process === a).length
    world.send(a, { type: "release" })
    expect(world.requests.filter(({ process }) => process === a)).toHaveLength(requests)
  })

  it("never takes back what this process asked for since", () => {
    const { world, a } = unheard()
    world.send(a, acquire())
    world.send(a, { type: "release" })
    expect(a.phase).toBe("seeking")
  })
})

describe("rule 11: delete on release", () => {
  // Tests rule 11: A record is deleted only on the known generation, and only where the store honours that.
  it("deletes the record on the generation that it knows", () => {
    const world = new World()
    const a = world.owner("a", { deletes: true })
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(result(a)).toBe("released")
    expect(world.store.text).toBeUndefined()
  })

  it("never where the store doesn't honour the precondition of a delete: the configuration says so, and a record stays", () => {
    const world = new World()
    const a = world.owner("a", { deletes: false })
    world.send(a, { type: "release" })
    world.until(() => a.phase === "idle")
    expect(world.store.body["ownerId"]).toBeNull()
    expect(world.requests.some(({ command }) => command.type === "remove")).toBe(false)
  })

  it("hands over to a waiter all the same", () => {
    const world = new World()
    const a = world.owner("a", { deletes: true })
    const b = world.waiter("b", { deletes: true })
    world.until(() => a.count("ReleaseRequested") > 0)
    world.send(a, { type: "release" })
    world.until(() => b.holds(world.at))
    expect(b.last("Acquired")).toMatchObject({ how: "granted" })
  })

  // Tests rule 11: A delete that a mark overtook becomes a grant.
  it("a delete that a mark overtook is refused, and becomes a grant", () => {
    const world = new World()
    const a = world.owner("a", { deletes: true })
    world.advance(2200)
    a.network = "held"
    const b = world.waiter("b")
    world.send(a, { type: "release" })
    const removal = world.nextWrite(a)
    expect(removal.command.type).toBe("remove")
    a.network = "up"
    world.answer(removal)
    expect(removal.result?.kind).toBe("refused")
    world.until(() => b.holds(world.at))
    expect(a.last("Granted")).toMatchObject({ how: "grant" })
  })

  it("whose answer is lost is released once the record is seen to be gone", () => {
    const world = new World()
    const a = world.owner("a", { deletes: true })
    world.advance(2000)
    a.network = "held"
    world.send(a, { type: "release" })
    world.loseAnswer(world.nextWrite(a))
    world.answer(world.next(a, "read"))
    expect(result(a)).toBe("released")
  })

  it("the next acquire of the same process is warm, and creates", () => {
    const world = new World()
    const a = world.owner("a", { deletes: true })
    world.send(a, { type: "release" })
    world.advance(4000)
    const before = world.requests.length
    world.send(a, acquire())
    world.advance(100)
    expect(world.requests.slice(before).map(({ command }) => command.type)).toEqual(["put"])
    expect(a.last("Acquired")).toMatchObject({ how: "created" })
  })
})

import { describe, expect, it } from "vitest"
import { counter, cutOff, gate, statesOf, World } from "./world.ts"

describe("work that ignores that it should end", () => {
  // Tests input: A use may never end during a handoff; a use, checkpoint or release may come from inside a turn.
  // Tests chart: A caller is answered only by a checkpoint that was begun after the call.
  it("is stuck: drawn, reported, its signal aborted, and its lease renewed until it ends; then it is saved and moves", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const b = await world.manager("b", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const states = statesOf(handle)
    const going = gate()
    const seen: string[] = []
    const use = handle.use(async (state, { signal }) => {
      signal.addEventListener("abort", () => seen.push(`aborted at ${world.time.mono() - from}`))
      await going.promise
      return (state.n += 5)
    })
    const there = b.use(sandbox, "k", (state) => state.n, { timeout: "10 min" })
    await world.time.advance(100)
    const from = world.time.mono()
    await world.time.advance(5 * 60_000)
    expect(states.at(-1)).toBe("handingOff.stuck.healthy")
    expect(handle.lease.isHeld()).toBe(true)
    expect(world.told("b")).toEqual(["Waiting"])
    expect(world.errors.map(String)).toEqual([expect.stringContaining("ignores that it should end")])
    expect(seen).toHaveLength(1)
    expect(a.stats()).toMatchObject({ handingOff: 1, stuck: 1, turns: 1 })
    going.resolve()
    expect(await world.run(use)).toBe(5)
    expect(await world.run(there)).toBe(5)
    expect(states.slice(-3)).toEqual([
      "handingOff.checkpointing.healthy",
      "handingOff.releasing.healthy",
      "released.handedOff",
    ])
    await world.end()
  })

  it("is told apart by drain, which settles within its grace, and by release", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const going = gate()
    const stuck = await world.run(a.restoreSandbox(sandbox, "stuck"))
    await world.run(a.restoreSandbox(sandbox, "well"))
    const use = stuck.use(() => going.promise)
    const drained = a.drain({ grace: "12 s" })
    expect(await world.took(drained)).toBe(12_000)
    expect(await drained).toEqual({ stuck: ["counter/stuck"] })
    expect(await world.run(stuck.release())).toBe("unknown")
    expect(stuck.lease.isHeld()).toBe(true)
    going.resolve()
    await world.run(use)
    expect(await world.run(stuck.ended)).toEqual({ reason: "drain" })
    expect(await world.run(stuck.release())).toBe("released")
    await world.end()
  })

  it("is also a close that hangs: nothing is released before it ends", async () => {
    const world = new World()
    const going = gate()
    const sandbox = counter({ close: () => going.promise })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const states = statesOf(handle)
    const released = handle.release()
    await world.time.advance(60_000)
    expect(await released).toBe("unknown")
    expect(states.at(-1)).toBe("handingOff.stuck.healthy")
    expect(handle.lease.isHeld()).toBe(true)
    going.resolve()
    expect(await world.run(handle.ended)).toEqual({ reason: "released" })
    expect(states.slice(-2)).toEqual(["handingOff.releasing.healthy", "released.clean"])
    await world.end()
  })

  it("is closed once, also when the lease is lost while close is in progress", async () => {
    const world = new World()
    const going = gate()
    const closed: string[] = []
    const sandbox = counter({
      close: (_state, { reason }) => {
        closed.push(reason)
        return going.promise
      },
    })
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { store: wire })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const released = handle.release()
    await world.time.advance(1000)
    cutOff(wire)
    expect(await world.run(handle.ended)).toMatchObject({ reason: "lost" })
    going.resolve()
    expect(await world.run(released)).toBe("unknown")
    await world.time.advance(1000)
    expect(closed).toEqual(["released"])
    wire.script.heal()
    await world.end()
  })

  it("doesn't keep a manager from being disposed: it says what is stuck, and ends when that does", async () => {
    const world = new World()
    const going = gate()
    const sandbox = counter({ run: () => going.promise })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    expect(await world.took(a[Symbol.asyncDispose]())).toBeLessThanOrEqual(30_000)
    expect(handle.lease.isHeld()).toBe(true)
    going.resolve()
    await world.run(handle.ended)
    await world.end()
  })

  it("loses its lease with the rest when its process is cut off while it is stuck", async () => {
    const world = new World()
    const going = gate()
    const sandbox = counter({ run: () => going.promise })
    const host = world.host("a")
    const a = await world.manager("a", sandbox, { clock: host })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const states = statesOf(handle)
    const released = handle.release()
    await world.time.advance(20_000)
    expect(await released).toBe("unknown")
    host.pause()
    const b = await world.manager("b", sandbox)
    await world.run(b.use(sandbox, "k", ({ n }) => n, { timeout: "2 min" }))
    host.resume()
    await world.time.advance(0)
    expect(states.at(-1)).toBe("released.lost")
    going.resolve()
    await world.end()
  })
})

import { describe, expect, it } from "vitest"
import { encodeName } from "../../src/locks/api/keys.ts"
import { LockLostError, NotDurableError } from "../../src/mod.ts"
import { failPut, failRead } from "../support/scripted-store.ts"
import { counter, cutOff, failure, gate, statesOf, World } from "./world.ts"

describe("a sandbox whose lease is lost", () => {
  // Tests chart: Loss aborts the work, and nothing is saved or released after it.
  it("aborts its work, closes its state and writes no checkpoint", async () => {
    const world = new World()
    const log: string[] = []
    const sandbox = counter({
      async run(_state, { signal }) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve))
        log.push(`run ended: ${(signal.reason as Error).name}`)
      },
      checkpoint: ({ n }, { reason }) => {
        log.push(`checkpoint ${reason}`)
        return { n }
      },
      close: (_state, { reason }) => void log.push(`close ${reason}`),
    })
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { store: wire })
    const b = await world.manager("b", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const states = statesOf(handle)
    await world.run(handle.use((state) => void (state.n = 5)))
    cutOff(wire)
    expect(await world.run(handle.ended)).toMatchObject({ reason: "lost", error: { _tag: "LockLostError" } })
    await world.time.advance(0)
    expect(log).toEqual(["run ended: LockLostError", "close lost"])
    expect(states.at(0)).toBe("owning.running.healthy")
    expect(states.slice(-2)).toEqual(["owning.running.degraded", "released.lost"])
    expect(await world.failure(handle.use(() => 1))).toBeInstanceOf(LockLostError)
    wire.script.heal()
    expect(await world.run(b.use(sandbox, "k", ({ n }) => n, { timeout: "60 s" }))).toBe(0)
    await world.end()
  })

  // Tests chart: No hook but `close` begins past the deadline, also before any timer has fired.
  it("begins neither a last checkpoint nor its run when its process went on past the deadline, whatever comes first then", async () => {
    const world = new World()
    const begun: string[] = []
    const restoring = gate()
    const sandbox = counter({
      restore: async ({ key }) => {
        if (key === "slow") await restoring.promise
        return { n: 0 }
      },
      run: async (_state, { key }) => void begun.push(`run ${key}`),
      checkpoint: ({ n }) => {
        begun.push("checkpoint")
        return { n }
      },
    })
    const host = world.host("a")
    const a = await world.manager("a", sandbox, { clock: host, restoreWithin: "5 min" })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const slow = failure(a.restoreSandbox(sandbox, "slow", { timeout: "10 min" }))
    await world.time.advance(1000)
    host.pause()
    await world.time.advance(60_000)
    host.resume()
    restoring.resolve()
    const drained = a.drain() // before any timer has run
    expect(await world.run(handle.ended)).toMatchObject({ reason: "lost" })
    await world.run(drained)
    await world.run(slow)
    expect(begun).toEqual(["run k"])
    await world.end()
  })

  it("rejects the use in progress at once, also one that ignores its signal, and never answers it", async () => {
    const world = new World()
    const sandbox = counter()
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { store: wire })
    const going = gate()
    let aborted: unknown
    const use = failure(
      a.use(sandbox, "k", async (_state, { signal }) => {
        signal.addEventListener("abort", () => (aborted = signal.reason))
        await going.promise
        return "an answer"
      }),
    )
    await world.time.advance(100)
    cutOff(wire)
    expect(await world.run(use)).toBeInstanceOf(LockLostError)
    expect(aborted).toBeInstanceOf(LockLostError)
    going.resolve()
    await world.time.advance(0)
    wire.script.heal()
    await world.end()
  })

  /**
   * Its record is deleted by hand. One renewal fails, and until it releases it reads nothing that would tell of the
   * loss.
   */
  const loseUnseen = async (world: World, wire: ReturnType<World["wire"]>): Promise<void> => {
    wire.script.onPut({ ...failPut(), of: /k$/ })
    wire.script.onRead(...Array.from({ length: 100 }, () => ({ ...failRead(), of: /k$/ })))
    while (!world.told("a").includes("Degraded")) await world.time.advance(50)
    const ref = { area: "leases", name: encodeName("counter/k") } as const
    const record = await world.run(world.store.read(ref, { deadline: 1000, limit: 65_536 }))
    await world.run(world.store.remove(ref, record.kind === "found" ? record.generation : "", { deadline: 1000 }))
    wire.script.heal()
  }

  it("as only its release finds is free here again", async () => {
    const world = new World()
    const sandbox = counter()
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { store: wire })
    const b = await world.manager("b", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await loseUnseen(world, wire)
    expect(await world.run(handle.release())).toBe("alreadyLost")
    expect(await world.run(handle.ended)).toMatchObject({ reason: "lost", error: { _tag: "LockLostError" } })
    expect(await world.run(a.use(sandbox, "k", ({ n }) => n, { timeout: "1 min" }))).toBe(0)
    expect(await world.run(b.use(sandbox, "k", ({ n }) => n))).toBe(0)
    await world.end()
  })

  it("as only its release finds before it ran tells whoever waits for it", async () => {
    const world = new World()
    const sandbox = counter({
      restore: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    })
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { store: wire })
    const wanted = failure(a.restoreSandbox(sandbox, "k"))
    while (!world.told("a").includes("Acquired")) await world.time.advance(50)
    await loseUnseen(world, wire)
    await world.run(a.drain())
    expect(await world.run(wanted)).toBeInstanceOf(LockLostError)
    await world.end()
  })

  // Tests chart: A key whose lease was lost isn't restored again before its former work has ended.
  it("isn't restored again in this process before its former work has ended, and says that it is stuck", async () => {
    const world = new World()
    const going = gate()
    const log: string[] = []
    const sandbox = counter({
      run: () => going.promise,
      restore: () => {
        log.push("restore")
        return { n: 0 }
      },
      close: (_state, { reason }) => void log.push(`close ${reason}`),
    })
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { store: wire })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    cutOff(wire)
    await world.run(handle.ended)
    wire.script.heal()
    expect(await world.failure(a.restoreSandbox(sandbox, "k", { timeout: "20 s" }))).toMatchObject({
      _tag: "LockTimeoutError",
    })
    expect(world.errors.map(String)).toEqual([expect.stringContaining("ignores that it should end")])
    expect(a.stats()).toMatchObject({ stuck: 1 })
    const again = a.restoreSandbox(sandbox, "k")
    going.resolve()
    await world.run(again)
    expect(log).toEqual(["restore", "close lost", "restore"])
    await world.end()
  })

  it("tells a durable use that it ran and may not be stored", async () => {
    const world = new World()
    const sandbox = counter()
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { store: wire, checkpointWithin: "30 s", killGrace: "60 s" })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    cutOff(wire)
    const error = await world.failure(handle.use((state) => ++state.n, { durable: true }))
    expect(error).toBeInstanceOf(NotDurableError)
    expect((error as Error).cause).toBeInstanceOf(LockLostError)
    await world.run(handle.ended)
    wire.script.heal()
    await world.end()
  })

  it("is taken over by another process after a crash, from the last durable use", async () => {
    const world = new World()
    const sandbox = counter()
    const host = world.host("crashing")
    const a = await world.manager("a", sandbox, { clock: host, ttl: "6 s" })
    const b = await world.manager("b", sandbox, { ttl: "6 s" })
    await world.run(a.use(sandbox, "k", (state) => (state.n += 10), { durable: true }))
    await world.run(a.use(sandbox, "k", (state) => (state.n += 100)))
    host.kill()
    world.managers.splice(0, 1)
    const took = await world.took(
      b.use(sandbox, "k", (state) => {
        expect(state.n).toBe(10)
      }),
    )
    expect(took).toBeLessThan(8000)
    expect(world.told("b")).toEqual(["Waiting", "Acquired"])
    await world.end()
  })
})

describe("a use that ends while its lease is in doubt", () => {
  /** A use that ends just after its machine has slept for 5 s. */
  const slept = async ({ cut }: { readonly cut: boolean }) => {
    const world = new World()
    const sandbox = counter()
    const host = world.host("laptop")
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { clock: host, store: wire })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const going = gate()
    const use = handle.use(async (state) => {
      await going.promise
      return ++state.n
    })
    await world.time.advance(100)
    if (cut) cutOff(wire)
    host.sleep()
    await world.time.advance(5000)
    host.resume()
    going.resolve()
    return { world, use, handle, wire }
  }

  // Tests rule 5: A use that ends while its lease is in doubt answers after the renewal that decides.
  it("answers only once a renewal has decided that it stands", async () => {
    let answered = false
    const { world, use, handle } = await slept({ cut: false })
    const settled = use.then(() => (answered = true))
    expect(handle.lease.isHeld()).toBe(false)
    await Promise.resolve()
    expect(answered).toBe(false)
    await world.run(settled)
    expect(await use).toBe(1)
    expect(handle.lease.isHeld()).toBe(true)
    expect(world.told("a")).toContain("Suspect")
    await world.end()
  })

  it("begins only once a renewal has decided, too", async () => {
    const world = new World()
    const sandbox = counter()
    const host = world.host("laptop")
    const a = await world.manager("a", sandbox, { clock: host })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    host.sleep()
    await world.time.advance(5000)
    host.resume()
    expect(handle.lease.isHeld()).toBe(false)
    expect(await world.run(handle.use((_state, { lease }) => lease.isHeld()))).toBe(true)
    await world.end()
  })

  it("rejects at the deadline where none does", async () => {
    const { world, use, wire } = await slept({ cut: true })
    const error = await world.failure(use)
    expect(error).toBeInstanceOf(LockLostError)
    expect(world.time.mono()).toBeLessThan(31_000)
    wire.script.heal()
    await world.end()
  })
})

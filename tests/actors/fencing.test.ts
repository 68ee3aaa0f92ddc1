// What the head tells a sandbox about other owners, where the lease record can't or doesn't.
import { describe, expect, it } from "vitest"
import { formatHead, parseHead } from "../../src/actors/checkpoints/head/head.ts"
import { headRef } from "../../src/actors/checkpoints/objects/names.ts"
import { encodeName } from "../../src/locks/api/keys.ts"
import { CheckpointInvalidError, CheckpointRejectedError, LockLostError, NotDurableError } from "../../src/mod.ts"
import { hold } from "../support/scripted-store.ts"
import { counter, cutOff, failure, statesOf, World } from "./world.ts"

const lockKey = "counter/k"
const request = { deadline: 1000, limit: 65_536 }

/** Writes over the head as a later owner would: under a greater token and a nonce of its own. */
const claimByAnother = async (world: World): Promise<void> => {
  const ref = headRef(lockKey)
  const answer = await world.store.read(ref, request)
  if (answer.kind !== "found") throw new Error(`the head is ${answer.kind}`)
  const head = parseHead(answer.body, { store: world.store.name, lockKey })
  const claimed = { ...head, token: head.token + 1000, nonce: "another", opId: "another-1", predecessorOpId: head.opId }
  await world.store.put(ref, answer.generation, formatHead({ ...claimed, seq: head.seq + 1 }), request)
}

const deleteRecord = async (world: World): Promise<void> => {
  const ref = { area: "leases", name: encodeName(lockKey) } as const
  const answer = await world.store.read(ref, request)
  if (answer.kind !== "found") throw new Error(`the record is ${answer.kind}`)
  await world.store.remove(ref, answer.generation, request)
}

describe("a sandbox whose head a later owner has claimed", () => {
  // Tests rule 16: A head that a later owner claimed is a lost lease.
  it("has lost its lease, whatever that says of itself: the work is aborted and nothing is overwritten", async () => {
    const world = new World()
    const closed: string[] = []
    const sandbox = counter({ close: (_state, { reason }) => void closed.push(reason) })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.run(handle.use((state) => void (state.n = 1), { durable: true }))
    await world.run(claimByAnother(world))
    const error = await world.failure(handle.use((state) => void (state.n = 2), { durable: true }))
    expect(error).toBeInstanceOf(NotDurableError)
    expect((error as Error).cause).toBeInstanceOf(CheckpointRejectedError)
    expect(await world.run(handle.ended)).toMatchObject({ reason: "lost", error: { _tag: "CheckpointRejectedError" } })
    await world.time.advance(10)
    expect(closed).toEqual(["lost"])
    expect(await world.saved(sandbox, "k")).toEqual({ n: 1 })
    expect(await world.run(a.whereIs(sandbox, "k"))).toBeUndefined()
    await world.end()
  })

  it("has lost it too where nobody can tell whether its last write came before that claim", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    const held = hold()
    world.store.script.onPut({ ...held, of: /\/head$/ })
    const durable = failure(handle.use((state) => void (state.n = 1), { durable: true }))
    await world.run(held.arrived)
    await world.run(claimByAnother(world))
    await world.run(claimByAnother(world)) // over a write that the sandbox knows nothing of
    held.answer()
    expect(((await world.run(durable)) as Error).cause).toMatchObject({ _tag: "CheckpointUnknownError" })
    expect(await world.run(handle.ended)).toMatchObject({ reason: "lost" })
    await world.end()
  })

  it("frees its key once: the next sandbox of it is not forgotten", async () => {
    const world = new World()
    const broken = Promise.withResolvers<void>()
    let runs = 0
    const sandbox = counter({ run: () => (runs++ === 0 ? broken.promise : Promise.resolve()) })
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.run(handle.use((state) => void (state.n = 1)))
    const written = hold()
    world.store.script.onPut({ ...written, of: /head$/ })
    const saving = failure(handle.checkpoint())
    await world.run(written.arrived)
    await world.run(claimByAnother(world))
    const released = hold()
    world.store.script.onPut({ ...released, of: /counter/ })
    broken.reject(new Error("as scripted"))
    await world.run(released.arrived)
    written.answer()
    expect(await world.run(handle.ended)).toMatchObject({ reason: "lost" })
    released.deliver()
    const again = a.use(sandbox, "k", (state) => void (state.n = 7), { timeout: "2 min" })
    await world.time.advance(10)
    released.answer()
    await world.time.advance(500)
    expect(Array.from(a.sandboxes(), ({ key }) => key)).toEqual(["k"])
    await world.run(again)
    expect(await saving).toBeInstanceOf(Error)
    await world.end()
  })
})

describe("a record that was deleted by hand under a living owner", () => {
  const deleted = async (world: World, hooks: Parameters<typeof counter>[0] = {}) => {
    const sandbox = counter(hooks)
    const host = world.host("paused")
    const a = await world.manager("a", sandbox, { clock: host })
    const b = await world.manager("b", sandbox)
    await world.run(a.use(sandbox, "k", (state) => void (state.n = 3), { durable: true }))
    host.pause()
    await world.run(deleteRecord(world))
    return { sandbox, host, a, b }
  }

  // Tests rule 15: After a deletion by hand the next owner runs only when the former lease is over.
  it("makes the next owner claim at once, and run only when that one's lease is over", async () => {
    const world = new World()
    const { sandbox, host, a, b } = await deleted(world)
    const use = b.use(sandbox, "k", ({ n }) => n, { timeout: "2 min" })
    await world.time.advance(100)
    const states = statesOf([...b.sandboxes()][0]!)
    const took = await world.took(use)
    expect(took).toBeGreaterThan(29_000)
    expect(took).toBeLessThan(32_000)
    expect(await use).toBe(3)
    expect(new Set(states)).toEqual(new Set(["owning.restoring.healthy", "owning.running.healthy"]))
    host.resume()
    await world.time.advance(10)
    expect(a.stats()).toMatchObject({ owning: 0 })
    await world.end()
  })

  it("isn't forgotten by a call that gives up meanwhile: nothing is released before that time", async () => {
    const world = new World()
    let restores = 0
    const { sandbox, host, b } = await deleted(world, {
      restore: ({ checkpoint }) => {
        restores++
        return { n: checkpoint?.n ?? 0 }
      },
    })
    const from = world.time.mono()
    expect(await world.failure(b.restoreSandbox(sandbox, "k", { timeout: "5 s" }))).toMatchObject({
      _tag: "LockTimeoutError",
    })
    expect(restores).toBe(1)
    await world.run(b.use(sandbox, "k", ({ n }) => n, { timeout: "2 min" }))
    expect(world.time.mono() - from).toBeGreaterThan(29_000)
    expect(restores).toBe(2) // one of the former owner's, one for the last call: none for the call that gave up
    host.resume()
    await world.time.advance(10)
    await world.end()
  })

  it("keeps no process that drains: its key is free at once, and whoever takes it waits as long", async () => {
    const world = new World()
    const { sandbox, host, b } = await deleted(world)
    const c = await world.manager("c", sandbox)
    const opening = b.restoreSandbox(sandbox, "k", { timeout: "2 min" }).catch((error: unknown) => error)
    await world.time.advance(5000)
    const drained = b.drain({ grace: "5 s" })
    expect(await world.took(drained)).toBeLessThan(500)
    expect(await drained).toEqual({ stuck: [] })
    expect(await opening).toMatchObject({ _tag: "HandingOffError" })
    const took = await world.took(c.use(sandbox, "k", ({ n }) => n, { timeout: "2 min" }))
    expect(took).toBeGreaterThan(29_000)
    host.resume()
    await world.time.advance(10)
    await world.end()
  })

  it("isn't forgotten by one whose claim fails: the next owner waits as long", async () => {
    const world = new World()
    const sandbox = counter({ checkpoint: ({ n }) => ({ n, text: "x".repeat(50_000) }) })
    const host = world.host("paused")
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { clock: host })
    const b = await world.manager("b", sandbox, { store: wire })
    const c = await world.manager("c", sandbox)
    await world.run(a.use(sandbox, "k", (state) => void (state.n = 3), { durable: true }))
    host.pause()
    await world.run(deleteRecord(world))
    const from = world.time.mono()
    wire.script.onRead({ instead: { kind: "absent" }, of: /\/\d+-\d+-/ }) // the content, to this one alone
    expect(await world.failure(b.restoreSandbox(sandbox, "k", { timeout: "2 min" }))).toMatchObject({
      _tag: "CorruptCheckpointError",
    })
    expect(await world.run(c.use(sandbox, "k", ({ n }) => n, { timeout: "2 min" }))).toBe(3)
    expect(world.time.mono() - from).toBeGreaterThan(29_000)
    host.resume()
    await world.time.advance(10)
    await world.end()
  })

  it("isn't forgotten by a call that is cancelled while it makes a record: the next owner waits all the same", async () => {
    const world = new World()
    const sandbox = counter()
    const host = world.host("paused")
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { clock: host })
    const b = await world.manager("b", sandbox, { store: wire })
    const c = await world.manager("c", sandbox)
    await world.run(a.use(sandbox, "k", (state) => void (state.n = 3), { durable: true }))
    await world.time.advance(100)
    host.pause()
    await world.run(deleteRecord(world))
    const from = world.time.mono()
    const held = hold()
    wire.script.onPut({ ...held, of: /k$/ })
    const cancel = new AbortController()
    const cancelled = failure(b.restoreSandbox(sandbox, "k", { signal: cancel.signal }))
    await world.run(held.arrived)
    held.deliver()
    cancel.abort()
    expect(await world.run(cancelled)).toMatchObject({ _tag: "LockCancelledError" })
    held.answer()
    await world.time.advance(1000)
    expect(world.told("b").at(-1)).toBe("GaveUp")
    expect(await world.run(c.use(sandbox, "k", ({ n }) => n, { timeout: "2 min" }))).toBe(3)
    expect(world.events.find(({ ownerId, type }) => ownerId === "c" && type === "Acquired")).toMatchObject({
      how: "free",
    })
    expect(world.time.mono() - from).toBeGreaterThan(29_000)
    host.resume()
    await world.time.advance(10)
    await world.end()
  })

  // Tests rule 15: A head is claimed at once, and run once the record has stood for the head's ttl.
  it("isn't forgotten when the one that waits crashes, though its own lease is shorter", async () => {
    const world = new World()
    const sandbox = counter()
    const [paused, killed] = [world.host("paused"), world.host("killed")]
    const a = await world.manager("a", sandbox, { clock: paused, ttl: "1 min" })
    const b = await world.manager("b", sandbox, { clock: killed, ttl: "6 s" })
    const c = await world.manager("c", sandbox, { ttl: "6 s" })
    await world.run(a.use(sandbox, "k", (state) => void (state.n = 3), { durable: true }))
    paused.pause()
    await world.run(deleteRecord(world))
    const from = world.time.mono()
    void failure(b.restoreSandbox(sandbox, "k", { timeout: "2 min" }))
    await world.time.advance(3000)
    killed.kill()
    world.managers.splice(world.managers.indexOf(b), 1) // nobody closes it
    expect(await world.run(c.use(sandbox, "k", ({ n }) => n, { timeout: "2 min" }))).toBe(3)
    expect(world.events.find(({ ownerId, type }) => ownerId === "c" && type === "Acquired")).toMatchObject({
      how: "takeover",
    })
    expect(world.time.mono() - from).toBeGreaterThan(59_000)
    paused.resume()
    await world.time.advance(10)
    await world.end()
  })

  it("no longer matters to one that loses its own lease while it waits", async () => {
    const world = new World()
    const sandbox = counter()
    const host = world.host("paused")
    const wire = world.wire()
    const a = await world.manager("a", sandbox, { clock: host, ttl: "10 min" })
    const b = await world.manager("b", sandbox, { store: wire })
    await world.run(a.use(sandbox, "k", () => 0))
    host.pause()
    await world.run(deleteRecord(world))
    const call = failure(b.restoreSandbox(sandbox, "k", { timeout: "1 h" }))
    await world.time.advance(1000)
    cutOff(wire)
    expect(await world.run(call)).toBeInstanceOf(LockLostError)
    await world.time.advance(1000)
    expect([...b.sandboxes()]).toEqual([])
    wire.script.heal()
    host.resume()
    await world.time.advance(10)
    await world.end()
  })
})

describe("a checkpoint over the cap", () => {
  it("is never stored, and the sandbox goes on", async () => {
    const world = new World()
    const sandbox = counter({ checkpoint: ({ n }) => ({ n, text: "x".repeat(n) }) })
    const a = await world.manager("a", sandbox, { maxCheckpoint: 1000 })
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.run(handle.use((state) => void (state.n = 10), { durable: true }))
    await world.run(handle.use((state) => void (state.n = 2000)))
    expect(await world.failure(handle.checkpoint())).toBeInstanceOf(CheckpointInvalidError)
    expect(await world.saved(sandbox, "k")).toMatchObject({ n: 10 })
    expect(await world.run(handle.use(({ n }) => n))).toBe(2000)
    await world.run(handle.use((state) => void (state.n = 20), { durable: true }))
    expect(await world.saved(sandbox, "k")).toMatchObject({ n: 20 })
    await world.end()
  })
})

describe("saved state that can't be restored", () => {
  it("is an error to whoever asks for the sandbox, never an empty start, and the key is released", async () => {
    const world = new World()
    const sandbox = counter()
    const a = await world.manager("a", sandbox)
    const handle = await world.run(a.restoreSandbox(sandbox, "k"))
    await world.run(handle.use((state) => void (state.n = 1)))
    await world.run(handle.release())
    const ref = headRef(lockKey)
    const answer = await world.store.read(ref, request)
    if (answer.kind !== "found") throw new Error("no head")
    await world.store.put(ref, answer.generation, new TextEncoder().encode("not a head"), request)
    const error = await world.failure(a.restoreSandbox(sandbox, "k"))
    expect(error).toMatchObject({ _tag: "CorruptCheckpointError" })
    expect(await world.run(a.whereIs(sandbox, "k"))).toBeUndefined()
    await world.end()
  })
})

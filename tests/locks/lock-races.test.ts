/**
 * Races between processes, each with its own clock and its own way to one store: whatever happens, one owner at most.
 */
import { describe, expect, it } from "vitest"
import { LockContentionError, LockTimeoutError } from "../../src/locks/api/errors.ts"
import { encodeName } from "../../src/locks/api/keys.ts"
import type { Lease } from "../../src/locks/api/lock.ts"
import type { LockOptions } from "../../src/locks/engine/options.ts"
import { StoreLock } from "../../src/locks/lock/store-lock.ts"
import { memoryStore } from "../../src/locks/stores/memory-store.ts"
import { SeededRandom } from "../../src/runtime/time/random.ts"
import { VirtualHost, type VirtualHostOptions } from "../../src/runtime/time/virtual-host.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"
import { eventsOf, failure, KEY, spaced, types } from "../support/lock-world.ts"
import {
  failApplied,
  hold,
  late,
  lateAnswer,
  loseAnswer,
  loseRequest,
  type ScriptedStore,
  scripted,
} from "../support/scripted-store.ts"

interface Process {
  readonly host: VirtualHost
  readonly store: ScriptedStore
  readonly lock: StoreLock
}

/**
 * A world of processes; `capabilities` as of a store that they can't tell the time of exactly, or of a memory store.
 */
class Fleet {
  readonly time: VirtualTime
  readonly #store: ReturnType<typeof memoryStore>
  readonly #coarse: boolean

  constructor({ seed = 1, coarse = false }: { readonly seed?: number; readonly coarse?: boolean } = {}) {
    this.time = new VirtualTime({ seed, bootClock: false })
    this.#store = memoryStore({ clock: this.time })
    this.#coarse = coarse
  }

  process(id: string, options: VirtualHostOptions = {}, lockOptions: LockOptions = {}): Process {
    const host = new VirtualHost(this.time, { name: id, ...options })
    const store = scripted(this.#store, host, this.#coarse ? { capabilities: spaced } : {})
    return { host, store, lock: new StoreLock(KEY, { store, clock: host, incarnation: { id }, ...lockOptions }) }
  }

  async record(): Promise<{ readonly generation: string; readonly body: Record<string, unknown> } | undefined> {
    const answer = await this.#store.read(record, { limit: 65_536, deadline: 1000 })
    if (answer.kind !== "found") return undefined
    return { generation: answer.generation, body: JSON.parse(new TextDecoder().decode(answer.body)) }
  }

  /** What an operator or a stranger does: writes the record, or deletes it, in place of the one that is there. */
  async meddle(body: Record<string, unknown> | undefined): Promise<void> {
    const generation = (await this.record())?.generation ?? "0"
    if (body === undefined) await this.#store.remove(record, generation, { deadline: 1000 })
    else await this.#store.put(record, generation, new TextEncoder().encode(JSON.stringify(body)), { deadline: 1000 })
  }
}

const record = { area: "leases", name: encodeName(KEY) } as const

describe("two processes that", () => {
  it("create at once: one owns, the other waits and is handed the key", async () => {
    const fleet = new Fleet()
    const [a, b] = [fleet.process("a"), fleet.process("b")]
    for (const { store } of [a, b]) store.script.onRead(lateAnswer(100)) // both see nothing
    const calls = [a, b].map(async ({ lock }) => {
      lock.onReleaseRequested(async () => void (await lock.release()))
      return lock.acquire()
    })
    const leases = await fleet.time.runUntil(Promise.all(calls))
    expect(leases.filter((lease) => lease.isHeld())).toHaveLength(1)
    expect(leases.map((lease) => lease.how).sort()).toEqual(["created", "granted"])
  })

  it("become the waiter at once: one waits, the other is told who does", async () => {
    const fleet = new Fleet()
    const [a, b, c] = [fleet.process("a"), fleet.process("b"), fleet.process("c")]
    const lease = await fleet.time.runUntil(a.lock.acquire())
    for (const { store } of [b, c]) store.script.onRead(lateAnswer(100))
    const outcomes = [b, c].map(({ lock }) => lock.acquire({ contention: "fail" }).catch((error: unknown) => error))
    await fleet.time.advance(1000)
    await fleet.time.runUntil(lease.release())
    const results = await fleet.time.runUntil(Promise.all(outcomes))
    const contended = results.filter((result) => result instanceof LockContentionError)
    expect(contended).toHaveLength(1)
    const winner = results.findIndex((result) => !(result instanceof Error))
    expect(contended[0]).toMatchObject({ waiterId: ["b", "c"][winner], owner: { ownerId: "a" } })
  })
})

describe("an owner", () => {
  it("whose key is stolen loses it, and writes nothing over the thief", async () => {
    const fleet = new Fleet()
    const { lock } = fleet.process("a")
    const lease = await fleet.time.runUntil(lock.acquire())
    const thief = { ownerId: "thief", expiresAt: fleet.time.read().wall / 1000 + 60 }
    await fleet.meddle({ ...thief, waitingOwnerId: null, waiterExpiresAt: null })
    await fleet.time.advance(15_000)
    expect(lease.isHeld()).toBe(false)
    expect(lease.signal.reason).toMatchObject({ _tag: "LockLostError", reason: "taken", owner: { ownerId: "thief" } })
    expect((await fleet.record())?.body).toMatchObject(thief)
  })

  it("whose record is deleted by hand loses the key, and nobody who saw it gets it before the lease is over", async () => {
    const fleet = new Fleet()
    const [a, b] = [fleet.process("a"), fleet.process("b")]
    a.store.script.onRead({}, loseRequest(), loseRequest(), loseRequest()) // it learns late
    const lease = await fleet.time.runUntil(a.lock.acquire())
    const acquiring = b.lock.acquire({ timeout: "1 min" })
    await fleet.time.advance(300)
    await fleet.meddle(undefined)
    const next = await fleet.time.runUntil(acquiring)
    expect(lease.isHeld()).toBe(false)
    expect(lease.signal.aborted).toBe(true)
    expect(next.isHeld()).toBe(true)
    expect(next.token).toBeGreaterThan(lease.token)
  })

  // Tests rule 11: A release is idempotent, and waits for the write in flight, not for its retries.
  it("that releases while the answer to its renewal is on the way leaves a released record", async () => {
    const fleet = new Fleet()
    const { lock, store } = fleet.process("a")
    const lease = await fleet.time.runUntil(lock.acquire())
    store.script.onPut(lateAnswer(800))
    const renewal = failure(lease.renew())
    const release = lease.release()
    expect(lease.isHeld()).toBe(false)
    expect(await fleet.time.runUntil(release)).toBe("released")
    expect(await renewal).toMatchObject({ _tag: "LockNotHeldError" })
    expect((await fleet.record())?.body).toMatchObject({ ownerId: null, ended: { token: lease.token } })
  })

  it("that hears nothing of its grant learns its fate from the next owner's record", async () => {
    const fleet = new Fleet()
    const [a, b] = [fleet.process("a"), fleet.process("b")]
    const lease = await fleet.time.runUntil(a.lock.acquire())
    const waiting = b.lock.acquire()
    await fleet.time.advance(1000)
    const events = eventsOf(a.lock)
    a.store.script.onPut(loseAnswer())
    const release = lease.release()
    const next = await fleet.time.runUntil(waiting)
    expect(next).toMatchObject({ how: "granted" })
    expect(await fleet.time.runUntil(release)).toBe("released")
    expect(types(events)).toEqual(["Granted", "Released"])
  })

  it("hands over to a waiter that has died, and the key is free again within seconds", async () => {
    const fleet = new Fleet()
    const [a, b, c] = [fleet.process("a"), fleet.process("b"), fleet.process("c")]
    const lease = await fleet.time.runUntil(a.lock.acquire())
    void b.lock.acquire().catch(() => {})
    await fleet.time.advance(1000)
    b.host.kill()
    expect(await fleet.time.runUntil(lease.release())).toBe("released")
    expect((await fleet.record())?.body).toMatchObject({ ownerId: "b" })
    const from = fleet.time.mono()
    const next = await fleet.time.runUntil(c.lock.acquire())
    expect(next).toMatchObject({ how: "takeover" })
    expect(fleet.time.mono() - from).toBeLessThanOrEqual(17_500)
  })

  it("that dies is followed by the one that waits already, and not before its lease is over", async () => {
    const fleet = new Fleet()
    const [a, b] = [fleet.process("a"), fleet.process("b")]
    const lease = await fleet.time.runUntil(a.lock.acquire())
    const waiting = b.lock.acquire({ timeout: "1 min" })
    await fleet.time.advance(5000)
    a.host.kill()
    const next = await fleet.time.runUntil(waiting)
    expect(next).toMatchObject({ how: "takeover" })
    expect(lease.isHeld()).toBe(false)
  })
})

describe("a process that gave up", () => {
  // Tests rule 8: An acquire can be cancelled at every stage, and leaves nothing.
  it.each(["where there was no record", "where there was a released one"])(
    "doesn't own what its late write claims, %s",
    async (where) => {
      const fleet = new Fleet()
      const [a, b] = [fleet.process("a"), fleet.process("b")]
      if (where.includes("released")) {
        const before = await fleet.time.runUntil(b.lock.acquire())
        await fleet.time.runUntil(before.release())
      }
      a.store.script.onPut(late(8000))
      const error = await fleet.time.runUntil(failure(a.lock.acquire({ timeout: "3 s" })))
      expect(error.retryable).toBe(true)
      await fleet.time.advance(20_000)
      expect((await fleet.record())?.body).toMatchObject({ ownerId: null, waitingOwnerId: null })
      expect((await fleet.time.runUntil(b.lock.acquire({ timeout: 0 }))).isHeld()).toBe(true)
    },
  )

  it("gives back what its claim got after its budget", async () => {
    const fleet = new Fleet()
    const { lock, store } = fleet.process("a")
    const claim = hold()
    store.script.onPut({ ...failApplied(), ...claim })
    const call = failure(lock.acquire({ timeout: "2 s" }))
    await claim.arrived
    claim.deliver()
    await fleet.time.runUntil(call)
    claim.answer()
    await fleet.time.advance(5000)
    expect((await fleet.record())?.body).toMatchObject({ ownerId: null })
  })
})

describe("clocks that are a minute apart", () => {
  it.each([-60_000, 60_000])(
    "change nothing of a handoff and a takeover (the other's is off by %i ms)",
    async (wallOffset) => {
      for (const coarse of [false, true]) {
        const fleet = new Fleet({ coarse })
        const [a, b] = [fleet.process("a"), fleet.process("b", { wallOffset })]
        const first = await fleet.time.runUntil(a.lock.acquire())
        a.lock.onReleaseRequested(async () => void (await first.release()))
        const second = await fleet.time.runUntil(b.lock.acquire())
        expect(second).toMatchObject({ how: "granted" })
        await fleet.time.advance(40_000)
        expect(second.isHeld()).toBe(true)
        const from = fleet.time.mono()
        b.host.kill()
        const third = await fleet.time.runUntil(a.lock.acquire({ timeout: "2 min" }))
        expect(third).toMatchObject({ how: "takeover" })
        expect(second.isHeld()).toBe(false)
        expect(fleet.time.mono() - from).toBeLessThan(35_000)
      }
    },
  )

  it("and faster or slower by 5 %, don't make two owners", async () => {
    const fleet = new Fleet({ coarse: true })
    const [fast, slow] = [fleet.process("fast", { rate: 1.05 }), fleet.process("slow", { rate: 0.95 })]
    const first = await fleet.time.runUntil(slow.lock.acquire())
    slow.host.pause()
    const second = await fleet.time.runUntil(fast.lock.acquire({ timeout: "2 min" }))
    expect([first.isHeld(), second.isHeld()]).toEqual([false, true])
  })
})

describe("a process that knows only the four published fields", () => {
  const stranger = (fleet: Fleet): Record<string, unknown> => ({
    ownerId: "stranger",
    expiresAt: fleet.time.read().wall / 1000 + 30,
    waitingOwnerId: null,
    waiterExpiresAt: null,
  })

  // Tests record: A process that knows only the four published fields can own, wait for and be handed a key.
  it("owns for as long as it renews, however far its clock is behind", async () => {
    const fleet = new Fleet()
    const { lock } = fleet.process("a")
    await fleet.meddle(stranger(fleet))
    const waiting = failure(lock.acquire({ timeout: "3 min" }))
    for (let renewal = 0; renewal < 20; renewal++) {
      await fleet.time.advance(10_000)
      const { body } = (await fleet.record())!
      await fleet.meddle({ ...body, expiresAt: fleet.time.read().wall / 1000 - 100 + renewal })
    }
    expect(await fleet.time.runUntil(waiting)).toBeInstanceOf(LockTimeoutError)
  })

  it("is taken over once it was quiet for the longest ttl of strangers", async () => {
    const fleet = new Fleet()
    const { lock } = fleet.process("a")
    await fleet.meddle(stranger(fleet))
    const from = fleet.time.mono()
    const lease = await fleet.time.runUntil(lock.acquire({ timeout: "3 min" }))
    expect(lease.how).toBe("takeover")
    expect(fleet.time.mono() - from).toBeGreaterThanOrEqual(60_000)
  })

  it("is handed the key by a reservation that only it may claim", async () => {
    const fleet = new Fleet()
    const [a, b] = [fleet.process("a"), fleet.process("b")]
    const lease = await fleet.time.runUntil(a.lock.acquire())
    const { body } = (await fleet.record())!
    const until = fleet.time.read().wall / 1000 + 12
    await fleet.meddle({ ...body, waitingOwnerId: "stranger", waiterExpiresAt: until })
    const events = eventsOf(a.lock)
    a.lock.onReleaseRequested(async () => void (await lease.release()))
    await fleet.time.advance(2000)
    expect(types(events)).toEqual(["ReleaseRequested", "Granted", "Released"])
    expect((await fleet.record())?.body).toMatchObject({ ownerId: null, waitingOwnerId: "stranger" })
    expect(await fleet.time.runUntil(failure(b.lock.acquire({ contention: "fail" })))).toMatchObject({
      waiterId: "stranger",
    })
  })
})

describe("whatever happens to three processes and their requests", () => {
  const seeds = Array.from({ length: 12 }, (_, index) => index + 1)

  // Tests simulations: No interleaving of processes, messages, pauses and strangers breaks an invariant.
  // Tests locks: At most one of several processes holds a key, whatever happens to them and their requests.
  it.each(seeds)("at most one of them holds the key (seed %i)", async (seed) => {
    const fleet = new Fleet({ seed, coarse: seed % 2 === 0 })
    const random = new SeededRandom(seed)
    const pick = <A>(items: readonly A[]): A => items[random.uint32() % items.length]!
    const processes = ["a", "b", "c"].map((id) => fleet.process(id, {}, { ttl: "8 s" }))
    const leases = new Map<Process, Lease>()
    const wants = new Set<Process>()
    let [handed, holders] = [0, 0]
    const faults = [loseAnswer, loseRequest, () => late(3000), () => lateAnswer(2000), () => late(12_000)]
    const moves: ((process: Process) => void)[] = [
      (process) => {
        if (wants.has(process)) return
        wants.add(process)
        const keep = (lease: Lease): void => void (handed++, leases.set(process, lease))
        void process.lock
          .acquire({ timeout: "20 s", contention: "retry" })
          .then(keep, () => {})
          .finally(() => wants.delete(process))
      },
      ({ lock }) => void lock.release(),
      ({ store }) => store.script.onPut(pick(faults)()),
      ({ store }) => store.script.onRead(pick(faults)()),
      ({ host }) => host.pause(),
      ({ host }) => host.sleep(),
      ({ host }) => host.resume(),
      ({ host }) => host.resume(),
      ({ host }) => host.stepWall(pick([-60_000, 60_000])),
    ]
    for (let step = 0; step < 300; step++) {
      pick(moves)(pick(processes))
      await fleet.time.advance(pick([10, 100, 500, 1500]))
      const held = [...leases.values()].filter((lease) => lease.isHeld())
      holders += held.length
      expect(held.length).toBeLessThanOrEqual(1)
    }
    expect(handed).toBeGreaterThan(2)
    expect(holders).toBeGreaterThan(10)
  })
})

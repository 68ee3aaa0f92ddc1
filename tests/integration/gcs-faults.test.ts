// Leasehold on the real fake-gcs-server behind the fault proxy: what a network that fails makes of requests, of the
// promises of a lock, and of two real processes of which one is cut off. Waits are for events; how long a promise took
// is measured.
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest"
import { StoreMisconfiguredError, StoreUnavailableError } from "../../src/locks/api/errors.ts"
import { GcsLock, gcsStore } from "../../src/locks/stores/gcs/mod.ts"
import { ABSENT, type CheckpointStore, type LeaseStore, type ObjectRef } from "../../src/locks/stores/port.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import type { Fault } from "../support/fault-proxy/fault.ts"
import { WriteLimiter } from "../support/fault-proxy/limiter.ts"
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy/proxy.ts"
import type { LockAct } from "./lock-worker.ts"
import { type GcsServer, startGcsServer } from "./support/gcs-server.ts"
import { LockProcess, type Said } from "./support/lock-process.ts"
import type { Runtime } from "./support/spawn.ts"

const bucket = "leasehold-faults"
/** The shortest that a store with a coarse clock takes: what is waited for here is mostly a lease that runs out. */
const ttl = 6000
/** A busy machine's own delays. */
const SLACK_MS = 10_000

let server: GcsServer
const unhandled: unknown[] = []
const onUnhandled = (reason: unknown): void => void unhandled.push(reason)

beforeAll(async () => {
  process.on("unhandledRejection", onUnhandled)
  server = await startGcsServer()
  await server.createBucket(bucket)
})

afterAll(async () => {
  process.off("unhandledRejection", onUnhandled)
  await server[Symbol.asyncDispose]()
})

type Store = LeaseStore & CheckpointStore

/** A proxy, a store behind it, and one that isn't. */
async function scene(context: TestContext): Promise<{ proxy: FaultProxy; store: Store; direct: Store }> {
  const proxy = await startFaultProxy({ target: server.endpoint })
  const prefix = liveClock.id()
  const stores = [proxy.url, server.endpoint].map((endpoint) => gcsStore({ bucket, prefix, endpoint }))
  const [store, direct] = stores as [Store, Store]
  await Promise.all(stores.map((each) => each.start({ deadline: 10_000 })))
  context.onTestFinished(async () => {
    await Promise.all(stores.map((each) => each.close()))
    await proxy[Symbol.asyncDispose]()
  })
  return { proxy, store, direct }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const TURNS = 20
/** For calls that are answered, however late. */
const within = { deadline: 20_000 }
/** For calls that may end unanswered, at their deadline. */
const soon = { deadline: 1000 }
const named = (name: string): ObjectRef => ({ area: "leases", name })

/** At the same time, for most of each is waiting: the longest begin first. */
describe.concurrent("on the real server, behind the fault proxy:", () => {
  describe("a lock whose server falls silent", () => {
    const silences: readonly (readonly [string, (proxy: FaultProxy) => void])[] = [
      ["applies requests and never answers", (proxy) => void proxy.always({ fault: { kind: "stall", when: "after" } })],
      ["answers by half", (proxy) => void proxy.always({ fault: { kind: "half" } })],
      ["is cut off with its connections open", (proxy) => proxy.partition()],
    ]

    const timed = async (promise: Promise<unknown>): Promise<{ how: unknown; ms: number }> => {
      const start = liveClock.mono()
      const how = await promise.then(
        (value) => value,
        (error: unknown) => error,
      )
      return { how, ms: liveClock.mono() - start }
    }

    it.each(silences)("%s: acquire, renew and release settle in time", async (_, silence) => {
      const proxy = await startFaultProxy({ target: server.endpoint })
      const place = { bucket, prefix: liveClock.id(), endpoint: proxy.url, ttl }
      const [held, wanted] = [new GcsLock("held", place), new GcsLock("wanted", place)]
      const lease = await held.acquire()
      silence(proxy)
      const [acquire, renew] = await Promise.all([timed(wanted.acquire({ timeout: "3 s" })), timed(held.renew())])
      expect(acquire.how).toBeInstanceOf(StoreUnavailableError)
      expect(acquire.ms).toBeLessThan(3000 + SLACK_MS)
      expect(renew.how).toBeInstanceOf(Error)
      expect(renew.ms).toBeLessThan(ttl + SLACK_MS)
      const release = await timed(lease.release())
      expect(["unknown", "alreadyLost"]).toContain(release.how)
      expect(release.ms).toBeLessThan(10_000 + SLACK_MS)
      expect(lease.isHeld()).toBe(false)
      await proxy[Symbol.asyncDispose]()
    })
  })

  describe("a lock on a bucket that refuses for good", () => {
    const reasons = [
      ["retentionPolicyNotMet", 403, "--clear-retention-period"],
      ["objectUnderActiveHold", 403, "--no-event-based-hold"],
      ["accountDisabled", 403, "Enable billing"],
      ["vpcServiceControls", 403, "perimeter"],
      ["UserProjectMissing", 400, "userProject"],
    ] as const

    // Tests stores: Each final refusal of Cloud Storage is an error with its own advice, and no contention.
    it.each(reasons)("(%s, %i) ends with what mends it, before its budget does", async (reason, status, advice) => {
      await using proxy = await startFaultProxy({ target: server.endpoint })
      const lock = new GcsLock("key", { bucket, prefix: liveClock.id(), endpoint: proxy.url, ttl })
      await (await lock.acquire()).release()
      using _ = proxy.always({ on: "POST", fault: { kind: "status", when: "before", status, reason } })
      const error: unknown = await lock.acquire({ timeout: "60 s" }).catch((refused: unknown) => refused)
      expect(error).toBeInstanceOf(StoreMisconfiguredError)
      expect(String(error)).toContain(advice)
    })
  })

  describe("an owner that is cut off from the bucket", () => {
    const roles: readonly (readonly [Runtime, Runtime])[] = [
      ["node", "deno"],
      ["deno", "node"],
    ]

    it.each(roles)("on %s stops acting in time; one on %s takes over, and they never overlap", async (one, two) => {
      const limit = new WriteLimiter(liveClock)
      await using proxy = await startFaultProxy({ target: server.endpoint, limit })
      await using other = await startFaultProxy({ target: server.endpoint, limit })
      const directory = await mkdtemp(join(tmpdir(), "leasehold-cut-"))
      const log = join(directory, "acts")
      const place = { bucket, prefix: liveClock.id() }
      const [here, there] = [proxy, other].map(({ url: endpoint }) => ({ key: "key", place: { ...place, endpoint } }))
      await using a = new LockProcess(one, { ...here!, options: { ttl } })
      await using b = new LockProcess(two, { ...there!, options: { ttl: "60 s" } })
      await b.says("ready")
      a.tell({ do: "acquire", log }, { do: "releaseOnSignal" })
      await a.says("working")
      proxy.partition()
      b.tell({ do: "acquire", options: { timeout: "40 s" }, log })
      expect(await b.says("acquire")).toMatchObject({ how: "takeover" })
      await b.says("working")
      expect(await a.says("stopped")).toMatchObject({ aborted: true })
      const lost = await a.says("Lost")
      proxy.heal()
      const acts = (await readFile(log, "utf8")).trim().split("\n")
      expectNoOverlap(
        acts.map((line) => JSON.parse(line) as LockAct),
        lastDeadline(a.said),
      )
      expect(lost.token).toBe((await a.says("acquire")).token)
      expect(lastDeadline(a.said)).toBeLessThan((await b.says("Acquired")).at!)
      b.tell({ do: "release" })
      expect(await b.says("release")).toMatchObject({ result: "released" })
      a.signal("SIGTERM") // it still lives, and ends by its own will
      expect(await a.ended).toMatchObject({ code: 143, stderr: "" })
      await rm(directory, { recursive: true })
    })

    const lastDeadline = (said: readonly Said[]): number =>
      Math.max(...said.map(({ event, deadline = 0 }) => (event === "Acquired" || event === "Renewed" ? deadline : 0)))

    /**
     * Deadlines are told in whole milliseconds, and acts too. Linux tells its boot clock in hundredths of a second. So
     * a deadline may be told up to 10 ms early.
     */
    const rounding = 1 + 10

    function expectNoOverlap(acts: readonly LockAct[], deadline: number): void {
      const inTime = acts.toSorted((one, two) => one.at - two.at)
      const tokens = inTime.map(({ token }) => token)
      expect(tokens).toEqual(tokens.toSorted((one, two) => one - two))
      expect(new Set(tokens).size).toBe(2)
      const owner = inTime.filter(({ token }) => token === tokens[0])
      expect(owner.at(-1)!.at).toBeLessThanOrEqual(deadline + rounding)
    }
  })

  describe("a write on a warm connection that is reset", () => {
    it.for([
      ["before", "absent"],
      ["after", "found"],
    ] as const)(
      "%s it was applied is sent once, is unknown, and leaves the object %s",
      async ([when, left], context) => {
        const { proxy, store, direct } = await scene(context)
        for (let round = 1; round <= 10; round++) {
          const ref = named(`key-${round}`)
          expect(await store.read(ref, { ...within, limit: 99 })).toMatchObject({ kind: "absent" })
          proxy.forget()
          proxy.next({ on: "POST", of: /key/, fault: { kind: "reset", when } })
          expect(await store.put(ref, ABSENT, bytes("{}"), within)).toMatchObject({ kind: "unknown" })
          expect(await direct.read(ref, { ...within, limit: 99 })).toMatchObject({ kind: left })
        }
      },
    )
  })

  describe("what a write learns from each fault", () => {
    const faults: readonly (readonly [Fault, string, "found" | "absent"])[] = [
      [{ kind: "status", when: "before", status: 503 }, "unknown", "absent"],
      [{ kind: "status", when: "after", status: 503 }, "unknown", "found"],
      [{ kind: "status", when: "before", status: 429 }, "unknown", "absent"],
      [{ kind: "html", when: "before" }, "unknown", "absent"],
      [{ kind: "html", when: "after" }, "unknown", "found"],
      [{ kind: "garbage" }, "unknown", "found"],
      [{ kind: "stall", when: "before" }, "unknown", "absent"],
      [{ kind: "stall", when: "after" }, "unknown", "found"],
      [{ kind: "half" }, "unknown", "found"],
      [{ kind: "delay", when: "after", ms: 50 }, "applied", "found"],
      [{ kind: "duplicate", ms: 0 }, "applied", "found"],
      [{ kind: "date", skewMs: null }, "applied", "found"],
    ]

    it.for(faults)("%j: %s, and what is there is %s", async ([fault, kind, left], context) => {
      const { proxy, store } = await scene(context)
      proxy.next({ on: "POST", of: /key/, fault })
      const budget = fault.kind === "stall" || fault.kind === "half" ? soon : within
      expect(await store.put(named("key"), ABSENT, bytes("{}"), budget)).toMatchObject({ kind })
      expect(await store.read(named("key"), { ...within, limit: 99 })).toMatchObject({ kind: left })
    })
  })

  describe("under chaos", () => {
    it("every call settles within its deadline, and no acknowledged write is lost", async (context) => {
      const { proxy, store, direct } = await scene(context)
      proxy.chaos({ seed: 20_261_128 })
      const took: number[] = []
      const timed = async <A>(call: Promise<A>): Promise<A> => {
        const start = liveClock.mono()
        return call.finally(() => took.push(liveClock.mono() - start))
      }

      /** Reads and writes in turn; the greatest generation that was acknowledged. */
      const client = async (ref: ObjectRef): Promise<bigint> => {
        let acknowledged = 0n
        for (let turn = 0; turn < TURNS; turn++) {
          const read = await timed(store.read(ref, { ...soon, limit: 99 }))
          if (read.kind !== "found" && read.kind !== "absent") continue
          const generation = read.kind === "found" ? read.generation : ABSENT
          const put = await timed(store.put(ref, generation, bytes(String(turn)), soon))
          if (put.kind === "applied") acknowledged = BigInt(put.generation)
        }
        return acknowledged
      }

      const names = Array.from({ length: 20 }, (_, index) => named(`key-${index}`))
      const acknowledged = await Promise.all(names.map(client))
      proxy.calm()
      for (const [index, ref] of names.entries()) {
        const read = await direct.read(ref, { ...within, limit: 99 })
        const left = read.kind === "found" ? BigInt(read.generation) : undefined
        expect(left).toBeGreaterThanOrEqual(acknowledged[index]!)
      }
      expect(acknowledged.every((generation) => generation > 0n)).toBe(true)
      expect(took.length).toBeGreaterThan(names.length * TURNS)
      expect(Math.max(...took)).toBeLessThan(soon.deadline + SLACK_MS)
    })
  })
})

it("leaves no rejection unhandled", () => {
  expect(unhandled).toEqual([])
})

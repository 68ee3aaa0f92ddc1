// A manager on the real fake-gcs-server whose store falls silent, with its connections open: every call of its public
// API settles by its deadline with a typed error, nothing is left unhandled, and when the store speaks again it goes
// on.
import process from "node:process"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as z from "zod"
import { LockError } from "../../src/locks/api/errors.ts"
import { gcsStore } from "../../src/locks/stores/gcs/mod.ts"
import { defineSandbox, SandboxManager } from "../../src/mod.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy/proxy.ts"
import { type GcsServer, startGcsServer } from "./support/gcs-server.ts"

const bucket = "leasehold-silence"
/** What a call without a budget of its own may wait. */
const longest = 30_000
/** A busy machine's own delays. */
const slack = 10_000

const counter = defineSandbox({
  name: "counter",
  schema: z.object({ n: z.number() }),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})

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

/** How a call that can't succeed went. */
interface Settled {
  readonly call: string
  readonly error: unknown
  readonly isLate: boolean
}

async function settled(call: string, promise: Promise<unknown>, within: number): Promise<Settled> {
  const start = liveClock.mono()
  const error = await promise.then(
    (value) => ({ answered: value }),
    (reason: unknown) => reason,
  )
  return { call, error, isLate: liveClock.mono() - start > within + slack }
}

async function all<A>(items: AsyncIterable<A>): Promise<void> {
  for await (const _ of items);
}

function everyCall(manager: SandboxManager): readonly Promise<Settled>[] {
  const timeout = 4000
  const act = (state: { n: number }): number => ++state.n
  return [
    settled("use", manager.use(counter, "new", act, { timeout }), timeout),
    // It runs at once; then its checkpoint has its own budget, and its lease an end.
    settled("durable use", manager.use(counter, "held", act, { timeout, durable: true }), 6000),
    settled("checkpointSandbox", manager.checkpointSandbox(counter, "held"), 6000),
    settled("restoreSandbox", manager.restoreSandbox(counter, "other", { timeout }), timeout),
    settled("remove", manager.remove(counter, "third", { timeout }), timeout),
    settled("readCheckpoint", manager.readCheckpoint(counter, "held"), longest),
    settled("whereIs", manager.whereIs(counter, "held"), longest),
    settled("list", all(manager.list(counter)), longest),
  ]
}

describe.concurrent("a manager whose store", () => {
  const silences: readonly (readonly [string, (proxy: FaultProxy) => Disposable])[] = [
    ["applies requests and never answers", (proxy) => proxy.always({ fault: { kind: "stall", when: "after" } })],
    ["gets no requests and never answers", (proxy) => proxy.always({ fault: { kind: "stall", when: "before" } })],
    ["answers by half", (proxy) => proxy.always({ fault: { kind: "half" } })],
    [
      "is cut off",
      (proxy) => {
        proxy.partition()
        return { [Symbol.dispose]: () => proxy.heal() }
      },
    ],
  ]

  // Tests waits: Every call settles within its budget, whatever the store does.
  it.each(silences)(
    "%s settles every call in time, and goes on afterwards",
    async (_, silence) => {
      await using proxy = await startFaultProxy({ target: server.endpoint })
      const store = gcsStore({ bucket, prefix: liveClock.id(), endpoint: proxy.url })
      const errors: unknown[] = []
      const budgets = { restoreWithin: "5 s", settleWithin: "2 s", checkpointWithin: "3 s", killGrace: "10 s" } as const
      const manager = await SandboxManager.start({
        ...{ store, sandboxes: [counter], ttl: "6 s", minTenure: 0, ...budgets },
        onError: (error) => void errors.push(error),
      })
      await manager.use(counter, "held", (state) => ++state.n, { durable: true })
      await manager.use(counter, "held", (state) => ++state.n) // there is something to save
      {
        using _silenced = silence(proxy)
        const outcomes = await Promise.all(everyCall(manager))
        const rejected = outcomes.filter(({ error }) => error instanceof LockError)
        expect(rejected.map(({ call }) => call)).toEqual(outcomes.map(({ call }) => call))
        expect(outcomes.filter(({ isLate }) => isLate)).toEqual([])
      }
      expect(await manager.use(counter, "held", ({ n }) => n, { timeout: "30 s" })).toBeGreaterThan(0)
      {
        using _silenced = silence(proxy)
        expect((await settled("drain", manager.drain({ grace: "3 s" }), 3000)).isLate).toBe(false)
        expect((await settled("dispose", manager[Symbol.asyncDispose](), 25_000)).isLate).toBe(false)
      }
      expect(errors.filter((error) => !(error instanceof LockError))).toEqual([])
      await store.close()
    },
    120_000,
  )
})

it("leaves no rejection unhandled", () => {
  expect(unhandled).toEqual([])
})

/**
 * How much simulated life a second of one core brings: requests to the simulated store through the production lock and
 * protocol, against a bare loop of one Effect for each, with its timeout, its signal, its way there and back on virtual
 * time, and a record's JSON as bytes both ways.
 *
 * Three processes want one key by turns. What a request costs in all depends on what happens between two: beside the
 * ratio stands the fleet of `npm run sim`, with sandboxes that save, users who call, and a trace of everything.
 */
import * as Effect from "effect/Effect"
import { StoreLock } from "../src/locks/lock/store-lock.ts"
import type { LeaseStore } from "../src/locks/stores/port.ts"
import { runForkOn } from "../src/runtime/bridges/effect-clock.ts"
import { SeededRandom } from "../src/runtime/time/random.ts"
import { sleep } from "../src/runtime/time/sleep.ts"
import { VirtualHost } from "../src/runtime/time/virtual-host.ts"
import { VirtualTime } from "../src/runtime/time/virtual-time.ts"
import { settingsOf } from "../src/testing/simulate/options.ts"
import { runFleet } from "../src/testing/simulate/run/fleet.ts"
import { ledger, ledgerWorkload } from "../src/testing/simulate/run/ledger.ts"
import { planOf } from "../src/testing/simulate/seed.ts"
import { SimulatedConnection } from "../src/testing/simulated-store/connection.ts"
import { SimulatedStore } from "../src/testing/simulated-store/store.ts"
import { cpuOf, detail, inTurns, ratio } from "./ratio.ts"

const ROUNDS = 5
const BARE = 5000
const LOCKED_MINUTES = 60
const HOLD = 5000
const record = { ownerId: "bench", expiresAt: 1, owner: { token: 1, ttlMs: 30_000 }, padding: "x".repeat(300) }

/** One contended sandbox on three workers, with nothing that goes wrong. */
const settings = settingsOf({
  ...{ sandbox: ledger, workload: ledgerWorkload, seeds: 1, workers: 3, keys: 1, duration: "10 min", faults: [] },
})

interface Lived {
  requests: number
  hours: number
}

/** Prints the figures. */
export async function benchSimulation(): Promise<void> {
  const lived: Lived = { requests: 0, hours: 0 }
  const cost = await inTurns(ROUNDS, {
    locks: costOfLocks,
    fleet: () => costOfFleet(lived),
    bare: costOfBare,
  })
  detail("a simulated request of locks", cost.locks, "µs of CPU")
  detail("a bare Effect", cost.bare, "µs of CPU")
  ratio("simulated-requests/bare-effects", cost.bare / cost.locks, ">=", 0.25)
  detail(
    "a request of one contended sandbox on 3 workers, with all that it does and its trace",
    cost.fleet,
    "µs of CPU",
  )
  detail("of which a bare Effect is", cost.bare / cost.fleet, "(the goal is of locks alone)")
  detail("its cluster-hours", lived.hours / ((lived.requests * cost.fleet) / 1e6), "a second of CPU")
}

async function costOfLocks(): Promise<number> {
  const time = new VirtualTime({ maxSteps: Number.MAX_SAFE_INTEGER })
  const store = new SimulatedStore({ time, chance: new SeededRandom(1) })
  const count = { requests: 0 }
  for (const name of ["a", "b", "c"]) {
    const clock = new VirtualHost(time, { name })
    const lock = new StoreLock("bench", {
      store: counting(new SimulatedConnection(store, name, clock), count),
      incarnation: { id: name },
      clock,
    })
    void takeTurns(lock, clock)
  }
  const cpu = await cpuOf(() => time.advance(LOCKED_MINUTES * 60_000))
  return cpu / count.requests
}

async function takeTurns(lock: StoreLock, clock: VirtualHost): Promise<never> {
  for (;;) {
    const lease = await lock.acquire({ timeout: "60 min", contention: "retry" })
    await sleep(clock, HOLD)
    await lease.release()
  }
}

function counting(store: LeaseStore, count: { requests: number }): LeaseStore {
  const { read, put, remove } = boundTo(store)
  return Object.assign(store, {
    read: (...asked: Parameters<typeof read>) => (count.requests++, read(...asked)),
    put: (...asked: Parameters<typeof put>) => (count.requests++, put(...asked)),
    remove: (...asked: Parameters<typeof remove>) => (count.requests++, remove(...asked)),
  })
}

const boundTo = (store: LeaseStore): Pick<LeaseStore, "read" | "put" | "remove"> => ({
  read: store.read.bind(store),
  put: store.put.bind(store),
  remove: store.remove.bind(store),
})

async function costOfFleet(lived: Lived): Promise<number> {
  let requests = 0
  let ms = 0
  const cpu = await cpuOf(async () => {
    ms = await runFleet(planOf(1, settings), {
      ...settings,
      onLine: (line) => void (line.kind === "request" && requests++),
      onFailure: (what, message) => {
        throw new Error(`${what}: ${message}`)
      },
    })
  })
  lived.requests += requests
  lived.hours += ms / 3_600_000
  return cpu / requests
}

async function costOfBare(): Promise<number> {
  const time = new VirtualTime()
  const run = runForkOn(time)
  const request = Effect.tryPromise((_signal) => new Promise<Uint8Array>((settle) => travel(time, settle)))
  const one = Effect.map(Effect.timeout(request, "5 seconds"), decoded)
  const cpu = await cpuOf(async () => {
    for (let count = 0; count < BARE; count++) {
      const { promise, resolve } = Promise.withResolvers<void>()
      run(Effect.ensuring(one, Effect.sync(resolve)))
      await time.runUntil(promise)
    }
  })
  return cpu / BARE
}

function travel(time: VirtualTime, arrived: (body: Uint8Array) => void): void {
  time.after(25, () => {
    const body = new TextEncoder().encode(JSON.stringify(record))
    time.after(25, () => arrived(body))
  })
}

const decoded = (body: Uint8Array): typeof record => JSON.parse(new TextDecoder().decode(body)) as typeof record

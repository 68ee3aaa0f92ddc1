/**
 * How much simulated life a second of one core brings: requests to the store through the production manager, lock and
 * protocol, against a bare loop of one Effect each, with a timeout and a record's JSON there and back. Both on virtual time.
 */
import * as Effect from "effect/Effect"
import { runForkOn } from "../src/runtime/effect-clock.ts"
import { VirtualTime } from "../src/runtime/virtual-time.ts"
import { runFleet } from "../src/testing/simulate/fleet.ts"
import { ledger, ledgerWorkload } from "../src/testing/simulate/ledger.ts"
import { settingsOf } from "../src/testing/simulate/options.ts"
import { planOf } from "../src/testing/simulate/seed.ts"
import { cpuOf, detail, inTurns, ratio } from "./ratio.ts"

const ROUNDS = 5
const BARE = 5000
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
    simulated: () => costOfSimulated(lived),
    bare: costOfBare,
  })
  detail("a simulated request", cost.simulated, "µs of CPU")
  detail("a bare Effect", cost.bare, "µs of CPU")
  detail("cluster-hours", lived.hours / ((lived.requests * cost.simulated) / 1e6), "a second of CPU")
  ratio("simulated-requests/bare-effects", cost.bare / cost.simulated, ">=", 0.25)
}

async function costOfSimulated(lived: Lived): Promise<number> {
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
  const send = (): Promise<string> => new Promise((settle) => time.soon(() => settle(JSON.stringify(record))))
  const one = Effect.map(
    Effect.timeout(Effect.tryPromise(send), "5 seconds"),
    (text) => JSON.parse(text) as typeof record,
  )
  const cpu = await cpuOf(async () => {
    for (let count = 0; count < BARE; count++) {
      const { promise, resolve } = Promise.withResolvers<void>()
      run(Effect.ensuring(one, Effect.sync(resolve)))
      await time.runUntil(promise)
    }
  })
  return cpu / BARE
}

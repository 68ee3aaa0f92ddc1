// A fleet to look at: four workers with what can happen to sandboxes, made of a seed alone but for the time.
import type { SandboxRow, WorkerRow } from "../../../src/inspector/live/model/wire.ts"
import type { SandboxStateValue } from "../../../src/trace/state-value.ts"
import { row, running, settling, waiting, worker } from "../../inspector/live/made.ts"

const NAMES = ["eu-1", "eu-2", "us-1", "us-2"] as const

/** Of its lease a healthy owner has this much left, at least, in milliseconds. */
const LEFT = 20_000

/** Of the first so many some are released: the model keeps 2000 of those. */
const MOST_RELEASED = 40_000

/** A number from 0 to 1 that is the same for the same index. */
export const drawn = (index: number): number => {
  let x = Math.imul(index + 1, 0x9e3779b1)
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32
}

const restoring: SandboxStateValue = { owning: { work: "restoring", lease: "healthy" } }
const trying: SandboxStateValue = { acquiring: "trying" }
const clean: SandboxStateValue = { released: "clean" }

/** So many sandboxes, most of which are owned. */
export function sampleRows(size: number, now: number): readonly SandboxRow[] {
  return Array.from({ length: size }, (_, index) => sampleRow(index, now))
}

function sampleRow(index: number, now: number): SandboxRow {
  const chance = drawn(index)
  const name = NAMES[index % NAMES.length]!
  const key = `${chance < 0.6 ? "order" : "cart"}/${String(100_000 + index)}`
  const since = now - Math.round(1000 + drawn(index + 7) * 3_000_000)
  const at = { worker: name, key, since, token: now - 50_000 - index }
  const lease = { ownedSince: since, deadline: now + LEFT + Math.round(drawn(index + 3) * 6000) }
  if (chance < 0.8) return row({ ...at, ...lease, value: running })
  if (chance < 0.84) return row({ ...at, ...lease, value: restoring, since: now - 900 })
  if (chance < 0.88)
    return row({ ...at, ...lease, value: settling, since: now - 700, leaving: "handoff", waiterId: "us-11" })
  if (chance < 0.93)
    return row({ ...at, value: waiting, since: now - 4000, owner: { ownerId: "eu-11", address: null } })
  if (chance < 0.96 || index > MOST_RELEASED) return row({ ...at, value: trying, since: now - 300, token: null })
  return row({ ...at, value: clean })
}

/** What needs attention, each for a reason of its own. */
export function troubledRows(now: number): readonly SandboxRow[] {
  return [
    row({
      ...{
        worker: "eu-1",
        key: "order/stuck-in-its-run",
        since: now - 95_000,
        token: 7,
        leaving: "handoff",
        stuck: "run",
      },
      ...{
        value: { handingOff: { work: "stuck", lease: "healthy" } },
        deadline: now + 21_000,
        ownedSince: now - 400_000,
      },
      waiterId: "eu-21",
    }),
    row({
      ...{ worker: "eu-2", key: "order/stuck-in-its-run", since: now - 96_000, token: null, value: waiting },
      owner: { ownerId: "eu-11", address: null },
    }),
    row({
      ...{ worker: "us-1", key: "payment/near-its-guard", since: now - 500_000, ownedSince: now - 500_000, token: 9 },
      ...{ value: { owning: { work: "running", lease: "degraded" } }, deadline: now + 2500 },
      error: {
        tag: "StoreUnavailableError",
        code: "LEASEHOLD_UNAVAILABLE",
        message: "The store answers 503.",
        status: 503,
      },
    }),
    row({
      ...{ worker: "us-2", key: "session/goes-back-and-forth", since: now - 3000, ownedSince: now - 3000, token: 11 },
      ...{ value: running, deadline: now + 25_000, handoffs: 9 },
    }),
  ]
}

/** The workers that have them. */
export function sampleWorkers(): readonly WorkerRow[] {
  return NAMES.map((name, index) =>
    worker({
      ...{ worker: name, ownerId: `${name}1`, address: `http://10.0.0.${index + 1}:8080`, runtime: "Node 24.21.0" },
      ...{ clockOffset: [12, -340, 3, 0][index]!, closed: name === "us-2", problem: null },
      stats: { renewals: 1000 * index, throttled: index === 2 ? 4 : 0, losses: index === 1 ? 1 : 0 },
    }),
  )
}

/** One of which nothing is known. */
export const silentWorker = (): WorkerRow =>
  worker({
    ...{ worker: "ap-1", ownerId: "ap-11", address: "http://10.0.0.9:8080", ttl: null, guard: null, stats: {} },
    problem: "It doesn't answer: connection refused. Asked again in 5 s",
  })

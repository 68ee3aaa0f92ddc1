/**
 * What can go wrong between a process and a simulated store, as lines of plain JSON: to be drawn, listed, shrunk and
 * written down. Owns the words and what each does to one request; `store.ts` lets it happen.
 */
import type { Area } from "../../locks/stores/port.ts"
import { anObject, oneOf, refusal, refuseUnknown, shown } from "../../runtime/input/options.ts"
import type { Chance } from "./chance.ts"

/** What is asked of a store. */
export type StoreOp = "start" | "read" | "put" | "remove" | "list"

/** Which requests a fault strikes, and how often or how long. All that fit strike, of each kind the first. */
export interface StoreFaultScope {
  /** Whose requests; null for everybody's. */
  readonly worker: string | null
  /** Only this kind of request. */
  readonly op?: StoreOp
  /** Only of objects of this area. */
  readonly area?: Area
  /** So many requests, then no more. */
  readonly times?: number
  /** So many milliseconds, then no more. Without either: one request. */
  readonly forMs?: number
}

/** Something that goes wrong. */
export type StoreFault = StoreFaultScope &
  (
    | {
        readonly kind:
          | /** Never arrives. */ "loseRequest"
          | /** Takes effect, and nobody is told. */ "loseAnswer"
          | /** The answer tells no time. */ "noDate"
          | /** From a cache: what this process saw last, and no time. Reads only. */ "cachedAnswer"
          | /** Nothing arrives, of anybody. */ "outage"
          | /** Nothing arrives, and no answer comes back. */ "partition"
          | /** All arrives, and no answer comes back. */ "mutePartition"
          | /** The object took another write just now. Writes only. */ "throttle"
          | /** Answered 429, whatever is asked. */ "tooMany"
      }
    /** Arrives this much later, most often when its sender has given up. */
    | { readonly kind: "late"; readonly ms: number }
    /** Arrives twice, the second time this much later; the sender hears of one of them. */
    | { readonly kind: "duplicate"; readonly ms: number; readonly hears: "first" | "second" }
    /** Takes this much longer, there and back. */
    | { readonly kind: "slow"; readonly ms: number }
    /** The store's clock is off by this much, either way: at most a quarter of the least guard. */
    | { readonly kind: "skewDate"; readonly ms: number }
    /** The time in the answer is this old: at most a quarter of the least guard. */
    | { readonly kind: "staleDate"; readonly ms: number }
    /** Serves no more than so many requests a second, of all processes together: one after the other, as they come. */
    | { readonly kind: "capacity"; readonly perSecond: number }
    /** Answered with an error; `applied`: after it took effect. */
    | { readonly kind: "status"; readonly status: number; readonly applied: boolean }
  )

/** The name of a kind. */
export type StoreFaultKind = StoreFault["kind"]

/**
 * The dates of two answers of one store may disagree by half of the least guard, 2 s: each is off by half of that at
 * most.
 */
const mostOff = 500

/** What each kind has beside its scope. */
const details: Readonly<Record<StoreFaultKind, readonly string[]>> = {
  loseRequest: [],
  loseAnswer: [],
  late: ["ms"],
  duplicate: ["ms", "hears"],
  slow: ["ms"],
  status: ["status", "applied"],
  throttle: [],
  tooMany: [],
  noDate: [],
  cachedAnswer: [],
  skewDate: ["ms"],
  staleDate: ["ms"],
  outage: [],
  partition: [],
  mutePartition: [],
  capacity: ["perSecond"],
}

/** All of them. */
export const storeFaultKinds: readonly StoreFaultKind[] = Object.keys(details) as StoreFaultKind[]

/**
 * Refuses what can't be meant, as InvalidConfigError: an unknown kind or field, or one that is missing or no number.
 */
export function checkStoreFault(fault: StoreFault): void {
  anObject('Give one such as { kind: "loseAnswer", worker: null }')("the fault", fault)
  const own = details[oneOf("the kind of a fault of the store", fault.kind, storeFaultKinds)]
  const known = ["kind", "worker", "op", "area", "times", "forMs", ...own]
  refuseUnknown(`the fault ${fault.kind}`, fault, Object.fromEntries(known.map((name) => [name, true as const])))
  const { worker, op = "read", area = "leases", times = 1, forMs = 0 } = fault
  oneOf("op", op, ["start", "read", "put", "remove", "list"])
  oneOf("area", area, ["leases", "state", "probe", "store"])
  demand(worker === null || typeof worker === "string", "worker", worker, "the name of a worker, or null for all")
  demand(Number.isInteger(times) && times > 0, "times", times, "a whole number, 1 or more")
  demand(typeof forMs === "number" && forMs >= 0, "forMs", forMs, "milliseconds, 0 or more")
  if (fault.kind === "duplicate") oneOf("hears", fault.hears, ["first", "second"])
  if (fault.kind === "status") {
    const { status, applied } = fault
    demand(Number.isInteger(status) && status >= 400 && status < 600, "status", status, "a status from 400 to 599")
    demand(typeof applied === "boolean", "applied", applied, "true or false")
  }
  if (fault.kind === "capacity") {
    const { perSecond } = fault
    demand(Number.isFinite(perSecond) && perSecond > 0, "perSecond", perSecond, "a number of requests, more than 0")
    demand(fault.forMs !== undefined, "forMs", fault.forMs, "how long it is so busy, in milliseconds")
    demand(worker === null, "worker", worker, "null: what one process asks for keeps all others waiting")
  }
  if ("ms" in fault || own.includes("ms")) checkMs(fault as { readonly kind: string; readonly ms: number })
}

function checkMs({ kind, ms }: { readonly kind: string; readonly ms: number }): void {
  demand(Number.isFinite(ms) && (ms >= 0 || kind === "skewDate"), "ms", ms, "milliseconds, 0 or more")
  if (kind === "skewDate" || kind === "staleDate")
    demand(Math.abs(ms) <= mostOff, "ms", ms, `${mostOff} at most: beyond that the protocol promises nothing`)
}

function demand(holds: boolean, field: string, given: unknown, ask: string): void {
  if (holds) return
  throw refusal(`${field} of a fault of the store is ${shown(given)}`, `Give ${ask}`)
}

/** The most that is drawn: near what is allowed. */
const mostSkew = 450

/** In requests a second: the least is what few processes with few keys each need, and feel. */
const capacities = [20, 50, 200]

const skews = [-mostSkew, mostSkew, undefined]

const lates = (corners: readonly number[]): readonly number[] => [250, 1500, 5000, ...corners]

const statuses = [401, 403, 408, 429, 500, 502, 503]

/** What draws need. */
export interface FaultDraw extends Chance {
  chance(probability: number): boolean
  int(least: number, most: number): number
  pick<A>(items: readonly A[]): A
  near(corners: readonly number[], most: number): number
}

/** Draws a fault of a kind. `corners` are the times at which the protocol does something else, in milliseconds. */
export function drawStoreFault(
  kind: StoreFaultKind,
  worker: string,
  draw: FaultDraw,
  corners: readonly number[],
): StoreFault {
  const lasting = { forMs: draw.near(corners, 60_000) }
  switch (kind) {
    case "outage":
      return { kind, worker: null, ...lasting }
    case "partition":
    case "mutePartition":
      return { kind, worker, ...lasting }
    case "capacity":
      return { kind, worker: null, perSecond: draw.pick(capacities), ...lasting }
    case "skewDate":
      return {
        kind,
        worker: draw.pick([null, worker]),
        ms: draw.pick(skews) ?? draw.int(-mostSkew, mostSkew),
        ...lasting,
      }
    case "staleDate":
      return { kind, ...few(worker, draw), ms: draw.pick([mostSkew, draw.int(1, mostSkew)]) }
    case "throttle":
      return { kind, ...few(worker, draw) }
    case "tooMany":
      return { kind, worker: draw.pick([null, worker]), forMs: draw.near([1000, 5000], 20_000) }
    case "noDate":
    case "cachedAnswer":
      return { kind, worker, ...(draw.chance(0.5) ? lasting : { times: draw.int(1, 5) }) }
    case "loseRequest":
    case "loseAnswer":
      return { kind, ...few(worker, draw), ...writes(draw) }
    case "late":
      return { kind, ...few(worker, draw), ...writes(draw), ms: draw.near(lates(corners), 60_000) }
    case "duplicate": {
      const hears = draw.pick(["first", "second"] as const)
      return { kind, ...few(worker, draw), ...writes(draw), ms: draw.near(lates(corners), 60_000), hears }
    }
    case "slow":
      return { kind, ...few(worker, draw), ms: draw.near([400, 2400, 4900], 5000) }
    case "status":
      return { kind, ...few(worker, draw), status: draw.pick(statuses), applied: draw.chance(0.5) }
  }
}

const few = (worker: string, draw: FaultDraw): StoreFaultScope => ({
  worker: draw.chance(0.8) ? worker : null,
  times: draw.pick([1, 1, 2, 5]),
})

/** Mostly it is a write that gets lost, of leases more often than of state. */
const writes = (draw: FaultDraw): Pick<StoreFaultScope, "op" | "area"> => ({
  ...(draw.chance(0.7) && { op: "put" }),
  ...(draw.chance(0.7) && { area: draw.pick(["leases", "leases", "state"]) }),
})

/**
 * What can go wrong between a process and a simulated store, as lines of plain JSON: to be drawn, listed, shrunk and
 * written down. Owns the words and what each does to one request; `store.ts` lets it happen.
 */
import type { Area } from "../../locks/store.ts"
import type { Chance } from "./chance.ts"

/** Which requests a fault strikes, and how often or how long. The first fault that fits strikes. */
export interface StoreFaultScope {
  /** Whose requests; null for everybody's. */
  readonly worker: string | null
  /** Only this kind of request. */
  readonly op?: "read" | "put" | "remove"
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
      }
    /** Arrives this much later, most often when its sender has given up. */
    | { readonly kind: "late"; readonly ms: number }
    /** Arrives twice, the second time this much later; the sender hears of the second. */
    | { readonly kind: "duplicate"; readonly ms: number }
    /** Takes this much longer, there and back. */
    | { readonly kind: "slow"; readonly ms: number }
    /** The store's clock is off by this much, either way: at most a quarter of the least guard. */
    | { readonly kind: "skewDate"; readonly ms: number }
    /** Answered with an error; `applied`: after it took effect. */
    | { readonly kind: "status"; readonly status: number; readonly applied: boolean }
  )

/** The name of a kind. */
export type StoreFaultKind = StoreFault["kind"]

/** All of them. */
export const storeFaultKinds: readonly StoreFaultKind[] = [
  "loseRequest",
  "loseAnswer",
  "late",
  "duplicate",
  "slow",
  "status",
  "throttle",
  "noDate",
  "cachedAnswer",
  "skewDate",
  "outage",
  "partition",
  "mutePartition",
]

/** The most that the dates of two answers of one store may disagree is half of the least guard, 2 s. */
const mostSkew = 450

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
    case "skewDate":
      return { kind, worker: null, ms: draw.pick([-mostSkew, mostSkew, draw.int(-mostSkew, mostSkew)]), ...lasting }
    case "throttle":
      return { kind, ...few(worker, draw) }
    case "noDate":
    case "cachedAnswer":
      return { kind, worker, ...(draw.chance(0.5) ? lasting : { times: draw.int(1, 5) }) }
    case "loseRequest":
    case "loseAnswer":
      return { kind, ...few(worker, draw), ...writes(draw) }
    case "late":
    case "duplicate":
      return { kind, ...few(worker, draw), ...writes(draw), ms: draw.near([250, 1500, 5000, ...corners], 60_000) }
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

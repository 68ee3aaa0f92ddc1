/**
 * Faults by chance, from a seed: the n-th request of a run meets the same fault in every run with that seed and those
 * rates, on every runtime. Each request takes the same number of draws, whatever comes of them.
 *
 * Not promised: which request is the n-th. Clients that run at the same time decide that.
 */
import { SeededRandom } from "../../../src/runtime/time/random.ts"
import type { Fault, FaultKind, When } from "./fault.ts"

/** How likely each kind is for one request, 0 to 1; together at most 1. */
export type Rates = Readonly<Partial<Record<FaultKind, number>>>

/** How chance decides. */
export interface ChaosOptions {
  readonly seed: number
  /** Without them: about one request in eight meets a fault. */
  readonly rates?: Rates
}

export const defaultRates: Rates = {
  status: 0.03,
  reset: 0.02,
  stall: 0.01,
  html: 0.01,
  delay: 0.02,
  half: 0.01,
  garbage: 0.01,
  duplicate: 0.01,
  date: 0.005,
  age: 0.005,
}

/** Around what a client does with its time: a request's deadline, a waiter's ttl, the spacing of writes. */
const delays = [10, 300, 1100, 2500, 6000, 13_000]
const statuses = [408, 412, 429, 500, 503]
/** Answers' dates may differ by half the guard, 1 s with a short ttl; more would break what leasehold assumes. */
const skews = [-1000, null]
const ages = [0, 1, 60]

/** A run of chance. */
export class Chaos {
  readonly #random: SeededRandom
  readonly #rates: readonly (readonly [FaultKind, number])[]

  /** Throws where the seed is no whole number of 0 or more, or the rates are no rates. */
  constructor({ seed, rates = defaultRates }: ChaosOptions) {
    if (!Number.isSafeInteger(seed) || seed < 0) throw new Error(`the seed is ${seed}; give a whole number, 0 or more`)
    this.#random = new SeededRandom(seed)
    this.#rates = checked(rates)
  }

  /** What the next request meets. */
  draw(): Fault | undefined {
    const [chance, side, size] = [this.#random.next(), this.#random.next(), this.#random.next()]
    let upTo = 0
    for (const [kind, rate] of this.#rates) {
      upTo += rate
      if (chance < upTo) return faultOf(kind, side < 0.5 ? "before" : "after", size)
    }
    return undefined
  }
}

/** In the order of the defaults, so that the order in which they were written down decides nothing. */
function checked(rates: Rates): readonly (readonly [FaultKind, number])[] {
  const kinds = Object.keys(defaultRates) as FaultKind[]
  const unknown = Object.keys(rates).filter((kind) => !(kind in defaultRates))
  if (unknown.length > 0) throw new Error(`there is no fault ${unknown.join(", ")}; there are ${kinds.join(", ")}`)
  const list = kinds.map((kind) => [kind, rates[kind] ?? 0] as const)
  const sum = list.reduce((total, [, rate]) => total + rate, 0)
  if (list.some(([, rate]) => !(rate >= 0)) || sum > 1)
    throw new Error(`the rates are ${JSON.stringify(rates)}; give 0 to 1 for each, together at most 1`)
  return list
}

function faultOf(kind: FaultKind, when: When, size: number): Fault {
  switch (kind) {
    case "status":
      return { kind, when, status: pick(statuses, size) }
    case "reset":
    case "stall":
    case "html":
      return { kind, when }
    case "delay":
      return { kind, when, ms: pick(delays, size) }
    case "duplicate":
      return { kind, ms: pick(delays, size) }
    case "date":
      return { kind, skewMs: pick(skews, size) }
    case "age":
      return { kind, seconds: pick(ages, size) }
    case "half":
    case "garbage":
      return { kind }
  }
}

const pick = <A>(from: readonly A[], size: number): A => from[Math.floor(size * from.length)]!

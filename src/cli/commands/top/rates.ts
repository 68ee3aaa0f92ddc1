/** How often workers renew, from counters that only grow. */
import type { WorkerRow } from "../../../inspector/live/model/wire.ts"

/** The time over which a rate is taken, in milliseconds: leases of 30 s are renewed every 10 s. */
const OVER = 10_000

interface CounterReading {
  readonly at: number
  readonly count: number
}

/** The readings of the last seconds, by worker. */
export class Rates {
  readonly #readings = new Map<string, CounterReading[]>()

  /** Reads the counters, at a time in milliseconds that never goes back. */
  read(workers: Iterable<WorkerRow>, at: number): void {
    for (const { worker, stats } of workers) {
      const count = stats["renewals"]
      if (count === undefined) continue
      const readings = this.#readings.get(worker) ?? []
      const isNew = (readings.at(-1)?.count ?? 0) > count // another life of that worker
      const kept = isNew ? [] : readings.filter((reading) => at - reading.at <= OVER)
      this.#readings.set(worker, [...kept, { at, count }])
    }
  }

  /** By worker, as far as there are two readings. */
  get perSecond(): ReadonlyMap<string, number> {
    const rates = new Map<string, number>()
    for (const [worker, readings] of this.#readings) {
      const [first, last] = [readings[0], readings.at(-1)]
      if (first === undefined || last === undefined || last.at <= first.at) continue
      rates.set(worker, ((last.count - first.count) / (last.at - first.at)) * 1000)
    }
    return rates
  }
}

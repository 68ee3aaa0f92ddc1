/** How fast counters of workers grow: what is shown a second is the mean of the last seconds. Pure. */
import type { WorkerRow } from "../../live/model/wire.ts"

/** In milliseconds: renewals come every ten seconds and more, so that a shorter time would show noise. */
const SPAN = 30_000

interface StatsReading {
  readonly at: number
  readonly stats: WorkerRow["stats"]
}

/** Of all workers. */
export class WorkerRates {
  readonly #readings = new Map<string, StatsReading[]>()

  /** What a worker tells now. */
  note(at: number, { worker, stats }: WorkerRow): void {
    const before = this.#readings.get(worker) ?? []
    const isRestarted = before.some((reading) =>
      Object.entries(reading.stats).some(([name, value]) => GROWING.has(name) && (stats[name] ?? 0) < value),
    )
    const kept = isRestarted ? [] : before.filter((reading) => at - reading.at <= SPAN && reading.at <= at)
    this.#readings.set(worker, [...kept, { at, stats }])
  }

  /** How much a counter grows a second; null while that isn't known. */
  perSecond(worker: string, counter: string): number | null {
    const readings = this.#readings.get(worker) ?? []
    const [first, last] = [readings[0], readings.at(-1)]
    if (first === undefined || last === undefined || last.at - first.at < 900) return null
    return (((last.stats[counter] ?? 0) - (first.stats[counter] ?? 0)) * 1000) / (last.at - first.at)
  }
}

/** Counters that never fall, but at a restart. */
const GROWING: ReadonlySet<string> = new Set(["acquisitions", "waits", "contention", "losses", "renewals", "throttled"])

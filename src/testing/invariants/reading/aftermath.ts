/**
 * What faults can explain, and for how long. A fault may have effects for two minutes: a lease that wasn't renewed
 * because of it, a clock in doubt, a request in flight, a fault that is still to strike.
 *
 * After the fault `heal` no fault strikes any more. The effects of those before it are over a longest lease later.
 *
 * Not promised: that the fault which explains something caused it.
 */
import type { FaultLine, TraceLine } from "../../../trace/trace.ts"

const aftermathMs = 120_000
/** A lease of 30 s and the slowest of clocks, and a request under way when it began. */
const convalescenceMs = 45_000

/**
 * What is told as a fault and explains nothing: how a clock goes, a process that starts, or leaves as it is asked to,
 * and a store that serves no more than so many requests a second, which are enough for what is judged by this.
 */
export const harmless: ReadonlySet<string> = new Set(["clock", "restart", "drain", "capacity"])

/** What befalls a user's hooks: it may keep a sandbox from leaving, and costs nobody a lease. */
const ofHooks: ReadonlySet<string> = new Set(["slowHook", "failingHook"])

/** What is done to one record: it is the write there that explains something, and of nothing else. */
const ofRecords: ReadonlySet<string> = new Set(["stranger", "deleteRecord", "damageRecord", "mendRecord"])

/** The faults of a trace so far, and the writes of strangers and operators. */
export class Aftermath {
  readonly #ofLeases: boolean
  /** Workers whose time is that of their boot, so that a step of the wall clock is nothing to their leases. */
  readonly #booted = new Set<string | null>()
  /** When something last befell a worker, or all. */
  readonly #faults = new Map<string | null, number>()
  /** When somebody who isn't one of the workers last wrote a record. */
  readonly #touched = new Map<string, number>()
  #healed = Infinity

  /** `ofLeases`: what can cost a lease alone. */
  constructor({ ofLeases = false }: { readonly ofLeases?: boolean } = {}) {
    this.#ofLeases = ofLeases
  }

  /** Takes in a line. */
  take(line: TraceLine): void {
    if (line.kind === "applied" && line.worker === null) this.#touched.set(line.name, line.at)
    if (line.kind !== "fault") return
    if (line.fault === "clock" && line.detail["bootClock"] === true) this.#booted.add(line.worker)
    if (line.fault === "heal") this.#healed = line.at
    else if (!this.#isHarmless(line)) this.#faults.set(line.worker, line.at)
  }

  #isHarmless({ fault, worker }: FaultLine): boolean {
    if (harmless.has(fault) || ofRecords.has(fault)) return true
    return this.#ofLeases && (ofHooks.has(fault) || (fault === "stepWall" && this.#booted.has(worker)))
  }

  /**
   * Whether something befell this worker, or everybody, or this record, that may explain what happened to them then.
   */
  explains(worker: string, record: string, at: number): boolean {
    if (at > this.#healed + convalescenceMs) return false
    const all = [this.#faults.get(worker), this.#faults.get(null), this.#touched.get(record)]
    return all.some((last = -Infinity) => last > at - aftermathMs)
  }
}

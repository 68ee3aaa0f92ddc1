/**
 * What a trace tells of leases as their holders see them: who holds which key until when, in true time. Shared by the
 * invariants that are about holding.
 *
 * A holder's deadline is a time of its own clock: how fast that goes is told by a `clock` fault with a `rate`; else it is
 * taken to be true.
 */
import type { LockLine, TraceLine } from "../../inspector/trace.ts"

/** One tenancy. */
export interface Holding {
  readonly worker: string
  readonly ownerId: string
  readonly key: string
  token: number
  /** When its holder stops to believe in it unless it is renewed, in true time. */
  until: number
  /** When it ended before that; undefined while it stands. */
  ended: number | undefined
}

/** Follows the lock lines of a trace. */
export class Holdings {
  readonly #rates = new Map<string, number>()
  /** The last tenancy of each incarnation on each key. */
  readonly #last = new Map<string, Holding>()

  /** Takes in a line. */
  take(line: TraceLine): void {
    if (line.kind === "lock") this.#lock(line)
    else if (line.kind === "fault") {
      const { worker, fault, detail, at } = line
      if (fault === "clock" && worker !== null) this.#rates.set(worker, Number(detail["rate"] ?? 1))
      if (fault === "crash" && worker !== null) this.#crashed(worker, at)
    }
  }

  /** Whoever holds a key at a moment. */
  holders(key: string, at: number): readonly Holding[] {
    return [...this.#last.values()].filter((holding) => holding.key === key && isHeld(holding, at))
  }

  /** The last tenancy of a worker on a key. */
  of(worker: string, key: string): Holding | undefined {
    return [...this.#last.values()].findLast((holding) => holding.worker === worker && holding.key === key)
  }

  #lock(line: LockLine): void {
    const { type, worker, ownerId, key, at, token } = line
    const name = `${ownerId} ${key}`
    const known = this.#last.get(name)
    if (type === "Acquired") {
      this.#last.delete(name) // so that the last one is the youngest
      this.#last.set(name, { worker, ownerId, key, token: token ?? 0, until: this.#until(line), ended: undefined })
    } else if (known !== undefined && known.ended === undefined) {
      if (type === "Renewed") Object.assign(known, { until: this.#until(line), token: token ?? known.token })
      else if (type === "Lost" || type === "Granted" || type === "Released" || type === "GaveUp") known.ended = at
    }
  }

  #until({ at, wall, deadline = wall, worker }: LockLine): number {
    return at + (deadline - wall) / (this.#rates.get(worker) ?? 1)
  }

  #crashed(worker: string, at: number): void {
    for (const holding of this.#last.values()) if (holding.worker === worker) holding.ended ??= at
  }
}

/** Deadlines in a trace are whole milliseconds, and times are rounded. */
export const ROUNDING = 2

/** Whether its holder believes in it at this moment. */
export const isHeld = ({ until, ended }: Holding, at: number): boolean => ended === undefined && at < until - ROUNDING

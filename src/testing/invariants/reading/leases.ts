/**
 * What a trace tells of leases as their holders see them: who holds which key until when, in true time. Shared by the
 * invariants that are about holding.
 *
 * A holder's deadline is a time of its own clock: how fast that goes is told by a `clock` fault with a `rate`; else it
 * is taken to be true.
 */
import { encodeName } from "../../../locks/api/keys.ts"
import type { AppliedLine, LockLine, TraceLine } from "../../../trace/trace.ts"

/** One activation. */
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
  /** The last activation of each incarnation on each key. */
  readonly #last = new Map<string, Holding>()

  /** Takes in a line. */
  take(line: TraceLine): void {
    const ended = endedLife(line)
    if (ended !== undefined) this.#end(ended, line.at)
    if (line.kind === "lock") this.#lock(line)
    else if (line.kind === "applied") this.#applied(line)
    else if (line.kind === "fault" && line.fault === "clock" && line.worker !== null)
      this.#rates.set(line.worker, Number(line.detail["rate"] ?? 1))
  }

  /** Who holds a key at a moment. */
  holders(key: string, at: number): readonly Holding[] {
    return [...this.#last.values()].filter((holding) => holding.key === key && isHeld(holding, at))
  }

  /** The last activation of a worker on a key. */
  of(worker: string, key: string): Holding | undefined {
    return [...this.#last.values()].findLast((holding) => holding.worker === worker && holding.key === key)
  }

  /** The same by the name of the key's record. */
  ofRecord(worker: string, name: string): Holding | undefined {
    return [...this.#last.values()].findLast((holding) => holding.worker === worker && encodeName(holding.key) === name)
  }

  #lock(line: LockLine): void {
    const { type, worker, ownerId, key, at, token } = line
    const name = `${ownerId} ${key}`
    const known = this.#last.get(name)
    if (type === "Acquired") {
      this.#last.delete(name) // so that the last one is the youngest
      this.#last.set(name, { worker, ownerId, key, token: token ?? 0, until: this.#until(line), ended: undefined })
    } else if (known !== undefined && known.ended === undefined) {
      if (type === "Lost" || type === "Granted" || type === "Released" || type === "GaveUp") known.ended = at
      else if (line.deadline !== undefined)
        Object.assign(known, { until: this.#until(line), token: token ?? known.token })
    }
  }

  /**
   * Whoever writes another, or nobody, into its own record has ended its activation before, whether it hears of it or
   * not.
   */
  #applied({ worker, area, name, lease, at }: AppliedLine): void {
    if (area !== "leases" || worker === null) return
    for (const holding of this.#last.values()) {
      if (holding.worker !== worker || encodeName(holding.key) !== name) continue
      if (lease?.ownerId !== holding.ownerId) holding.ended ??= at
    }
  }

  #until({ at, wall, deadline = wall, worker }: LockLine): number {
    return at + (deadline - wall) / (this.#rates.get(worker) ?? 1)
  }

  #end(worker: string, at: number): void {
    for (const holding of this.#last.values()) if (holding.worker === worker) holding.ended ??= at
  }
}

/**
 * Whose life is over by this line: a process that was killed, or that is started again after it has left. What it had
 * under way has no end.
 */
export function endedLife(line: TraceLine): string | undefined {
  if (line.kind === "fault" && line.worker !== null && (line.fault === "crash" || line.fault === "restart"))
    return line.worker
  return line.kind === "call" && line.call === "start" && line.edge === "began" ? line.worker : undefined
}

/** Deadlines in a trace are whole milliseconds, and times are rounded. */
export const ROUNDING = 2

/** Whether its holder believes in it at this moment. */
export const isHeld = ({ until, ended }: Holding, at: number): boolean => ended === undefined && at < until - ROUNDING

/** Who is none of the workers: those name themselves in a record first, and strangers do. */
export class Strangers {
  readonly #known = new Map<string, boolean>()

  take({ worker, lease }: AppliedLine): void {
    for (const id of [lease?.ownerId, lease?.waiterId])
      if (typeof id === "string" && !this.#known.has(id)) this.#known.set(id, worker === null)
  }

  has(id: string | null): boolean {
    return id !== null && this.#known.get(id) === true
  }
}

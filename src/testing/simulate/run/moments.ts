/** Faults that wait for their moment: the next line of a worker's trace that is of a certain kind. */
import type { TraceLine } from "../../../trace/trace.ts"
import type { Moment } from "../plan/faults.ts"
import type { TimedFault } from "../plan/plan.ts"

export class Moments {
  #waiting: TimedFault[] = []

  /** The fault is due at its moment. */
  await(fault: TimedFault): void {
    this.#waiting.push(fault)
  }

  /** Forgets all that wait. */
  clear(): void {
    this.#waiting = []
  }

  /** The fault whose moment this line is, once: the one that has waited longest. */
  reached(line: TraceLine): TimedFault | undefined {
    if (this.#waiting.length === 0) return undefined
    const index = this.#waiting.findIndex(
      ({ on, worker }) => (worker === null || worker === line.worker) && isMoment(line, on!),
    )
    return index < 0 ? undefined : this.#waiting.splice(index, 1)[0]
  }
}

function isMoment(line: TraceLine, moment: Moment): boolean {
  if (line.kind === "lock") return line.type === moment
  if (line.kind === "state") return workOf(line.value) === moment
  return line.kind === moment
}

const workOf = (value: object): unknown => {
  const [inner] = Object.values(value) as unknown[]
  return typeof inner === "object" && inner !== null && "work" in inner ? inner.work : inner
}

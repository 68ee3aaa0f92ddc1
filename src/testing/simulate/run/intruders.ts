/**
 * Who touches records of a simulated fleet without being one of it: two strangers, one that keeps what it doesn't know
 * and one that drops it, and an operator. Owns which of them does what a fault says, and that they leave nothing
 * behind.
 */
import type { TraceRecorder } from "../../../inspector/recorder.ts"
import { encodeName, sandboxLockKey } from "../../../locks/api/keys.ts"
import type { ObjectRef } from "../../../locks/stores/port.ts"
import type { VirtualTime } from "../../../runtime/time/virtual-time.ts"
import { Operator } from "../../simulated-store/operator.ts"
import type { SimulatedStore } from "../../simulated-store/store.ts"
import { Stranger } from "../../simulated-store/stranger.ts"
import { Draw } from "../plan/draw.ts"
import { type OperatorFault, operatorKinds, type StrangerFault } from "../plan/faults.ts"
import type { Fault } from "../plan/plan.ts"

/** What they do. */
export type Intrusion = StrangerFault | OperatorFault

/** Whether a fault is done by the operator. */
export const isOperation = (fault: Fault): fault is OperatorFault =>
  (operatorKinds as readonly string[]).includes(fault.kind)

/** Whether a fault is done by one of them. */
export const isIntrusion = (fault: Fault): fault is Intrusion => fault.kind === "stranger" || isOperation(fault)

/** Where they are. */
export interface IntruderParts {
  /** The sandbox's name. */
  readonly sandbox: string
  readonly seed: number
  readonly time: VirtualTime
  readonly store: SimulatedStore
  readonly recorder: TraceRecorder
}

/** All of them. */
export class Intruders {
  readonly #parts: IntruderParts
  readonly #keeps: Stranger
  readonly #drops: Stranger
  readonly #operator: Operator

  /** Before they have touched anything. The clock of one of the strangers may be slow. */
  constructor(parts: IntruderParts) {
    const { seed, store, time } = parts
    const now = (): number => time.read().wall
    const slow = new Draw(seed, "stranger").pick([0, 500, 4000])
    this.#parts = parts
    this.#keeps = new Stranger("stranger-1", { store, now, keeps: true })
    this.#drops = new Stranger("stranger-2", { store, now: () => now() - slow, keeps: false })
    this.#operator = new Operator(store)
  }

  /** Does what a fault says. */
  act(fault: Intrusion): void {
    const record = this.#recordOf(fault.key)
    switch (fault.kind) {
      case "stranger":
        return (fault.keeps ? this.#keeps : this.#drops).move(record, fault.move)
      case "deleteRecord":
        return this.#operator.delete(record)
      case "damageRecord":
        this.#operator.damage(record, fault.leaves)
        return void this.#parts.time.after(fault.ms, () => this.#mend(fault.key))
    }
  }

  /** They go: nothing of a key stays damaged, or theirs. */
  leave(key: string): void {
    this.#mend(key)
    for (const stranger of [this.#keeps, this.#drops]) stranger.goes(this.#recordOf(key))
  }

  #mend(key: string): void {
    const record = this.#recordOf(key)
    if (!this.#operator.hasToMend(record)) return
    this.#parts.recorder.fault("mendRecord", { detail: { key } })
    this.#operator.mend(record)
  }

  #recordOf(key: string): ObjectRef {
    return { area: "leases", name: encodeName(sandboxLockKey(this.#parts.sandbox, key)) }
  }
}

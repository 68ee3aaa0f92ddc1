/**
 * One key's turns at its store's door (admission.ts): a step of the protocol that would send something takes room for
 * it, or leaves it due and waits with a ticket, in the place of what is due then. Owns the ticket; sends nothing.
 */
import { type OnError, reporter } from "../../runtime/report.ts"
import type { Step } from "../protocol/reducer.ts"
import type { Act, Due, Input, LockState } from "../protocol/rules/state.ts"
import type { Now } from "../protocol/rules/time.ts"
import { safeStep } from "../protocol/safe-step.ts"
import type { Admission, Place, Slot, Ticket } from "./admission.ts"
import { placeOf } from "./urgency.ts"

/** What is due and has no room yet. */
interface Refused extends Place {
  readonly act: Act
}

/** A step, with the room for the request that it asks for, where it asks for one and room is counted. */
export type StepWithRoom = Step & { readonly slot: Slot | undefined }

/** Of one key. */
export class KeyTurns {
  readonly #door: () => Admission | undefined
  readonly #onTurn: (slot: Slot) => void
  readonly #onFault: OnError
  #waiting: (Refused & { readonly ticket: Ticket }) | undefined
  /** Its place among the attempts that began at the same time. */
  #number: number | undefined

  /** `door`: asked for at each use, as a store knows what it is only once it has started. `onTurn` has to step. */
  constructor(door: () => Admission | undefined, onTurn: (slot: Slot) => void, onError: OnError | undefined) {
    this.#door = door
    this.#onTurn = onTurn
    this.#onFault = reporter(onError)
  }

  /** What waits for its turn. */
  get queued(): Act | undefined {
    return this.#waiting?.act
  }

  /** An attempt begins: all its requests are in its place. */
  begin(): void {
    this.#number = this.#door()?.number()
  }

  /** One step, after whose fault the key rests. `given` is room that is used for what is due now, or free again. */
  step(before: LockState, input: Input, now: Now, given: Slot | undefined): StepWithRoom {
    const door = this.#door()
    let slot = given
    let refused: Refused | undefined
    const admits = (due: Due, state: LockState): boolean => {
      if (door === undefined) return true
      const place = placeOf(due, state, now.mono)
      slot ??= door.tryEnter(place.urgency)
      if (slot === undefined) refused = { ...place, act: due.act }
      return slot !== undefined
    }
    const stepped = safeStep(before, input, now, admits, this.#onFault)
    const sends = stepped.commands.some(({ type }) => type !== "abandon")
    if (!sends) slot?.free()
    this.#wait(door, refused)
    return { ...stepped, slot: sends ? slot : undefined }
  }

  /** Waits for room for what was refused, and for nothing else any more. */
  #wait(door: Admission | undefined, refused: Refused | undefined): void {
    const waiting = this.#waiting
    if (waiting !== undefined && refused?.act === waiting.act && refused.urgency === waiting.urgency) return
    waiting?.ticket.cancel()
    this.#waiting = undefined
    if (door === undefined || refused === undefined) return
    const ticket = door.queue({ ...refused, number: this.#number }, (slot) => {
      this.#waiting = undefined
      this.#onTurn(slot)
    })
    this.#waiting = { ...refused, ticket }
  }
}

/**
 * The turns of one key at its store's admission (admission.ts). A step of the protocol that would send a request takes
 * room for it. Where there is none, the request stays due, and the key waits for its turn. Owns the wait; sends
 * nothing.
 */
import { type OnError, reporter } from "../../runtime/report.ts"
import type { Step } from "../protocol/reducer.ts"
import type { Act, Due, Input, LockState } from "../protocol/rules/state.ts"
import type { Now } from "../protocol/rules/time.ts"
import { safeStep } from "../protocol/safe-step.ts"
import type { Admission, AdmissionPlace, Slot, Ticket } from "./admission.ts"
import { placeOf } from "./urgency.ts"

/** A request that is due and has no room yet. */
interface Refused extends AdmissionPlace {
  readonly act: Act
}

/** A step, with the room for its request: undefined where it sends none, or room isn't counted. */
export type StepWithRoom = Step & { readonly slot: Slot | undefined }

/** What the turns of a key are taken with. */
export interface KeyTurnsParts {
  readonly onError: OnError | undefined
  /** Called at each use, as a store knows its capabilities only once it has started. */
  door(): Admission | undefined
  /** Has to step. */
  onTurn(slot: Slot): void
}

/** Those of one key. */
export class KeyTurns {
  readonly #parts: KeyTurnsParts
  #waiting: (Refused & { readonly ticket: Ticket }) | undefined
  /** The number of the attempt's places: it orders attempts that began at the same time. */
  #number: number | undefined

  constructor(parts: KeyTurnsParts) {
    this.#parts = parts
  }

  /** The request that waits for its turn. */
  get queued(): Act | undefined {
    return this.#waiting?.act
  }

  /** An attempt begins: all its requests have one number. */
  begin(): void {
    this.#number = this.#parts.door()?.number()
  }

  /**
   * One step. `given`: room for what is due now; it is free again where nothing is sent. After a fault the key rests.
   */
  step(before: LockState, input: Input, now: Now, given: Slot | undefined): StepWithRoom {
    const door = this.#parts.door()
    let slot = given
    let refused: Refused | undefined
    const admits = (due: Due, state: LockState): boolean => {
      if (door === undefined) return true
      const place = placeOf(due, state, now.mono)
      slot ??= door.tryEnter(place.urgency)
      if (slot === undefined) refused = { ...place, act: due.act }
      return slot !== undefined
    }
    const stepped = safeStep(before, input, now, admits, (fault) => reporter(this.#parts.onError)(fault))
    const sends = stepped.commands.some(({ type }) => type !== "abandon")
    if (!sends) slot?.free()
    this.#wait(door, refused)
    return { ...stepped, slot: sends ? slot : undefined }
  }

  /** Waits for room for what was refused, instead of what was waited for before. */
  #wait(door: Admission | undefined, refused: Refused | undefined): void {
    const waiting = this.#waiting
    if (waiting !== undefined && refused?.act === waiting.act && refused.urgency === waiting.urgency) return
    waiting?.ticket.cancel()
    this.#waiting = undefined
    if (door === undefined || refused === undefined) return
    const ticket = door.queue({ ...refused, number: this.#number }, (slot) => {
      this.#waiting = undefined
      this.#parts.onTurn(slot)
    })
    this.#waiting = { ...refused, ticket }
  }
}

/**
 * What one activation remembers of durable calls: the memory as it is now, as it was in the checkpoint that was
 * acknowledged last, and the calls that wait for their turn. What of it is kept, and for how long, is memory.ts's
 * business.
 *
 * Whether a call is new is decided when it arrives, not in its turn: calls that are applied and forgotten in between
 * don't make it too old. A repetition that arrives while the call waits shares its entry, so one of them is applied.
 */
import { formatMemory, parseMemory } from "./format.ts"
import {
  AHEAD,
  type AnsweredCall,
  type CallAnswer,
  type CallMemory,
  type DurableCall,
  floorOf,
  type MemoryLimits,
  NO_CALLS,
  type Recall,
  recall,
  remember,
} from "./memory.ts"

/** What was found of calls in the store. */
export interface FoundCalls {
  /** Undefined where nothing was remembered. */
  readonly calls: Uint8Array | undefined
  /** Where the state was removed: calls sent by then may have been applied before. In Unix milliseconds; 0: none. */
  readonly callsUntil: number
}

/** Why a call is not let in. */
export type Refusal = Exclude<Recall, { readonly kind: "new" | "repeated" }>

/** A call that waits for its turn, with its repetitions. */
interface Waiting {
  readonly call: DurableCall
  /** How many of them wait. */
  count: number
  /** Undefined until it is applied. */
  answer: CallAnswer | undefined
}

export class RememberedCalls {
  readonly #limits: MemoryLimits
  readonly #storeTime: () => number
  readonly #waiting = new Map<string, Waiting>()
  #now: CallMemory = NO_CALLS
  #stored: CallMemory = NO_CALLS

  /** `storeTime`: in Unix milliseconds. */
  constructor(limits: MemoryLimits, storeTime: () => number) {
    this.#limits = limits
    this.#storeTime = storeTime
  }

  /** As it is now: immutable. */
  get memory(): CallMemory {
    return this.#now
  }

  /** The bytes of it for a checkpoint; undefined where there are none. */
  get bytes(): Uint8Array | undefined {
    return formatMemory(this.#now)
  }

  /** Begins with what the store has. Throws CorruptCheckpointError. */
  restore(lockKey: string, { calls, callsUntil }: FoundCalls): void {
    const found = calls === undefined ? NO_CALLS : parseMemory(lockKey, calls)
    this.#now = this.#stored = { ...found, forgottenUntil: Math.max(found.forgottenUntil, callsUntil) }
  }

  /**
   * What a tombstone says instead of all this, so that no call is applied again after it. Undefined where there never
   * was a durable call. `found` is what wasn't restored.
   */
  floor(lockKey: string, found: FoundCalls | undefined): number | undefined {
    const now = this.#storeTime()
    try {
      if (found !== undefined) this.restore(lockKey, found)
    } catch {
      return now + AHEAD // what can't be read may name calls that were dated so late
    }
    return this.#now.applied.length === 0 && this.#now.forgottenUntil === 0 ? undefined : floorOf(this.#now, now)
  }

  /** A checkpoint with this memory was acknowledged. */
  stored(memory: CallMemory): void {
    this.#stored = memory
  }

  /**
   * Lets a call wait for its turn, or says why not. `isFirst`: it was never sent before, so it is dated anew where all
   * that was sent when it was is forgotten.
   */
  admit(call: DurableCall, isFirst: boolean): AdmittedCall | Refusal {
    const waiting = this.#waiting.get(call.id)
    if (waiting !== undefined)
      return waiting.call.digest === call.digest ? this.#admitted(waiting) : { kind: "otherCall" }
    const found = recall(this.#now, call, this.#storeTime())
    if (found.kind === "tooOld" && isFirst)
      return this.#admitted({ call: { ...call, sentAt: found.forgottenUntil + 1 }, count: 0, answer: undefined })
    if (found.kind !== "new" && found.kind !== "repeated") return found
    return this.#admitted({ call, count: 0, answer: found.kind === "repeated" ? found.answer : undefined })
  }

  #admitted(waiting: Waiting): AdmittedCall {
    const { id } = waiting.call
    waiting.count++
    this.#waiting.set(id, waiting)
    return new AdmittedCall(waiting, {
      applied: (call) => {
        this.#now = remember(this.#now, call, this.#limits, this.#storeTime())
      },
      isStored: () => this.#stored.applied.some((call) => call.id === id),
      left: () => {
        if (--waiting.count === 0) this.#waiting.delete(id)
      },
    })
  }
}

interface AdmittedTo {
  applied(call: AnsweredCall): void
  isStored(): boolean
  left(): void
}

/** A durable call from its arrival to its end. */
export class AdmittedCall implements Disposable {
  readonly kind = "admitted" as const
  readonly #waiting: Waiting
  readonly #to: AdmittedTo

  constructor(waiting: Waiting, to: AdmittedTo) {
    this.#waiting = waiting
    this.#to = to
  }

  /** As it was let in. */
  get call(): DurableCall {
    return this.#waiting.call
  }

  /** What it was answered; undefined where it is to be applied. */
  get answer(): CallAnswer | undefined {
    return this.#waiting.answer
  }

  /** Its effect is in the state. */
  applied(answer: CallAnswer): void {
    this.#waiting.answer = answer
    this.#to.applied({ ...this.#waiting.call, answer })
  }

  /** Whether its effect is known to be stored. */
  get isStored(): boolean {
    return this.#to.isStored()
  }

  [Symbol.dispose](): void {
    this.#to.left()
  }
}

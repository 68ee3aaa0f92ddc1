/**
 * What one activation remembers of durable calls: the memory as it is now, as it was in the checkpoint that was
 * acknowledged last, and the calls that wait for their turn. What of it is kept, and for how long, is memory.ts's
 * business.
 *
 * Whether a call is new is decided when it arrives, not in its turn: calls that are applied and forgotten in between
 * don't make it too old. A repetition that arrives while the call waits or runs shares its entry, so one of them is
 * applied.
 */
import { formatMemory, parseMemory } from "./format.ts"
import {
  AHEAD,
  applied,
  type CallAnswer,
  type CallMemory,
  type DurableCall,
  firstDate,
  floorOf,
  type KeptAnswer,
  type MemoryLimits,
  NO_CALLS,
  type Recall,
  recall,
  remember,
  trimmed,
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

/** A call on its way through its turn, with its repetitions. */
interface Entry {
  readonly call: DurableCall
  /** How many of them are on their way. */
  count: number
  /** Undefined until it is applied. */
  answer: KeptAnswer | undefined
}

/** What is remembered in a checkpoint. */
export interface TakenCalls {
  readonly memory: CallMemory
  /** Undefined where there is nothing. */
  readonly bytes: Uint8Array | undefined
}

export class RememberedCalls {
  readonly #limits: MemoryLimits
  readonly #storeTime: () => number
  readonly #entries = new Map<string, Entry>()
  #now: CallMemory = NO_CALLS
  #stored: CallMemory = NO_CALLS
  #found: FoundCalls | undefined
  /** Of a memory that hasn't changed since. */
  #taken: TakenCalls = { memory: NO_CALLS, bytes: undefined }

  /** `storeTime`: in Unix milliseconds. */
  constructor(limits: MemoryLimits, storeTime: () => number) {
    this.#limits = limits
    this.#storeTime = storeTime
  }

  /** What the store has is known, and not yet read: a removal needs no more than its date. */
  found(found: FoundCalls): void {
    this.#found = found
  }

  /** Begins with what was found. Throws CorruptCheckpointError. */
  restore(lockKey: string): void {
    if (this.#found !== undefined) this.#now = this.#stored = foundMemory(lockKey, this.#found)
    this.#found = undefined
  }

  /** For a checkpoint that has room for so many bytes of it: the oldest calls are forgotten until they fit. */
  take(room: number): TakenCalls {
    this.#now = trimmed(this.#now, this.#limits, this.#storeTime())
    for (let size = this.#now.applied.length > 0 ? room : 0; ; size = Math.floor(size / 2)) {
      if (this.#taken.memory !== this.#now) this.#taken = { memory: this.#now, bytes: formatMemory(this.#now) }
      if ((this.#taken.bytes?.byteLength ?? 0) <= room || this.#now.applied.length === 0) return this.#taken
      this.#now = trimmed(this.#now, { ...this.#limits, size }, this.#storeTime())
    }
  }

  /** A checkpoint with this memory was acknowledged. */
  stored(memory: CallMemory): void {
    this.#stored = memory
  }

  /** What a tombstone says instead of all this, so that no call that was applied is applied again after it. */
  floor(lockKey: string): number {
    const now = this.#storeTime()
    try {
      this.restore(lockKey)
      return floorOf(this.#now, now)
    } catch {
      return now + AHEAD // what can't be read may name calls that were dated so late
    }
  }

  /** Lets a call in, or says why not. `isFirst`: it was never sent before, so it is dated now. */
  admit(call: DurableCall, isFirst: boolean): AdmittedCall | Refusal {
    const now = this.#storeTime()
    const dated = isFirst ? { ...call, sentAt: firstDate(this.#now, now) } : call
    const entry = this.#entries.get(dated.id)
    if (entry !== undefined) return entry.call.digest === dated.digest ? this.#admitted(entry) : { kind: "otherCall" }
    const found = recall(this.#now, dated, now)
    if (found.kind !== "new" && found.kind !== "repeated") return found
    return this.#admitted({ call: dated, count: 0, answer: found.kind === "repeated" ? found.answer : undefined })
  }

  #admitted(entry: Entry): AdmittedCall {
    const { id } = entry.call
    entry.count++
    this.#entries.set(id, entry)
    return new AdmittedCall(entry, {
      applied: (answer) => {
        const call = applied(entry.call, answer, this.#limits)
        this.#now = remember(this.#now, call, this.#limits, this.#storeTime())
        return call.answer
      },
      isStored: () => this.#stored.applied.some((call) => call.id === id),
      left: () => {
        if (--entry.count === 0) this.#entries.delete(id)
      },
    })
  }
}

/** Throws CorruptCheckpointError. */
function foundMemory(lockKey: string, { calls, callsUntil }: FoundCalls): CallMemory {
  const found = calls === undefined ? NO_CALLS : parseMemory(lockKey, calls)
  return { ...found, forgottenUntil: Math.max(found.forgottenUntil, callsUntil) }
}

interface AdmittedTo {
  applied(answer: CallAnswer): KeptAnswer
  isStored(): boolean
  left(): void
}

/** A durable call from its arrival to the end of its turn. */
export class AdmittedCall {
  readonly kind = "admitted" as const
  readonly #entry: Entry
  readonly #to: AdmittedTo

  constructor(entry: Entry, to: AdmittedTo) {
    this.#entry = entry
    this.#to = to
  }

  /** As it was let in. */
  get call(): DurableCall {
    return this.#entry.call
  }

  /** What it was answered; undefined where it is to be applied. */
  get answer(): KeptAnswer | undefined {
    return this.#entry.answer
  }

  /** Its effect is in the state. */
  applied(answer: CallAnswer): void {
    this.#entry.answer = this.#to.applied(answer)
  }

  /** Whether its effect is known to be stored. */
  get isStored(): boolean {
    return this.#to.isStored()
  }

  /** Its turn has ended, or it came to none. Call it once. */
  leave(): void {
    this.#to.left()
  }
}

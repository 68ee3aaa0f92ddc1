/**
 * What one activation remembers of durable calls: the memory as it is now, and as it was in the checkpoint that was
 * acknowledged last. What of it is kept, and for how long, is memory.ts's business.
 */
import { formatMemory, parseMemory } from "./format.ts"
import {
  type AnsweredCall,
  type CallMemory,
  type DurableCall,
  type MemoryLimits,
  NO_CALLS,
  type Recall,
  recall,
  remember,
} from "./memory.ts"

export class RememberedCalls {
  readonly #limits: MemoryLimits
  #now: CallMemory = NO_CALLS
  #stored: CallMemory = NO_CALLS

  constructor(limits: MemoryLimits) {
    this.#limits = limits
  }

  /** As it is now: immutable. */
  get memory(): CallMemory {
    return this.#now
  }

  /** The bytes of it for a checkpoint; undefined where there are none. */
  get bytes(): Uint8Array | undefined {
    return formatMemory(this.#now)
  }

  /** Begins with what a checkpoint says. Throws CorruptCheckpointError. */
  restore(lockKey: string, bytes: Uint8Array | undefined): void {
    if (bytes !== undefined) this.#now = this.#stored = parseMemory(lockKey, bytes)
  }

  /** What the call is to those remembered. */
  recall(call: DurableCall): Recall {
    return recall(this.#now, call)
  }

  /** A call was applied, at `now` by the store's time. */
  applied(call: AnsweredCall, now: number): void {
    this.#now = remember(this.#now, call, this.#limits, now)
  }

  /** A checkpoint with this memory was acknowledged. */
  stored(memory: CallMemory): void {
    this.#stored = memory
  }

  /** Whether the effect of this call is known to be stored. */
  isStored({ id }: DurableCall): boolean {
    return this.#stored.applied.some((call) => call.id === id)
  }
}

/**
 * The saved state of one tenancy in the definition's own terms: the keeper of its head beside the codec of its schema,
 * with the manager's budgets.
 */
import type { Lease } from "../locks/lock.ts"
import type { Clock } from "../runtime/clock.ts"
import { orAbort } from "../runtime/races.ts"
import type { CheckpointCodec } from "./checkpoints/codec.ts"
import type { CheckpointKeeper, Claimed } from "./checkpoints/keeper.ts"

/** What it is made of. Budgets are milliseconds. */
export interface SavedStateParts {
  readonly lockKey: string
  readonly keeper: CheckpointKeeper
  readonly codec: CheckpointCodec<unknown, unknown>
  readonly lease: Lease
  readonly clock: Clock
  readonly claimWithin: number
  readonly checkpointWithin: number
}

export class SavedState {
  readonly #parts: SavedStateParts

  constructor(parts: SavedStateParts) {
    this.#parts = parts
  }

  /**
   * Fences the head for this tenancy; from then on the sandbox may run. Rejects with why it may not. `onDelay` hears how
   * long that takes where a former owner has to be waited out, in milliseconds: after a failure too.
   */
  async claim(signal: AbortSignal, onDelay: (ms: number) => void): Promise<Claimed> {
    const { keeper, lease, claimWithin, clock } = this.#parts
    try {
      return await keeper.claim({ lease, budget: claimWithin, signal })
    } finally {
      const delay = keeper.runAfterMs - clock.mono()
      if (delay > 0) {
        onDelay(delay)
        await this.#pause(delay)
      }
    }
  }

  /** What `restore` gets. Rejects with CheckpointVersionError or CorruptCheckpointError. */
  async decode({ checkpoint, version }: Claimed): Promise<unknown> {
    const { codec, lockKey } = this.#parts
    return checkpoint === undefined ? undefined : codec.decode(lockKey, checkpoint, version)
  }

  /** What is stored. Rejects with CheckpointInvalidError. */
  encode(value: unknown): Promise<Uint8Array> {
    return this.#parts.codec.encode(this.#parts.lockKey, value)
  }

  /** Settles when it is acknowledged. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#parts.keeper.commit(bytes, { budget: this.#parts.checkpointWithin })
  }

  /** Whether a later owner has claimed the head. */
  get isFenced(): boolean {
    return this.#parts.keeper.isFenced
  }

  /** Once it is closed: what a grant tells the next owner of it. */
  get left(): string | undefined {
    return this.#parts.keeper.left
  }

  /** Replaces what is saved by a tombstone. */
  remove(): Promise<void> {
    return this.#parts.keeper.remove({ budget: this.#parts.checkpointWithin })
  }

  /** Takes no more writes; settles when those under way, and the deletes they led to, have ended. Never rejects. */
  close(): Promise<void> {
    return this.#parts.keeper.close()
  }

  /**
   * Waits out a former owner whose record was deleted by hand. Not to be cut short by who wants the sandbox to leave: once
   * released, the next owner would know nothing of that former one.
   */
  async #pause(ms: number): Promise<void> {
    const { clock, lease } = this.#parts
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = clock.after(ms, resolve)
    try {
      await orAbort(promise, lease.signal)
    } finally {
      timer.cancel()
    }
  }
}

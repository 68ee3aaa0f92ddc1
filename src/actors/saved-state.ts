/**
 * The saved state of one tenancy in the definition's own terms: the keeper of its head beside the codec of its schema,
 * with the manager's budgets.
 */
import type { Lease } from "../locks/lock.ts"
import type { Clock } from "../runtime/clock.ts"
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
   * long that takes at least where a former owner has to be waited out, in milliseconds. That isn't cut short by who wants the
   * sandbox to leave: the next owner would have to wait as long again.
   */
  async claim(signal: AbortSignal, onDelay: (ms: number) => void): Promise<Claimed> {
    const { keeper, lease, claimWithin } = this.#parts
    const claimed = await keeper.claim({ lease, budget: claimWithin, signal })
    if (claimed.quietMs > 0) onDelay(claimed.quietMs)
    await keeper.waitOut()
    return claimed
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
}

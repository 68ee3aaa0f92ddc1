/**
 * The saved state of one activation in the definition's own terms: the writer of its head beside the codec of its schema,
 * with the manager's budgets.
 */
import type { Lease } from "../../locks/api/lock.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { CheckpointCodec, CodecScope } from "../checkpoints/content/codec.ts"
import type { CheckpointWriter, Claimed } from "../checkpoints/writer.ts"

/** What it is made of. Budgets are milliseconds. */
export interface SavedStateParts {
  /** As the user knows it. */
  readonly key: string
  readonly lockKey: string
  readonly writer: CheckpointWriter
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
   * Fences the head for this activation; from then on the sandbox may run. Rejects with why it may not. Where a former owner
   * has to be waited out it takes that long too. Only `departing` cuts that short, not `ending`: the next owner would have to
   * wait as long again.
   */
  async claim(ending: AbortSignal, departing: AbortSignal): Promise<Claimed> {
    const { writer, lease, claimWithin } = this.#parts
    const claimed = await writer.claim({ lease, budget: claimWithin, signal: ending })
    await writer.waitOut({ signal: departing })
    return claimed
  }

  /** What `restore` gets. Rejects with CheckpointVersionError, CorruptCheckpointError, or as `run` does. */
  async decode({ checkpoint, version }: Claimed, run: CodecScope["run"]): Promise<unknown> {
    return checkpoint === undefined ? undefined : this.#parts.codec.decode(this.#scope(run), checkpoint, version)
  }

  /** What is stored. Rejects with CheckpointInvalidError, or as `run` does. */
  encode(value: unknown, run: CodecScope["run"]): Promise<Uint8Array> {
    return this.#parts.codec.encode(this.#scope(run), value)
  }

  /** Settles when it is acknowledged. `until`, by the clock's monotonic time, nobody waits for it any more. */
  write(bytes: Uint8Array, until: number): Promise<void> {
    const { writer, clock } = this.#parts
    return writer.commit(bytes, { budget: Math.max(0, until - clock.mono()) })
  }

  /** Whether a later owner has claimed the head. */
  get isFenced(): boolean {
    return this.#parts.writer.isFenced
  }

  /** Once it is closed: what a grant tells the next owner of it. */
  get left(): string | undefined {
    return this.#parts.writer.left
  }

  /** Replaces what is saved by a tombstone. */
  remove(): Promise<void> {
    return this.#parts.writer.remove({ budget: this.#parts.checkpointWithin })
  }

  /** Takes no more writes; settles when those under way, and the deletes they led to, have ended. Never rejects. */
  close(): Promise<void> {
    return this.#parts.writer.close()
  }

  #scope(run: CodecScope["run"]): CodecScope {
    const { key, lockKey, lease } = this.#parts
    return { key, lockKey, token: lease.token, run }
  }
}

/**
 * The saved state of one activation: what it is restored from, and the checkpoints that are taken and stored of it.
 * Owns when the definition's code for saved state runs, under which limit, and the counts of what came of it. How the
 * head is claimed and written is the checkpoint writer's business.
 *
 * Not promised: that a checkpoint ends within its limit. A hook that ignores its signal keeps its turn until it ends.
 */
import type { Lease } from "../../locks/api/lock.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { DefinitionParts } from "../api/definition.ts"
import type { HookLimits } from "../api/hooks.ts"
import type { CheckpointReason } from "../api/sandbox.ts"
import type { CheckpointCodec, CodecScope } from "../checkpoints/content/codec.ts"
import type { CheckpointWriter, Claimed } from "../checkpoints/writer.ts"
import type { SandboxTally } from "./tally.ts"
import { Commits } from "./work/commits.ts"
import type { HookRuns } from "./work/hook-runs.ts"
import type { Turns } from "./work/turns.ts"

/** What it is made of. */
export interface SavedStateParts {
  /** As the user knows it. */
  readonly key: string
  readonly lockKey: string
  readonly definition: DefinitionParts
  readonly writer: CheckpointWriter
  readonly codec: CheckpointCodec<unknown, unknown>
  readonly lease: Lease
  readonly clock: Clock
  readonly limits: HookLimits
  readonly tally: SandboxTally
  readonly hooks: HookRuns
  readonly turns: Turns
  /** The live state. */
  readonly state: () => unknown
  /** A checkpoint was taken, and is written from now on. */
  readonly onWrite: () => void
  /** A later owner has claimed the head: whatever the lease says of itself, it is lost. */
  readonly onFenced: (error: unknown) => void
}

/** A checkpoint that was taken. */
interface TakenCheckpoint {
  readonly bytes: Uint8Array
  /** When its hook began, by the clock's monotonic time. */
  readonly from: number
  /** Taking and storing it have one limit: what is left of that, by the clock's monotonic time. */
  readonly until: number
}

export class SavedState {
  readonly commits: Commits<TakenCheckpoint>
  readonly #parts: SavedStateParts
  /** Why no checkpoint can be taken now: the limit of one is over, and its hook goes on. Undefined where one can. */
  #hindrance: Error | undefined

  constructor(parts: SavedStateParts) {
    this.#parts = parts
    this.commits = new Commits<TakenCheckpoint>({
      take: (begun) => this.#take(begun),
      write: (taken) => this.#write(taken),
      hindrance: () => this.#hindrance,
    })
  }

  /**
   * Fences the head for this activation: from then on the sandbox may run. Rejects with why it may not. Where a former
   * owner has to be waited out, it takes that long too. Only `departing` ends that wait, and not `ending`: the next
   * owner would have to wait as long again.
   */
  async claim(ending: AbortSignal, departing: AbortSignal): Promise<Claimed> {
    const { writer, lease, limits } = this.#parts
    const claimed = await writer.claim({ lease, budget: limits.restoreWithin, signal: ending })
    await writer.waitOut({ signal: departing })
    return claimed
  }

  /** What `restore` gets. Rejects with CheckpointVersionError, CorruptCheckpointError, or as `run` does. */
  async decode({ checkpoint, version }: Claimed, run: CodecScope["run"]): Promise<unknown> {
    return checkpoint === undefined ? undefined : this.#parts.codec.decode(this.#scope(run), checkpoint, version)
  }

  /** What a grant tells the next owner of the head; undefined while a write may still land. */
  get left(): string | undefined {
    return this.#parts.writer.left
  }

  /** Replaces what is saved by a tombstone. All who wait for a checkpoint reject with `error`. */
  async remove(error: Error): Promise<void> {
    const { writer, limits } = this.#parts
    this.commits.close(error)
    await writer.remove({ budget: limits.checkpointWithin })
  }

  /**
   * Rejects all who wait for a checkpoint with `error`, and takes no more writes. Settles when the writes under way,
   * and the deletes that they led to, have ended. Never rejects.
   */
  close(error: Error): Promise<void> {
    this.commits.close(error)
    return this.#parts.writer.close()
  }

  /**
   * Takes a checkpoint in a turn, and encodes it there: what the hook returned may be part of the live state. Where its
   * limit is over it rejects, and the turn goes on until the hook has ended.
   */
  #take(begun: () => CheckpointReason): Promise<TakenCheckpoint> {
    const taken = Promise.withResolvers<TakenCheckpoint>()
    void this.#parts.turns.run(() => this.#takeInTurn(begun, taken), { from: "own" }).catch(taken.reject)
    return taken.promise
  }

  async #takeInTurn(begun: () => CheckpointReason, taken: PromiseWithResolvers<TakenCheckpoint>): Promise<void> {
    const { definition, codec, hooks, lease, limits, state, tally, clock } = this.#parts
    const from = clock.mono()
    const limit = hooks.limit("checkpointWithin", limits.checkpointWithin)
    const { run, ended } = hooks.series({ under: [lease.signal], limit })
    try {
      const reason = begun()
      const hook = async (signal: AbortSignal): Promise<unknown> =>
        definition.hooks.checkpoint(state(), { reason, signal })
      const bytes = await codec.encode(this.#scope(run), await run("checkpoint", hook, reason))
      taken.resolve({ bytes, from, until: limit.until })
    } catch (error) {
      tally.checkpointsFailed++
      if (hooks.isOverrun(error)) this.#hindrance = error as Error
      taken.reject(error)
    }
    await ended()
    this.#hindrance = undefined
  }

  /** Settles when it is acknowledged, or when its limit is over. */
  async #write({ bytes, from, until }: TakenCheckpoint): Promise<void> {
    const { writer, tally, clock, onWrite, onFenced } = this.#parts
    onWrite()
    try {
      await writer.commit(bytes, { budget: Math.max(0, until - clock.mono()) })
      tally.checkpoints++
      tally.checkpointBytes += bytes.byteLength
      tally.checkpointMs += clock.mono() - from
    } catch (error) {
      tally.checkpointsFailed++
      if (writer.isFenced) onFenced(error)
      throw error
    }
  }

  #scope(run: CodecScope["run"]): CodecScope {
    const { key, lockKey, lease } = this.#parts
    return { key, lockKey, token: lease.token, run }
  }
}

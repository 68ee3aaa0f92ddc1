/**
 * The saved state of one activation: what it is restored from, and the checkpoints that are taken and stored of it.
 * Owns when the definition's code for saved state runs, under which limit, and the counts of what came of it. How the
 * head is claimed and written is the checkpoint writer's business.
 *
 * Not promised: that a checkpoint ends within its limit. A hook that ignores its signal keeps its turn until it ends.
 */
import type { Lease } from "../../locks/api/lock.ts"
import type { CheckpointReason } from "../api/sandbox.ts"
import type { CallMemory } from "../calls/memory/memory.ts"
import { RememberedCalls } from "../calls/memory/remembered.ts"
import type { CodecScope } from "../checkpoints/content/codec.ts"
import { joined } from "../checkpoints/objects/parts.ts"
import type { Claimed } from "../checkpoints/writer.ts"
import type { RuntimeParts, Surroundings } from "./runtime-parts.ts"
import { Commits, type CommitSteps } from "./work/commits.ts"
import type { HookRuns } from "./work/hook-runs.ts"
import type { Turns } from "./work/turns.ts"

/** Hears of it. None of these may throw. */
export interface SavedStateListener {
  /** A checkpoint was taken, and is written from now on. */
  onWrite(): void
  /** A later owner has claimed the head: whatever the lease says of itself, it is lost. */
  onFenced(error: unknown): void
}

/** Whose state it is. */
export interface StateOwner extends SavedStateListener {
  readonly lease: Lease
  readonly hooks: HookRuns
  readonly turns: Turns
  /** The live state. */
  readonly state: unknown
}

/** A checkpoint that was taken. */
interface TakenCheckpoint {
  readonly bytes: Uint8Array
  /** How many of them, at their end, are what is remembered of calls. */
  readonly calls: number
  /** The same as it is known here. */
  readonly memory: CallMemory | undefined
  /** When its hook began, by the clock's monotonic time. */
  readonly from: number
  /** Taking and storing it have one limit: what is left of that, by the clock's monotonic time. */
  readonly until: number
}

export class SavedState implements CommitSteps<TakenCheckpoint> {
  readonly commits: Commits<TakenCheckpoint>
  readonly #owner: StateOwner
  readonly #around: Surroundings
  readonly #parts: RuntimeParts
  /** Why no checkpoint can be taken now: the limit of one is over, and its hook goes on. Undefined where one can. */
  #hindrance: Error | undefined
  /** Made where there are calls: most sandboxes have none. */
  #calls: RememberedCalls | undefined

  constructor(owner: StateOwner, around: Surroundings, parts: RuntimeParts) {
    this.#owner = owner
    this.#around = around
    this.#parts = parts
    this.commits = new Commits<TakenCheckpoint>(this)
  }

  /** The durable calls that it remembers. Part of each checkpoint. */
  get calls(): RememberedCalls {
    return (this.#calls ??= new RememberedCalls(this.#parts.definition.callMemory, this.#around.storeTime))
  }

  hindrance(): Error | undefined {
    return this.#hindrance
  }

  /**
   * Fences the head for this activation: from then on the sandbox may run. Rejects with why it may not. Where a former
   * owner has to be waited out, it takes that long too. Only `departing` ends that wait, and not `ending`: the next
   * owner would have to wait as long again.
   */
  async claim(ending: AbortSignal, departing: AbortSignal): Promise<Claimed> {
    const { writer } = this.#parts
    const budget = this.#around.limits.restoreWithin
    const claimed = await writer.claim({ lease: this.#owner.lease, budget, signal: ending })
    if (claimed.calls !== undefined || claimed.callsUntil > 0) this.calls.found(claimed)
    await writer.waitOut({ signal: departing })
    return claimed
  }

  /** What `restore` gets. Rejects with CheckpointVersionError, CorruptCheckpointError, or as `run` does. */
  async decode(claimed: Claimed, run: CodecScope["run"]): Promise<unknown> {
    const { checkpoint, version } = claimed
    this.#calls?.restore(this.#parts.lockKey)
    return checkpoint === undefined ? undefined : this.#parts.codec.decode(this.#scope(run), checkpoint, version)
  }

  /** What a grant tells the next owner of the head; undefined while a write may still land. */
  get left(): string | undefined {
    return this.#parts.writer.left
  }

  /** Replaces what is saved by a tombstone. All who wait for a checkpoint reject with `error`. */
  async remove(error: Error): Promise<void> {
    this.commits.close(error)
    const callsUntil = this.#callsUntil()
    const budget = this.#around.limits.checkpointWithin
    await this.#parts.writer.remove({ budget, ...(callsUntil !== undefined && { callsUntil }) })
  }

  /** Until when the calls were sent that a removal makes too old; undefined where there were none, nor could be. */
  #callsUntil(): number | undefined {
    const { lockKey, definition } = this.#parts
    const mayBeCalled = this.#calls !== undefined || [...definition.calls.values()].some(({ durable }) => durable)
    return mayBeCalled ? this.calls.floor(lockKey) : undefined
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
  take(begun: () => CheckpointReason): Promise<TakenCheckpoint> {
    const taken = Promise.withResolvers<TakenCheckpoint>()
    void this.#owner.turns.run(() => this.#takeInTurn(begun, taken), { from: "own" }).catch(taken.reject)
    return taken.promise
  }

  async #takeInTurn(begun: () => CheckpointReason, taken: PromiseWithResolvers<TakenCheckpoint>): Promise<void> {
    const { definition, codec, writer } = this.#parts
    const { limits, tally, clock } = this.#around
    const { hooks, lease, state } = this.#owner
    const from = clock.mono()
    const limit = hooks.limit("checkpointWithin", limits.checkpointWithin)
    const { run, ended } = hooks.series({ under: [lease.signal], limit })
    try {
      const reason = begun()
      const hook = async (signal: AbortSignal): Promise<unknown> =>
        definition.hooks.checkpoint(state, { reason, signal })
      const encoded = await codec.encode(this.#scope(run), await run("checkpoint", hook, reason))
      const remembered = this.#calls?.take(writer.maxBytes - encoded.byteLength)
      const { bytes, calls } = joined({ state: encoded, calls: remembered?.bytes })
      taken.resolve({ bytes, calls, memory: remembered?.memory, from, until: limit.until })
    } catch (error) {
      tally.checkpointsFailed++
      if (hooks.isOverrun(error)) this.#hindrance = error as Error
      taken.reject(error)
    }
    await ended()
    this.#hindrance = undefined
  }

  /** Settles when it is acknowledged, or when its limit is over. */
  async write({ bytes, calls, memory, from, until }: TakenCheckpoint): Promise<void> {
    const { writer } = this.#parts
    const { tally, clock } = this.#around
    this.#owner.onWrite()
    try {
      await writer.commit(bytes, { calls, budget: Math.max(0, until - clock.mono()) })
      if (memory !== undefined) this.calls.stored(memory)
      tally.checkpoints++
      tally.checkpointBytes += bytes.byteLength
      tally.checkpointMs += clock.mono() - from
    } catch (error) {
      tally.checkpointsFailed++
      if (writer.isFenced) this.#owner.onFenced(error)
      throw error
    }
  }

  #scope(run: CodecScope["run"]): CodecScope {
    const { key, lockKey } = this.#parts
    return { key, lockKey, token: this.#owner.lease.token, run }
  }
}

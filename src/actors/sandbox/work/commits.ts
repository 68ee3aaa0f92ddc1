/**
 * Group commit: one checkpoint at a time is taken and written. All who ask before the next one is taken share it. An
 * answer means that everything done before the call is in the store. How a checkpoint is taken and written is given.
 */
import { quiet } from "../../../runtime/races.ts"
import type { CheckpointReason } from "../../api/sandbox.ts"

/** How to save. */
export interface CommitSteps<Saved> {
  /** Takes a checkpoint, in a turn; calls `begun` when that turn begins: what is done later it may not contain. */
  take(begun: () => CheckpointReason): Promise<Saved>
  /** Settles when it is acknowledged. */
  write(saved: Saved): Promise<void>
  /** Why none can be taken now: the taking of one was given up, and hasn't ended. Undefined where one can. */
  hindrance?(): Error | undefined
}

interface Batch extends PromiseWithResolvers<void> {
  reason: CheckpointReason
}

const newBatch = (reason: CheckpointReason): Batch => {
  const batch = { ...Promise.withResolvers<void>(), reason }
  void quiet(batch.promise)
  return batch
}

export class Commits<Saved> {
  readonly #steps: CommitSteps<Saved>
  /** The one that is still to be taken. */
  #next: Batch | undefined
  /** The one that is being taken or written. */
  #current: Batch | undefined
  #working = false
  #closed: { readonly error: unknown } | undefined

  constructor(steps: CommitSteps<Saved>) {
    this.#steps = steps
  }

  /** Settles when a checkpoint of what is done so far is acknowledged; rejects with why it isn't. */
  request(reason: CheckpointReason): Promise<void> {
    const refusal = (this.#closed?.error as Error | undefined) ?? this.#steps.hindrance?.()
    if (refusal !== undefined) return quiet(Promise.reject(refusal))
    const batch = (this.#next ??= newBatch(reason))
    if (reason === "handoff") batch.reason = reason
    if (!this.#working) void this.#work()
    return batch.promise
  }

  /**
   * Rejects all requests that aren't acknowledged, now and later. A write under way isn't stopped. None begins any
   * more: a checkpoint that is still being taken is dropped.
   */
  close(error: unknown): void {
    this.#closed ??= { error }
    this.#current?.reject(error)
    this.#next?.reject(error)
  }

  async #work(): Promise<void> {
    this.#working = true
    while (this.#next !== undefined && this.#closed === undefined) await this.#commit(this.#next)
    this.#working = false
  }

  async #commit(batch: Batch): Promise<void> {
    this.#current = batch
    try {
      const saved = await this.#steps.take(() => {
        this.#refuseClosed()
        return this.#begin(batch)
      })
      this.#refuseClosed()
      await this.#steps.write(saved)
      batch.resolve()
    } catch (error) {
      this.#begin(batch)
      batch.reject(error)
      if (this.#steps.hindrance?.() !== undefined) this.#failNext(error)
    }
  }

  /** Rejects those who asked for the next one: they would wait for the end of a hook that was given up. */
  #failNext(error: unknown): void {
    this.#next?.reject(error)
    this.#next = undefined
  }

  #refuseClosed(): void {
    if (this.#closed !== undefined) throw this.#closed.error
  }

  #begin(batch: Batch): CheckpointReason {
    if (this.#next === batch) this.#next = undefined
    return batch.reason
  }
}

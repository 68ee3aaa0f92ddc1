/**
 * Keeps the saved state of one sandbox for one activation (rules 15 to 18). Claims the head before the sandbox runs,
 * commits checkpoints one at a time, and deletes those that they supersede. The head's protocol is in protocol.ts. This
 * file owns what surrounds it: content objects, callers that share a write, budgets, errors.
 *
 * Not promised: that a commit that ends in CheckpointUnknownError is not stored. A CheckpointRejectedError means that a
 * later owner has claimed the head: the lease is lost, whatever it says of itself.
 */
import { type LockError, LockNotHeldError } from "../../locks/api/errors.ts"
import type { Lease } from "../../locks/api/lock.ts"
import type { LeaseOrigin } from "../../locks/stores/identity.ts"
import type { CheckpointStore, Generation } from "../../locks/stores/port.ts"
import { countOf } from "../../runtime/input/bounds.ts"
import { refusal } from "../../runtime/input/options.ts"
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { type Claimed, type ClaimOptions, claimState } from "./claim.ts"
import { DEFAULT_CAP, overCap } from "./content/codec.ts"
import { storeContent } from "./content/content.ts"
import { Garbage } from "./garbage.ts"
import { fitsInline, inlined, HEAD_REQUEST_MS, KEPT_LIMIT, namedContents, type RemovedCalls } from "./head/head.ts"
import { leftBy } from "./head/protocol.ts"
import type { HeadTask } from "./head/types.ts"
import { HeadWriter } from "./head/writer.ts"
import { holdsBytes } from "./head/writes.ts"
import { digestOf } from "./objects/digest.ts"
import { contentName } from "./objects/names.ts"
import { lossOf, notReached, type StatePlace, rejected, unknownFate } from "./objects/problems.ts"
import { failureOf } from "./outcomes.ts"
import { PendingWrite, type WriteKind } from "./pending-write.ts"

export type { Claimed, ClaimOptions } from "./claim.ts"

const writing = "Writing the saved state"

/** Whose state, and how it is kept. */
export interface CheckpointWriterOptions extends LeaseOrigin {
  readonly store: CheckpointStore
  readonly clock: Clock
  readonly lockKey: string
  /** The definition's name. */
  readonly type: string
  /** The definition's version. */
  readonly version: number
  /** Whether the lease store was ever used under a boot. Without it heads of all boots are taken. */
  readonly knowsBoot?: ((boot: string) => Promise<boolean>) | undefined
  /** Of the lease; the next owner may have to wait for it. */
  readonly ttlMs: number
  /** How many older content objects stay, 0 to 32; default 1. States that sit in the head leave none. */
  readonly keepCheckpoints?: number | undefined
  /** The most bytes of one checkpoint; default 32 MiB. */
  readonly maxCheckpoint?: number | undefined
  /** Takes over heads that were written under leases of another store. */
  readonly adoptHeads?: boolean | undefined
  /**
   * Claims after every grant, so that each owner's token is in the head. It is needed where processes don't read one
   * clock: should the lease record be deleted by hand, nothing else would know the last token.
   */
  readonly claimsGranted?: boolean | undefined
  /** Gets the errors of failed deletes. */
  readonly onError?: OnError | undefined
}

/** A commit. */
export interface CommitOptions extends WriteOptions {
  /** How many of the bytes, at their end, are what is remembered of calls; default 0. */
  readonly calls?: number
}

/** How long one caller waits, in milliseconds. */
export interface WriteOptions {
  readonly budget: number
}

export class CheckpointWriter {
  readonly #options: CheckpointWriterOptions
  readonly #place: StatePlace
  readonly #cap: number
  readonly #keep: number
  readonly #garbage: Garbage
  readonly #queue: PendingWrite[] = []
  #activation: { readonly lease: Lease; readonly headWriter: HeadWriter } | undefined
  #isPumping = false
  #isClosed = false

  /** Throws InvalidConfigError. */
  constructor(options: CheckpointWriterOptions) {
    this.#options = options
    const { store, clock, lockKey, type, onError, keepCheckpoints = 1, maxCheckpoint = DEFAULT_CAP } = options
    this.#place = { store: store.name, lockKey, type }
    this.#cap = countOf("maxCheckpoint", maxCheckpoint, 1)
    this.#keep = countOf("keepCheckpoints", keepCheckpoints)
    if (this.#keep > KEPT_LIMIT) throw refusal(`keepCheckpoints is ${this.#keep}`, `Give at most ${KEPT_LIMIT}`)
    this.#garbage = new Garbage({ store, clock, place: this.#place, onError })
  }

  /**
   * Claims the head, and gets what it holds. Before it has settled, and `waitOut` after it, the sandbox must not run.
   * After a failure it may be called again with the same lease.
   *
   * Rejects with CorruptCheckpointError, FormatVersionError, CheckpointVersionError, StoreMisconfiguredError (a head of
   * another lease store), StoreUnavailableError, LockCancelledError, LockLostError, or CheckpointRejectedError where a
   * later owner was faster. Nothing runs and nothing is lost then; the head may carry this owner's token.
   */
  async claim({ lease, budget, signal }: ClaimOptions): Promise<Claimed> {
    const { store, clock } = this.#options
    this.#activation ??= { lease, headWriter: this.#openHeadWriter(lease) }
    const { headWriter } = this.#activation
    const { claimed, before } = await claimState({
      store,
      clock,
      place: this.#place,
      headWriter,
      lease,
      budget,
      signal,
    })
    const head = headWriter.state.base!.head!
    for (const content of namedContents(head)) this.#garbage.note(content)
    if (lease.how === "takeover" || (lease.how === "created" && before !== null)) this.#garbage.sweep(head)
    return claimed
  }

  /**
   * Settles once the sandbox may run. That is at once where the lease record proves that the owner whose head was
   * claimed has ended. Otherwise its record was deleted by hand, and it may be at work yet. Then this waits until the
   * own record has stood for as long as that owner's lease may last, and writes into the head that the wait is over: a
   * next owner needn't wait again.
   *
   * Rejects with LockLostError, with CheckpointRejectedError where a later owner was faster, and with
   * LockCancelledError where the signal aborts: the next owner has to wait as long, then.
   */
  async waitOut({ signal }: Pick<ClaimOptions, "signal"> = {}): Promise<void> {
    const { clock } = this.#options
    const { lease, headWriter } = this.#activation!
    const outcome = await headWriter.perform({ kind: "waitOut" }, Infinity, { signal })
    if (outcome.kind === "done") return
    throw failureOf(outcome, {
      place: this.#place,
      lease,
      headWriter,
      clock,
      signal,
      what: "Telling that the wait is over",
    })
  }

  /**
   * The note that a grant leaves to the next owner (rule 15), once no more writes are taken. Undefined while a write of
   * this owner may still land.
   */
  get left(): Generation | undefined {
    const isQuiet = this.#isClosed && this.#queue.length === 0
    return isQuiet && this.#activation !== undefined ? leftBy(this.#activation.headWriter.state) : undefined
  }

  /** A later owner has claimed the head: whatever the lease says of itself, it is lost. */
  get isFenced(): boolean {
    return this.#activation?.headWriter.state.phase === "fenced"
  }

  /**
   * Stores a checkpoint; settles once it is known to be stored. One write is under way at a time. Calls that come
   * meanwhile share the next one, which stores the bytes that came last. Bytes that the head holds already aren't
   * written.
   *
   * Rejects with:
   * - CheckpointInvalidError: over the cap.
   * - LockNotHeldError: before the claim, or after close.
   * - LockLostError, StoreUnavailableError: surely not stored.
   * - CheckpointRejectedError: surely not stored, and the lease is lost.
   * - CheckpointUnknownError: nobody can tell.
   */
  async commit(bytes: Uint8Array, { budget, calls = 0 }: CommitOptions): Promise<void> {
    if (bytes.byteLength > this.#cap) throw overCap(this.#place.lockKey, bytes.byteLength, this.#cap)
    const last = this.#queue.at(-1)
    const isJoined = last?.kind === "commit" && !last.isStarted
    const write = isJoined ? last : this.#enqueue("commit")
    write.bytes = bytes.slice() // its owner may go on changing them
    write.calls = calls
    return this.#wait(write, budget)
  }

  /** The most bytes that one commit may have. */
  get maxBytes(): number {
    return this.#cap
  }

  /** Leaves `removed` in the head and deletes the content. Rejects as `commit` does. */
  async remove({ budget, ...calls }: WriteOptions & RemovedCalls): Promise<void> {
    const write = this.#enqueue("remove")
    write.removed = calls
    return this.#wait(write, budget)
  }

  /**
   * Settles when no commit is under way, and the fate of each is known. A commit whose fate isn't known is sent again
   * until it is. Rejects as `commit` does.
   */
  async settle({ budget }: WriteOptions): Promise<void> {
    const isSettled = this.#queue.length === 0 && (this.#activation?.headWriter.state.unresolved ?? null) === null
    return isSettled ? undefined : this.#wait(this.#enqueue("settle"), budget)
  }

  /** Takes no more writes. Settles when those under way have ended, within their budgets, and deletes within 10 s. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#queue.map((write) => write.ended))
    this.#activation?.headWriter.close()
    await this.#garbage.close()
  }

  #openHeadWriter(lease: Lease): HeadWriter {
    const { store, clock, lockKey, type, version, ttlMs, adoptHeads = false, knowsBoot } = this.#options
    const { leases, leasesId, leasesBoot } = this.#options
    const left = this.#options.claimsGranted === true ? undefined : lease.note
    const spacingMs = store.capabilities.writeSpacing
    const origin = { leases, leasesId, leasesBoot }
    const kept = { key: lockKey, type, version, ...origin, ttlMs, keep: this.#keep, left, past: lease.past }
    const settings = { ...kept, spacingMs, requestMs: HEAD_REQUEST_MS }
    return new HeadWriter({ store, place: this.#place, clock, lease, settings, adoptHeads, knowsBoot })
  }

  #enqueue(kind: WriteKind): PendingWrite {
    if (this.#isClosed || (this.#activation?.headWriter.state.phase ?? "unclaimed") === "unclaimed") {
      throw new LockNotHeldError({
        message: `The head of ${this.#place.lockKey} is not claimed, or no longer kept`,
        next: "Claim it with a lease before anything is stored",
        key: this.#place.lockKey,
      })
    }
    const write = new PendingWrite(this.#options.clock, kind, (late) => this.#whyLate(late))
    this.#queue.push(write)
    return write
  }

  async #wait(write: PendingWrite, budget: number): Promise<void> {
    const waited = write.join(budget)
    void this.#pump()
    return waited
  }

  async #pump(): Promise<void> {
    if (this.#isPumping) return
    this.#isPumping = true
    for (let write = this.#queue[0]; write !== undefined; write = this.#queue[0]) {
      const pending = write
      await pending.run(() => this.#write(pending))
      this.#queue.shift()
    }
    this.#isPumping = false
  }

  async #write(write: PendingWrite): Promise<void> {
    const { clock } = this.#options
    const { lease, headWriter } = this.#activation!
    if (write.until <= clock.read().mono) throw this.#whyLate(write)
    if (headWriter.state.phase === "fenced") throw rejected(this.#place)
    if (lease.signal.aborted) throw lossOf(lease, clock.read().wall)
    const task = await this.#taskOf(write)
    if (task === undefined) return
    const outcome = await headWriter.perform(task, write.until)
    if (outcome.kind !== "done")
      throw failureOf(outcome, { place: this.#place, lease, headWriter, clock, what: writing })
    this.#collect(write.kind)
  }

  /** Undefined where the store says already what is to be written. */
  async #taskOf(write: PendingWrite): Promise<HeadTask | undefined> {
    if (write.kind === "commit") return this.#commitOf(write)
    return write.kind === "remove" ? { kind: "remove", calls: write.removed } : { kind: write.kind }
  }

  /**
   * The commit of these bytes. Their content is put into the store before any head can name it. Undefined where the
   * head holds these bytes already.
   */
  async #commitOf({ bytes, calls, until }: PendingWrite): Promise<HeadTask | undefined> {
    const { store, clock, version } = this.#options
    const { lease, headWriter } = this.#activation!
    const { base, unresolved, token } = headWriter.state
    const head = base?.head ?? null
    const parts = calls > 0 ? { calls } : {}
    const digest = digestOf(bytes)
    if (unresolved === null && holdsBytes(head, { ...digest, ...parts }, version)) return undefined
    if (fitsInline(head, bytes.byteLength)) return { kind: "commit", saved: inlined(bytes, { ...digest, ...parts }) }
    const freshName = (): string => {
      const name = contentName(token, (head?.seq ?? 0) + 1, clock.id())
      this.#garbage.note(name)
      return name
    }
    const patience = { clock, store, until, signal: lease.signal }
    const stored = await storeContent(store, this.#place, bytes, digest, freshName, patience).catch(
      (error: unknown) => {
        throw lease.signal.aborted ? lossOf(lease, clock.read().wall) : error
      },
    )
    this.#garbage.note(stored.content.content, stored.generation)
    return { kind: "commit", saved: { state: "content", ...stored.content, ...parts } }
  }

  /**
   * Deletes, after an acknowledged write, what it superseded. A later owner that has claimed this very write deletes
   * that itself.
   */
  #collect(kind: WriteKind): void {
    const { base, phase } = this.#activation!.headWriter.state
    const head = base?.head ?? null
    if (phase !== "owner" || head === null) return
    this.#garbage.superseded(head)
    if (kind === "remove") this.#garbage.sweep(head)
  }

  #whyLate({ isStarted }: PendingWrite): LockError {
    const { headWriter } = this.#activation!
    const why = "its answer didn't come within the budget"
    if (isStarted && headWriter.isSent) return unknownFate(this.#place, why, headWriter.trouble)
    return notReached(this.#place, writing, headWriter.trouble)
  }
}

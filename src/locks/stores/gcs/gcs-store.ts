/**
 * The store port on Google Cloud Storage: opens the bucket, proves that its server honours preconditions, and closes
 * it. Requests are objects.ts's. Only a start retries any.
 *
 * GCS is strongly consistent: a read that is sent after an answer sees that version or a later one.
 *
 * Not promised: anything about two calls that overlap; and that a read tells a bucket that was deleted after the start
 * from an absent object. A write does.
 */
import { type Clock, liveClock } from "../../../runtime/time/clock.ts"
import { sleep } from "../../../runtime/time/sleep.ts"
import { LockError, StoreMisconfiguredError, StoreUnavailableError } from "../../api/errors.ts"
import type {
  Area,
  CheckpointStore,
  Generation,
  LeaseStore,
  ListOptions,
  ObjectRef,
  Page,
  ReadAnswer,
  ReadOptions,
  RequestOptions,
  StartOptions,
  StoreCapabilities,
  WriteAnswer,
} from "../port.ts"
import { probe, type ProbeResult } from "../probe.ts"
import { RETRY_AFTER_MS } from "../start.ts"
import { connect } from "./connection/connection.ts"
import { checkOptions, type GcsSettings, type GcsStoreOptions } from "./connection/options.ts"
import { GaveUp, within } from "./http/limits.ts"
import { BucketObjects } from "./objects.ts"
import { Proofs } from "./proofs.ts"

/**
 * How long an open is tried again, in milliseconds. Failures that pass do so within this time, and a start that
 * outlives its caller by more keeps the process alive for nothing.
 */
const RETRY_FOR_MS = 5000

/** A bucket that answered, and what it remembers of being probed. */
interface Opened {
  readonly objects: BucketObjects
  readonly proofs: Proofs
  readonly proof: ProbeResult | undefined
}

/** Made by `gcsStore`. */
export class GcsStore implements LeaseStore, CheckpointStore {
  readonly leases = true as const
  readonly checkpoints = true as const
  readonly name: string
  readonly #settings: GcsSettings
  readonly #clock: Clock
  #capabilities: StoreCapabilities = {
    clock: "coarse",
    sameClock: false,
    deletes: false,
    cheapReads: false,
    writeSpacing: 1000,
  }
  #objects: BucketObjects | undefined
  /** The server is proved to honour the preconditions of writes. */
  #proved = false
  #opening: Promise<Opened> | undefined
  #starting: Promise<void> | undefined
  #closed = false

  constructor(options: GcsStoreOptions) {
    this.#settings = checkOptions(options)
    this.#clock = options.clock ?? liveClock
    this.name = this.#settings.name
  }

  get capabilities(): StoreCapabilities {
    return this.#capabilities
  }

  async start({ probe: depth = "once", ...options }: StartOptions): Promise<void> {
    if (this.#closed) throw this.#unready()
    const due = this.#clock.read().mono + options.deadline
    const ready: Promise<unknown> = depth === "never" ? this.#opened(due) : this.#started(due, depth === "again")
    try {
      await within(this.#clock, options, ready)
    } catch (error) {
      throw error instanceof GaveUp ? this.#startedTooLong(error) : error
    }
  }

  async read(ref: ObjectRef, options: ReadOptions): Promise<ReadAnswer> {
    return this.#objects?.read(ref, options) ?? { kind: "failed", error: this.#unready() }
  }

  async put(ref: ObjectRef, expected: Generation, body: Uint8Array, options: RequestOptions): Promise<WriteAnswer> {
    return this.#writable?.put(ref, expected, body, options) ?? { kind: "unknown", error: this.#unready() }
  }

  async remove(ref: ObjectRef, expected: Generation, options: RequestOptions): Promise<WriteAnswer> {
    return this.#writable?.remove(ref, expected, options) ?? { kind: "unknown", error: this.#unready() }
  }

  async list(area: Area, options: ListOptions): Promise<Page> {
    if (this.#objects === undefined) throw this.#unready()
    return this.#objects.list(area, options)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#disconnect()
  }

  get #writable(): BucketObjects | undefined {
    return this.#proved ? this.#objects : undefined
  }

  /** Settles when the store can read. The next start after a failure opens the bucket anew. */
  #opened(due: number): Promise<Opened> {
    this.#opening ??= this.#open(due).catch(async (error: unknown) => {
      this.#opening = undefined
      await this.#disconnect()
      throw error
    })
    return this.#opening
  }

  /** Settles when the store can write, too. The next start after a failure probes anew. */
  #started(due: number, again: boolean): Promise<void> {
    if (again) this.#starting = undefined
    this.#starting ??= this.#prove(due, again).catch((error: unknown) => {
      this.#starting = undefined
      if (error instanceof StoreMisconfiguredError) this.#proved = false
      throw error
    })
    return this.#starting
  }

  async #open(due: number): Promise<Opened> {
    const objects = new BucketObjects(await connect(this.#settings, this.#clock), this.#settings, this.#clock)
    this.#objects = objects
    if (this.#closed) throw this.#unready()
    const proofs = new Proofs(objects, this.#clock)
    const proof = await this.#patiently(due, (options) => proofs.recall(options))
    return { objects, proofs, proof }
  }

  async #prove(due: number, again: boolean): Promise<void> {
    const { objects, proofs, proof } = await this.#opened(due)
    if (proof !== undefined && !again) return this.#trust(proof)
    if (again) await proofs.forget(this.#limits(due)) // before it can turn out to be wrong, and this process end
    const found = await probe(objects, this.#clock, { deadline: this.#left(due) })
    this.#trust(found)
    // The result is known by now. Where the server is silent, half of the time left is lost, and the next start probes
    // again.
    const limits = { deadline: this.#left(due) / 2 }
    await within(this.#clock, limits, proofs.remember(found, limits)).catch(() => {})
  }

  #trust({ deletes }: ProbeResult): void {
    this.#capabilities = { ...this.#capabilities, deletes }
    this.#proved = true
  }

  /** Asks until there is an answer, or no time for another try. A caller that waits longer starts the store again. */
  async #patiently<A>(due: number, ask: (options: RequestOptions) => Promise<A>): Promise<A> {
    const lastTry = Math.min(due, this.#clock.read().mono + RETRY_FOR_MS) - RETRY_AFTER_MS
    for (;;) {
      try {
        return await ask(this.#limits(due))
      } catch (error) {
        if (!(error instanceof LockError && error.retryable) || this.#clock.read().mono >= lastTry) throw error
        await sleep(this.#clock, RETRY_AFTER_MS, undefined, { background: true })
      }
    }
  }

  async #disconnect(): Promise<void> {
    const objects = this.#objects
    this.#objects = undefined
    this.#proved = false
    await objects?.close()
  }

  #left(due: number): number {
    return Math.max(due - this.#clock.read().mono, 0)
  }

  #limits(due: number): RequestOptions {
    return { deadline: Math.min(this.#left(due), this.#settings.requestTimeout) }
  }

  #startedTooLong(cause: GaveUp): StoreUnavailableError {
    return new StoreUnavailableError({
      message: `${this.name} didn't start: ${cause.message}`,
      next: "Try again, with more time if it is far away",
      status: cause.code,
      cause,
    })
  }

  #unready(): StoreMisconfiguredError {
    if (this.#closed)
      return new StoreMisconfiguredError({ message: `${this.name} was closed`, next: "Make a new store" })
    if (this.#objects === undefined)
      return new StoreMisconfiguredError({ message: `${this.name} isn't started`, next: "Await its start() first" })
    return new StoreMisconfiguredError({
      message: `${this.name} was started for reading alone`,
      next: 'Await a start() without `probe: "never"` first',
    })
  }
}

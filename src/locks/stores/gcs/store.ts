/**
 * The store port on Google Cloud Storage: objects of a bucket, compare-and-swap by `ifGenerationMatch`, the time by the
 * `Date` of answers. One call is one request; nothing is retried here except while starting.
 *
 * GCS is strongly consistent, so that a read sent after an answer sees that version or a later one.
 * Not promised: anything about two calls that overlap; that a bucket deleted after the start is told from absent objects
 * by a read (a write tells).
 */
import { type Clock, liveClock } from "../../../runtime/clock.ts"
import { LockError, StoreMisconfiguredError, StoreUnavailableError } from "../../errors.ts"
import {
  ABSENT,
  type Area,
  type CheckpointStore,
  type Generation,
  type LeaseStore,
  type ListOptions,
  type ObjectRef,
  type Page,
  type ReadAnswer,
  type ReadOptions,
  type RequestOptions,
  type StoreCapabilities,
  type WriteAnswer,
} from "../../store.ts"
import { probe } from "../probe.ts"
import { isGeneration, readOutcome, removeOutcome, writeOutcome } from "./answers.ts"
import { connect, type Connection } from "./connection.ts"
import { EXPLANATION_LIMIT } from "./failures.ts"
import { GaveUp, pause, within } from "./limits.ts"
import { askBucket, listPage } from "./list.ts"
import { Multipart } from "./multipart.ts"
import { checkOptions, type GcsSettings, type GcsStoreOptions } from "./options.ts"
import { contentTypeOf } from "./paths.ts"

const RETRY_AFTER_MS = 1000
/** Failures that pass, pass in this time; a start that outlives its caller by more keeps the process for nothing. */
const RETRY_FOR_MS = 5000

/** Made by `gcsStore`. */
export class GcsStore implements LeaseStore, CheckpointStore {
  readonly leases = true as const
  readonly checkpoints = true as const
  readonly name: string
  readonly #settings: GcsSettings
  readonly #clock: Clock
  readonly #multipart: Multipart
  #capabilities: StoreCapabilities = {
    clock: "coarse",
    sameClock: false,
    deletes: false,
    cheapReads: false,
    writeSpacing: 1000,
  }
  #connection: Connection | undefined
  #starting: Promise<void> | undefined
  #closed = false

  constructor(options: GcsStoreOptions) {
    this.#settings = checkOptions(options)
    this.#clock = options.clock ?? liveClock
    this.#multipart = new Multipart(this.#clock.id())
    this.name = this.#settings.name
  }

  get capabilities(): StoreCapabilities {
    return this.#capabilities
  }

  async start(options: RequestOptions): Promise<void> {
    if (this.#closed) throw this.#unready()
    this.#starting ??= this.#start(options.deadline).catch(async (error: unknown) => {
      this.#starting = undefined
      await this.#disconnect()
      throw error
    })
    try {
      await within(this.#clock, options, this.#starting)
    } catch (error) {
      throw error instanceof GaveUp ? this.#startedTooLong(error) : error
    }
  }

  async read(ref: ObjectRef, options: ReadOptions): Promise<ReadAnswer> {
    const connection = this.#connection
    if (connection === undefined) return { kind: "failed", error: this.#unready() }
    const { limit } = options
    const enough = Math.max(limit, EXPLANATION_LIMIT)
    const known = isGeneration(options.known) ? options.known : undefined
    const path = connection.paths.read(ref, known)
    const request = { method: "GET" as const, path, headers: readHeaders, limit: enough, ...this.#limits(ref, options) }
    const answer = await connection.exchange("read", request)
    if (answer instanceof LockError) return { kind: "failed", error: answer }
    return readOutcome(connection.place, answer, known, limit)
  }

  async put(ref: ObjectRef, expected: Generation, body: Uint8Array, options: RequestOptions): Promise<WriteAnswer> {
    const connection = this.#connection
    if (connection === undefined) return { kind: "unknown", error: this.#unready() }
    if (expected !== ABSENT && !isGeneration(expected)) return { kind: "refused" }
    const answer = await connection.exchange("write", {
      method: "POST",
      path: connection.paths.upload(ref, expected),
      headers: { "content-type": this.#multipart.contentType },
      body: this.#multipart.wrap(body, contentTypeOf(ref)),
      limit: EXPLANATION_LIMIT,
      ...this.#limits(ref, options),
    })
    return answer instanceof LockError ? { kind: "unknown", error: answer } : writeOutcome(connection.place, answer)
  }

  async remove(ref: ObjectRef, expected: Generation, options: RequestOptions): Promise<WriteAnswer> {
    const connection = this.#connection
    if (connection === undefined) return { kind: "unknown", error: this.#unready() }
    if (!isGeneration(expected)) return { kind: "refused" }
    const path = connection.paths.remove(ref, expected)
    const request = { method: "DELETE" as const, path, headers: {}, limit: EXPLANATION_LIMIT }
    const answer = await connection.exchange("delete", { ...request, ...this.#limits(ref, options) })
    if (answer instanceof LockError) return { kind: "unknown", error: answer }
    return removeOutcome(connection.place, answer, expected)
  }

  async list(area: Area, options: ListOptions): Promise<Page> {
    const connection = this.#connection
    if (connection === undefined) throw this.#unready()
    return listPage(connection, this.#clock, area, options)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#disconnect()
  }

  async #start(deadline: number): Promise<void> {
    const due = this.#clock.read().mono + deadline
    const connection = (this.#connection = await connect(this.#settings, this.#clock))
    if (this.#closed) throw this.#unready()
    await this.#bucket(connection, due)
    const { deletes } = await probe(this, this.#clock, { deadline: this.#left(due) })
    this.#capabilities = { ...this.#capabilities, deletes }
  }

  /** Asks until there is an answer, or no time for another try. Who wants to wait longer starts the store again. */
  async #bucket(connection: Connection, due: number): Promise<void> {
    const lastTry = Math.min(due, this.#clock.read().mono + RETRY_FOR_MS) - RETRY_AFTER_MS
    for (;;) {
      try {
        return await askBucket(connection, { deadline: Math.min(this.#left(due), this.#settings.requestTimeout) })
      } catch (error) {
        if (!(error instanceof LockError && error.retryable) || this.#clock.read().mono >= lastTry) throw error
        await pause(this.#clock, { deadline: RETRY_AFTER_MS })
      }
    }
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    await connection?.close()
  }

  #left(due: number): number {
    return Math.max(due - this.#clock.read().mono, 0)
  }

  /** Contents may be large: only their caller knows how long they may take. */
  #limits(ref: ObjectRef, { deadline, signal }: RequestOptions): RequestOptions {
    const { requestTimeout } = this.#settings
    const most = contentTypeOf(ref) === "application/json" ? Math.min(deadline, requestTimeout) : deadline
    return signal === undefined ? { deadline: most } : { deadline: most, signal }
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
    return this.#closed
      ? new StoreMisconfiguredError({ message: `${this.name} was closed`, next: "Make a new store" })
      : new StoreMisconfiguredError({ message: `${this.name} isn't started`, next: "Await its start() first" })
  }
}

/** Deno would ask for compressed bodies, and then a body's length is no longer what the limit is about. */
const readHeaders = { "accept-encoding": "identity" }

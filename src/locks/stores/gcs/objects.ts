/**
 * The objects of a bucket over an open connection: compare-and-swap by `ifGenerationMatch`, the time by the `Date` of
 * answers. One call is one request, and nothing is retried here. The store decides when the connection is open, and
 * whether writes are allowed.
 */
import type { Clock } from "../../../runtime/time/clock.ts"
import { LockError } from "../../api/errors.ts"
import {
  ABSENT,
  type Generation,
  type ListOptions,
  type ObjectStore,
  type Page,
  type ReadAnswer,
  type ReadOptions,
  type RequestOptions,
  type WriteAnswer,
} from "../port.ts"
import { isGeneration, readOutcome, removeOutcome, writeOutcome } from "./connection/answers.ts"
import type { BucketConnection } from "./connection/connection.ts"
import { EXPLANATION_LIMIT } from "./connection/failures.ts"
import type { GcsSettings } from "./connection/options.ts"
import { contentTypeOf, type Folder, type FolderRef } from "./connection/paths.ts"
import { Multipart } from "./http/multipart.ts"
import { listPage } from "./list.ts"

/** One bucket and prefix. */
export class BucketObjects implements Pick<ObjectStore, "name" | "read" | "put" | "remove" | "list"> {
  readonly name: string
  readonly #connection: BucketConnection
  readonly #clock: Clock
  readonly #requestTimeout: number
  readonly #multipart: Multipart

  constructor(connection: BucketConnection, { name, requestTimeout }: GcsSettings, clock: Clock) {
    this.name = name
    this.#connection = connection
    this.#clock = clock
    this.#requestTimeout = requestTimeout
    this.#multipart = new Multipart(clock.id())
  }

  /** Which server has them, as messages name it. */
  get endpoint(): string {
    return this.#connection.place.endpoint
  }

  async read(ref: FolderRef, options: ReadOptions): Promise<ReadAnswer> {
    const { place, paths } = this.#connection
    const known = isGeneration(options.known) ? options.known : undefined
    const path = paths.read(ref, known)
    const limit = Math.max(options.limit, EXPLANATION_LIMIT)
    const request = { method: "GET" as const, path, headers: readHeaders, limit, ...this.#limits(ref, options) }
    const answer = await this.#connection.exchange("read", request)
    if (answer instanceof LockError) return { kind: "failed", error: answer }
    return readOutcome(place, answer, known, options.limit)
  }

  async put(ref: FolderRef, expected: Generation, body: Uint8Array, options: RequestOptions): Promise<WriteAnswer> {
    if (expected !== ABSENT && !isGeneration(expected)) return { kind: "refused" }
    const { place, paths } = this.#connection
    const answer = await this.#connection.exchange("write", {
      method: "POST",
      path: paths.upload(ref, expected),
      headers: { "content-type": this.#multipart.contentType },
      body: this.#multipart.wrap(body, contentTypeOf(ref)),
      limit: EXPLANATION_LIMIT,
      ...this.#limits(ref, options),
    })
    return answer instanceof LockError ? { kind: "unknown", error: answer } : writeOutcome(place, answer)
  }

  async remove(ref: FolderRef, expected: Generation, options: RequestOptions): Promise<WriteAnswer> {
    if (!isGeneration(expected)) return { kind: "refused" }
    const { place, paths } = this.#connection
    const path = paths.remove(ref, expected)
    const request = { method: "DELETE" as const, path, headers: {}, limit: EXPLANATION_LIMIT }
    const answer = await this.#connection.exchange("delete", { ...request, ...this.#limits(ref, options) })
    return answer instanceof LockError ? { kind: "unknown", error: answer } : removeOutcome(place, answer, expected)
  }

  list(area: Folder, options: ListOptions): Promise<Page> {
    return listPage(this.#connection, this.#clock, area, options)
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  /** Contents may be large: only their caller knows how long they may take. */
  #limits(ref: FolderRef, { deadline, signal }: RequestOptions): RequestOptions {
    const most = contentTypeOf(ref) === "application/json" ? Math.min(deadline, this.#requestTimeout) : deadline
    return signal === undefined ? { deadline: most } : { deadline: most, signal }
  }
}

/** Deno would ask for compressed bodies, whose length isn't that of the object: the limit is about the latter. */
const readHeaders = { "accept-encoding": "identity" }

/**
 * The result of a probe of a server, remembered in the bucket, so that later starts write nothing. It is two objects,
 * of which only the names count:
 *
 *     proofs/<version>-<server>-<period>                          the anchor
 *     proofs/<version>-<server>-<period>-<generation>-<deletes>   the proof; the generation is the anchor's
 *
 * One list shows both, and also whether the bucket is there. A proof counts where all of this holds:
 *
 *     version     The probe asked for as much as this release's does.
 *     server      The endpoint was this one, by its hash: a gateway on another way may drop preconditions.
 *     period      The server is Google's, or the proof is of today: another server can be replaced, its data kept.
 *     generation  The anchor has it, so that the server which gave it has it still: elsewhere a copy has another.
 *
 * A writer that is allowed to write here may write leases too, and gains nothing by a false proof.
 *
 * Not promised: that a server is probed again on the day on which another takes its place, with its data and its
 * generations. Nor that a proxy is noticed which came after the proof, and which this machine allows to open TLS.
 */
import type { Clock } from "../../../runtime/time/clock.ts"
import { sha256 } from "../../../runtime/time/hash.ts"
import { ABSENT, type Generation, type Page, type RequestOptions } from "../port.ts"
import type { ProbeResult } from "../probe.ts"
import type { FolderRef } from "./connection/paths.ts"
import type { BucketObjects } from "./objects.ts"

/** To be raised whenever the probe asks for more. */
const PROBE_VERSION = 1
/** Of the hash that stands for an endpoint, in characters: few endpoints lead to a bucket. */
const SERVER_LENGTH = 16
/** In milliseconds. */
const DAY = 86_400_000

/** What is remembered of one server. */
export class Proofs {
  readonly #objects: BucketObjects
  readonly #stem: string
  readonly #anchor: string
  /** As of the last `recall`. */
  #items: Page["items"] = []

  constructor(objects: BucketObjects, clock: Clock) {
    const { endpoint } = objects
    this.#objects = objects
    this.#stem = `${PROBE_VERSION}-${sha256(endpoint).slice(0, SERVER_LENGTH)}-`
    this.#anchor = this.#stem + (isGoogle(endpoint) ? "always" : `day${Math.floor(clock.read().wall / DAY)}`)
  }

  /**
   * The result that is remembered, by one request; undefined where none counts. Rejects as `list` does, also for a
   * missing bucket.
   */
  async recall(options: RequestOptions): Promise<ProbeResult | undefined> {
    this.#items = (await this.#objects.list("proofs", { ...options, prefix: this.#stem })).items
    const anchor = this.#generationOf(this.#anchor)
    if (anchor === undefined) return undefined
    // Of a server that was changed two processes may have found different results: then the one that promises less
    // counts.
    const proved = [false, true].find((deletes) => this.#generationOf(this.#name(anchor, deletes)) !== undefined)
    return proved === undefined ? undefined : { deletes: proved }
  }

  /**
   * Remembers a result: creates what is missing and removes what no longer counts. Where that fails, the next start
   * probes again.
   */
  async remember({ deletes }: ProbeResult, options: RequestOptions): Promise<void> {
    const anchor = this.#generationOf(this.#anchor) ?? (await this.#create(this.#anchor, options))
    if (anchor === undefined) return
    await this.#create(this.#name(anchor, deletes), options)
    await this.#remove((name) => name !== this.#anchor, options)
  }

  /** Deletes what is remembered: later starts probe again. Rejects as `recall` does. */
  async forget(options: RequestOptions): Promise<void> {
    await this.recall(options)
    await this.#remove(() => true, options)
    this.#items = []
  }

  #name(anchor: Generation, deletes: boolean): string {
    return `${this.#anchor}-${anchor}-${deletes ? "deletes" : "writes"}`
  }

  #generationOf(name: string): Generation | undefined {
    return this.#items.find((item) => item.name === name)?.generation
  }

  async #create(name: string, options: RequestOptions): Promise<Generation | undefined> {
    const body = new TextEncoder().encode(`${JSON.stringify({ v: 1, endpoint: this.#objects.endpoint })}\n`)
    const answer = await this.#objects.put(refOf(name), ABSENT, body, options)
    return answer.kind === "applied" ? answer.generation : undefined
  }

  async #remove(isOver: (name: string) => boolean, options: RequestOptions): Promise<void> {
    for (const { name, generation } of this.#items)
      if (isOver(name)) await this.#objects.remove(refOf(name), generation, options)
  }
}

const refOf = (name: string): FolderRef => ({ area: "proofs", name })

/** Over TLS only Google answers under these names. */
const isGoogle = (endpoint: string): boolean => /^https:\/\/([a-z0-9-]+\.)*googleapis\.com$/.test(endpoint)

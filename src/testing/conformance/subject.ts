/**
 * The store that one case looks at. Each call is held to what the contract asks of every call: it settles by its
 * deadline, it never rejects, its answer has the right shape. Beside that it has short ways to write what many cases
 * need.
 *
 * Not promised: that a call which never settles is stopped. It is only no longer waited for.
 */
import { LockError, StoreMisconfiguredError, StoreUnavailableError } from "../../locks/api/errors.ts"
import {
  ABSENT,
  type Area,
  type Generation,
  type ListOptions,
  type ObjectRef,
  type ObjectStore,
  type Page,
  type ReadAnswer,
  type ReadOptions,
  type RequestOptions,
  type WriteAnswer,
} from "../../locks/stores/port.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { sleep } from "../../runtime/time/sleep.ts"
import { ConformanceError } from "./verdict.ts"

/** What all cases of a suite share. */
export interface SuiteSettings {
  readonly make: (place: string) => ObjectStore | Promise<ObjectStore>
  readonly clock: Clock
  readonly deadline: number
  readonly grace: number
  readonly deletes: boolean
  readonly names: number
  readonly silence: ((place: string) => void | Promise<void>) | undefined
}

/** The two kinds of objects that fleets contend for; a store may keep them in different ways. */
export const lease: ObjectRef = { area: "leases", name: "user-42" }
export const head: ObjectRef = { area: "state", name: "user-42/head" }
export const both: readonly ObjectRef[] = [lease, head]

/** Never the generation of a version: opaque to callers, so any text may come. */
export const strayGenerations: readonly Generation[] = ["999", "not a generation"]

const LIMIT = 65_536
const TRIES = 5

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const textOf = (body: Uint8Array): string => new TextDecoder().decode(body)
export const shown = (ref: ObjectRef): string => `${ref.area}/${ref.name}`

type SubjectRequest = Partial<RequestOptions>

export class Subject {
  readonly store: ObjectStore
  readonly settings: SuiteSettings
  readonly place: string
  readonly #asks: string

  constructor(settings: SuiteSettings, place: string, store: ObjectStore, asks: string) {
    this.settings = settings
    this.place = place
    this.store = store
    this.#asks = asks
  }

  /** Refuses the store unless `holds`. */
  check(holds: boolean, did: string, asks: string = this.#asks): asserts holds {
    if (!holds) throw this.refusal(did, asks)
  }

  refusal(did: string, asks: string = this.#asks, cause?: unknown): ConformanceError {
    return new ConformanceError({ store: this.store.name, did, asks, cause })
  }

  /** Another store object on the same objects, as another process has; not started. */
  async another(): Promise<Subject> {
    return new Subject(this.settings, this.place, await this.settings.make(this.place), this.#asks)
  }

  async start(): Promise<void> {
    try {
      await this.#settles("start", this.settings.deadline, () => this.store.start({ deadline: this.settings.deadline }))
    } catch (error) {
      if (error instanceof ConformanceError) throw error
      throw this.refusal(`rejected its start: ${said(error)}`, "start settles on a store that is there", error)
    }
  }

  async close(): Promise<void> {
    try {
      await this.#settles("close", this.settings.deadline, () => this.store.close())
    } catch (error) {
      if (error instanceof ConformanceError) throw error
      throw this.refusal(`rejected its close: ${said(error)}`, "close is idempotent, and closes what it opened", error)
    }
  }

  async read(ref: ObjectRef, options: Partial<ReadOptions> = {}): Promise<ReadAnswer> {
    const asked = { deadline: this.settings.deadline, limit: LIMIT, ...options }
    const answer = await this.#answers(`a read of ${shown(ref)}`, asked.deadline, () => this.store.read(ref, asked))
    const known = ["found", "unchanged", "absent", "tooLarge", "failed"]
    this.check(known.includes(answer.kind), `answered a read with the kind ${answer.kind}`, shapes)
    if (answer.kind === "failed") this.#typed("failed", answer.error)
    else if (answer.kind !== "absent") this.#identity(answer.generation)
    if (answer.kind === "found") this.check(answer.body instanceof Uint8Array, "found a body that is no bytes", shapes)
    return answer
  }

  put(ref: ObjectRef, expected: Generation, text: string, options: SubjectRequest = {}): Promise<WriteAnswer> {
    const asked = { deadline: this.settings.deadline, ...options }
    return this.#writes(`a put of ${shown(ref)}`, asked, () => this.store.put(ref, expected, bytes(text), asked))
  }

  remove(ref: ObjectRef, expected: Generation, options: SubjectRequest = {}): Promise<WriteAnswer> {
    const asked = { deadline: this.settings.deadline, ...options }
    return this.#writes(`a delete of ${shown(ref)}`, asked, () => this.store.remove(ref, expected, asked))
  }

  async list(area: Area, options: Partial<ListOptions> = {}): Promise<Page> {
    try {
      return await this.listOrReject(area, options)
    } catch (error) {
      if (error instanceof ConformanceError) throw error
      throw this.refusal(`rejected a list of ${area}: ${said(error)}`, "list settles on a store that is there", error)
    }
  }

  /** As `list`, for where a rejection is right if it is of the right class. */
  async listOrReject(area: Area, options: Partial<ListOptions> = {}): Promise<Page> {
    const asked = { deadline: this.settings.deadline, prefix: "", ...options }
    try {
      return await this.#settles(`a list of ${area}`, asked.deadline, () => this.store.list(area, asked))
    } catch (error) {
      this.check(
        error instanceof ConformanceError || isListError(error),
        `rejected a list with ${said(error)}`,
        "list rejects with StoreUnavailableError or StoreMisconfiguredError",
      )
      throw error
    }
  }

  /** A put that has to be applied. Where the store keeps writes apart, it waits and tries again. */
  async write(ref: ObjectRef, expected: Generation, text: string): Promise<Generation> {
    const answer = await this.spaced(() => this.put(ref, expected, text))
    if (answer.kind === "applied") return answer.generation
    const did = `answered a put of ${shown(ref)} on the generation that it has (${expected}) with ${told(answer)}`
    throw this.refusal(did, "put writes if the object's generation is the expected one (ABSENT: if there is none)")
  }

  /** Does it again after the spacing, as long as the store says that it came too early. */
  async spaced(send: () => Promise<WriteAnswer>): Promise<WriteAnswer> {
    let answer = await send()
    for (let again = 1; again < TRIES && isThrottled(answer); again++) {
      await this.pause(this.store.capabilities.writeSpacing)
      answer = await send()
    }
    return answer
  }

  pause(ms: number): Promise<void> {
    return sleep(this.settings.clock, ms)
  }

  /** Lets the store go on for a turn of the event loop. */
  turn(): Promise<void> {
    return new Promise((settle) => this.settings.clock.soon(settle))
  }

  /** The text of an object, or the kind of the answer where there is none. */
  async text(ref: ObjectRef): Promise<string> {
    const answer = await this.read(ref)
    return answer.kind === "found" ? textOf(answer.body) : answer.kind
  }

  /** The generation of an object, or ABSENT. */
  async generation(ref: ObjectRef): Promise<Generation> {
    const answer = await this.read(ref)
    if (answer.kind === "absent") return ABSENT
    if (answer.kind === "failed")
      throw this.refusal(`failed a read: ${said(answer.error)}`, "a store that is there reads")
    return answer.generation
  }

  /** The names of an area, page by page. */
  async names(area: Area, prefix: string): Promise<string[]> {
    const found: string[] = []
    for await (const page of this.pages(area, prefix)) found.push(...page.items.map(({ name }) => name))
    return found
  }

  async *pages(area: Area, prefix: string): AsyncGenerator<Page> {
    let after: string | undefined
    do {
      const page = await this.list(area, { prefix, ...(after === undefined ? {} : { after }) })
      this.check(page.next === undefined || page.next !== after, `went on from ${after} to ${after} again`, pagesEnd)
      yield page
      after = page.next
    } while (after !== undefined)
  }

  async #writes(what: string, asked: RequestOptions, send: () => Promise<WriteAnswer>): Promise<WriteAnswer> {
    const answer = await this.#answers(what, asked.deadline, send)
    const known = ["applied", "refused", "unknown"]
    this.check(known.includes(answer.kind), `answered ${what} with the kind ${answer.kind}`, shapes)
    if (answer.kind === "applied") this.#identity(answer.generation)
    if (answer.kind === "unknown") this.#typed("unknown", answer.error)
    return answer
  }

  async #answers<A>(what: string, deadline: number, send: () => Promise<A>): Promise<A> {
    try {
      return await this.#settles(what, deadline, send)
    } catch (error) {
      if (error instanceof ConformanceError) throw error
      throw this.refusal(`rejected ${what} with ${said(error)}`, "read, put and remove never reject", error)
    }
  }

  async #settles<A>(what: string, deadline: number, send: () => Promise<A>): Promise<A> {
    const { promise: silent, reject } = Promise.withResolvers<never>()
    const late = this.refusal(
      `did not settle ${what} by its deadline of ${deadline} ms`,
      "Each request ends by its deadline, whatever the network does",
    )
    const timer = this.settings.clock.after(deadline + this.settings.grace, () => reject(late))
    try {
      return await Promise.race([send(), silent])
    } finally {
      timer.cancel()
    }
  }

  #identity(generation: Generation): void {
    const is = typeof generation === "string" && generation !== "" && generation !== ABSENT
    this.check(is, `gave a version the generation ${JSON.stringify(generation)}`, shapes)
  }

  #typed(kind: string, error: unknown): void {
    this.check(error instanceof LockError, `answered ${kind} with ${said(error)}`, shapes)
  }
}

const shapes =
  "an answer is one of those that the port names; a generation is a text that is not empty and not ABSENT, an error is a LockError"
const pagesEnd = "next continues after its page"

export const isThrottled = (answer: WriteAnswer): boolean => answer.kind === "unknown" && answer.throttled === true

export function said(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

/** An answer in words, with its error where it has one. */
export function told(answer: ReadAnswer | WriteAnswer): string {
  if (!("error" in answer)) return answer.kind
  const why = "throttled" in answer && answer.throttled === true ? " (throttled)" : ""
  return `${answer.kind}${why}: ${said(answer.error)}`
}

function isListError(error: unknown): boolean {
  return error instanceof StoreUnavailableError || error instanceof StoreMisconfiguredError
}

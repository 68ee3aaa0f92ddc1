/**
 * The probe that stores share at their start. On a scratch object it creates twice, writes on a stale generation, and
 * deletes on one. A store that writes all the same is refused: it can't keep two owners apart. On a store that deletes
 * all the same no record is ever deleted.
 *
 * Not promised: that a store which passes is right under load or under races. Where the store fails meanwhile, the
 * scratch object may stay, in the area `probe`.
 */
import type { Clock } from "../../runtime/time/clock.ts"
import { sleep } from "../../runtime/time/sleep.ts"
import { StoreMisconfiguredError, StoreUnavailableError, type LockError } from "../api/errors.ts"
import { ABSENT, type Generation, type ObjectRef, type ObjectStore, type RequestOptions } from "./port.ts"
import { lacksRoom } from "./room.ts"
import { RETRY_AFTER_MS } from "./start.ts"

/** What the probe needs of a store. */
export type ProbedStore = Pick<ObjectStore, "put" | "read" | "remove" | "name">

/** In bytes. The scratch object has less than a hundred. */
const SCRATCH_LIMIT = 1024

/** What a probe found of a store, beside that its writes honour their preconditions. */
export interface ProbeResult {
  /** Deletes do too. */
  readonly deletes: boolean
}

/**
 * Probes a store. Rejects with StoreMisconfiguredError where writes ignore their preconditions, and with the store's
 * error where it can't be used. Requests that may succeed later are tried until the deadline.
 */
export async function probe(store: ProbedStore, clock: Clock, options: RequestOptions): Promise<ProbeResult> {
  const scratch = new Scratch(store, clock, options)
  try {
    const first = await scratch.write(ABSENT)
    if (first === undefined) throw refusesAll(store, "created no object, although there was none of that name")
    if ((await scratch.write(ABSENT)) !== undefined) throw ignores(store, "created an object that was there already")
    const second = await scratch.write(first)
    if (second === undefined) throw refusesAll(store, "wrote no object, although the generation was right")
    if ((await scratch.write(first)) !== undefined) throw ignores(store, "wrote on a generation that was over")
    return { deletes: !(await scratch.vanishes(first)) }
  } finally {
    await scratch.clear()
  }
}

/** An object with a name that is drawn at random, and the budget for requests about it. */
class Scratch {
  readonly #store: ProbedStore
  readonly #clock: Clock
  readonly #options: RequestOptions
  readonly #ref: ObjectRef
  readonly #due: number
  #writes = 0
  #last: Generation = ABSENT

  constructor(store: ProbedStore, clock: Clock, options: RequestOptions) {
    this.#store = store
    this.#clock = clock
    this.#options = options
    this.#ref = { area: "probe", name: clock.id() }
    this.#due = clock.read().mono + options.deadline
  }

  /** The generation of a write on `expected`, or undefined where it was refused. A read decides, not the answer. */
  async write(expected: Generation): Promise<Generation | undefined> {
    const text = `leasehold probe ${this.#ref.name} ${++this.#writes}`
    for (;;) {
      const answer = await this.#store.put(this.#ref, expected, new TextEncoder().encode(text), this.#request())
      const seen = await this.#read()
      if (seen.text === text) return (this.#last = seen.generation)
      if (answer.kind === "applied") throw forgets(this.#store)
      if (answer.kind === "refused") return undefined
      await this.#pause(answer.error)
    }
  }

  /** Whether a delete on a stale generation deletes the object. */
  async vanishes(stale: Generation): Promise<boolean> {
    for (;;) {
      const answer = await this.#store.remove(this.#ref, stale, this.#request())
      if (answer.kind === "applied" || (await this.#read()).generation === ABSENT) return true
      if (answer.kind === "refused") return false
      await this.#pause(answer.error)
    }
  }

  /** Deletes the object, if it can: the result of the probe is known by now. */
  async clear(): Promise<void> {
    if (this.#last === ABSENT || this.#over()) return
    await this.#store.remove(this.#ref, this.#last, this.#request())
  }

  async #read(): Promise<{ readonly generation: Generation; readonly text?: string }> {
    for (;;) {
      const answer = await this.#store.read(this.#ref, { ...this.#request(), limit: SCRATCH_LIMIT })
      if (answer.kind === "found") return { generation: answer.generation, text: new TextDecoder().decode(answer.body) }
      if (answer.kind === "absent") return { generation: ABSENT }
      if (answer.kind !== "failed") return { generation: answer.generation }
      await this.#pause(answer.error)
    }
  }

  #left(): number {
    return this.#due - this.#clock.read().mono
  }

  #over(): boolean {
    return this.#left() <= 0 || this.#options.signal?.aborted === true
  }

  #request(): RequestOptions {
    return { ...this.#options, deadline: Math.max(this.#left(), 0) }
  }

  /** Waits before the next try, or throws where no try can help. */
  async #pause(error: LockError): Promise<void> {
    if (!error.retryable || lacksRoom(error)) throw error
    if (this.#left() > RETRY_AFTER_MS) await sleep(this.#clock, RETRY_AFTER_MS, this.#options.signal)
    else throw error
    if (this.#over()) throw error
  }
}

function ignores(store: ProbedStore, what: string): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: `${store.name} ignores the preconditions of writes: it ${what}`,
    next: "Use a store that honours them (GCS itself, an emulator that does, a local directory): here two owners could act at once",
  })
}

function refusesAll(store: ProbedStore, what: string): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: `${store.name} refuses a write that it should apply: it ${what}`,
    next: "Check what answers under this name, a proxy in between included",
  })
}

function forgets(store: ProbedStore): StoreUnavailableError {
  return new StoreUnavailableError({
    message: `${store.name} doesn't show an object that it said was written`,
    next: "Check that no cache lies between this process and the store, then try again",
  })
}

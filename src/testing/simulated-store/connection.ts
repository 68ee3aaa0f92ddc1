/**
 * One process's way to a simulated store: sends requests, gives them up at their deadlines, and hears answers by the
 * process's own clock. Owns what a fault does to one request.
 */
import { type LockError, StoreMisconfiguredError, StoreUnavailableError } from "../../locks/api/errors.ts"
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
  StoreCapabilities,
  WriteAnswer,
} from "../../locks/stores/port.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { Fate } from "./fate.ts"
import type { StoreOp } from "./faults.ts"
import type { BootTime, SimulatedStore, StoredVersion, WriteFate } from "./store.ts"

/** What a request does when it arrives: its answer, without a time. */
type Arrive<A> = () => A

/** A request that is to be sent. */
interface TravellingRequest<A> {
  readonly op: StoreOp
  readonly ref?: ObjectRef
  readonly fate: Fate
  readonly arrive: Arrive<A>
  /** The answer with the store's time; absent where answers tell none. */
  readonly stamp?: (answer: A, storeTime: number) => A
  /** What its sender gets when the store's own answer doesn't come. */
  readonly failed: (error: LockError, status?: number) => A
  /** Its sender gets this answer. */
  readonly heard?: (answer: A) => void
}

const page = 1000

/** A way of one process to the store. Answers come by its clock. */
export class SimulatedConnection implements LeaseStore, CheckpointStore {
  readonly leases = true as const
  readonly checkpoints = true as const
  readonly name: string
  readonly #store: SimulatedStore
  readonly #worker: string
  readonly #clock: Clock
  readonly #time: BootTime | undefined
  /** What this process was shown last of each object, or wrote: no answer from a cache is older. */
  readonly #shown = new Map<string, StoredVersion>()

  constructor(store: SimulatedStore, worker: string, clock: Clock) {
    this.name = store.name
    this.#store = store
    this.#worker = worker
    this.#clock = clock
    this.#time = store.bootTime(clock)
  }

  get capabilities(): StoreCapabilities {
    return this.#store.capabilitiesBy(this.#time)
  }

  async start(options: RequestOptions): Promise<void> {
    const fate = this.#store.strike(this.#worker, "start")
    const arrive = (): undefined => undefined
    const failed = await this.#send<LockError | undefined>(
      { op: "start", fate, arrive, failed: (error) => error },
      options,
    )
    if (failed !== undefined) throw failed
  }

  read(ref: ObjectRef, options: ReadOptions): Promise<ReadAnswer> {
    const key = `${ref.area}/${ref.name}`
    const fate = this.#store.strike(this.#worker, "read", ref)
    const cached = fate.isCached ? this.#shown.get(key) : undefined
    const arrive: Arrive<ReadAnswer> = () => {
      const version = cached ?? this.#store.look(ref)
      if (version === undefined) return { kind: "absent" }
      const { generation, body } = version
      if (generation === options.known) return { kind: "unchanged", generation }
      if (body.length > options.limit) return { kind: "tooLarge", generation }
      return { kind: "found", generation, body: body.slice() }
    }
    const heard = (answer: ReadAnswer): void => {
      if (answer.kind === "found") this.#shown.set(key, { generation: answer.generation, body: answer.body, at: 0 })
      else if (answer.kind === "absent") this.#shown.delete(key)
    }
    const failed = (error: LockError): ReadAnswer => ({ kind: "failed", error })
    return this.#send({ op: "read", ref, fate, arrive, failed, heard, stamp: stamped }, options)
  }

  put(ref: ObjectRef, expected: Generation, body: Uint8Array, options: RequestOptions): Promise<WriteAnswer> {
    return this.#write("put", ref, expected, body.slice(), options)
  }

  remove(ref: ObjectRef, expected: Generation, options: RequestOptions): Promise<WriteAnswer> {
    return this.#write("remove", ref, expected, undefined, options)
  }

  async list(area: Area, options: ListOptions): Promise<Page> {
    const { prefix, after = "" } = options
    const fate = this.#store.strike(this.#worker, "list")
    const arrive = (): Page => {
      const items = [...this.#store.objects]
        .map(([key, { generation }]) => ({
          area: key.slice(0, key.indexOf("/")),
          name: key.slice(key.indexOf("/") + 1),
          generation,
        }))
        .filter((item) => item.area === area && item.name.startsWith(prefix) && item.name > after)
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, generation }) => ({ name, generation }))
      const last = items[page - 1]
      return items.length > page && last !== undefined ? { items: items.slice(0, page), next: last.name } : { items }
    }
    const answer = await this.#send<Page | LockError>({ op: "list", fate, arrive, failed: (error) => error }, options)
    if ("items" in answer) return answer
    throw answer
  }

  async close(): Promise<void> {}

  #write(
    op: "put" | "remove",
    ref: ObjectRef,
    expected: Generation,
    body: Uint8Array | undefined,
    options: RequestOptions,
  ): Promise<WriteAnswer> {
    const fate = this.#store.strike(this.#worker, op, ref)
    const arrive: Arrive<WriteAnswer> = () => {
      const written: WriteFate = fate.isLimited ? "throttled" : this.#store.write(this.#worker, ref, expected, body)
      if (written === "refused") return { kind: "refused" }
      if (written === "throttled") return failed(this.#error(429), 429)
      return { kind: "applied", generation: op === "remove" ? expected : written.generation }
    }
    const key = `${ref.area}/${ref.name}`
    const heard = (answer: WriteAnswer): void => {
      if (answer.kind !== "applied") return
      if (body === undefined) this.#shown.delete(key)
      else this.#shown.set(key, { generation: answer.generation, body, at: 0 })
    }
    return this.#send({ op, ref, fate, arrive, failed, heard, stamp: stamped }, options)
  }

  /** Sends a request; settles with its answer, or as `failed` says when none comes by its deadline. */
  #send<A>(request: TravellingRequest<A>, { signal, deadline }: RequestOptions): Promise<A> {
    const { promise, resolve } = Promise.withResolvers<A>()
    const giveUp = (): void => settle(request.failed(this.#error("no answer")))
    const timer = this.#clock.after(deadline, giveUp, { background: true })
    const settle = (answer: A): void => {
      timer.cancel()
      signal?.removeEventListener("abort", giveUp)
      resolve(answer)
    }
    if (signal?.aborted) giveUp()
    signal?.addEventListener("abort", giveUp)
    if (request.fate.arrives)
      this.#travel(request, (answer) => {
        request.heard?.(answer)
        settle(answer)
      })
    return promise
  }

  /** There and back, as its fate lets it. */
  #travel<A>(request: TravellingRequest<A>, came: (answer: A) => void): void {
    const { op, ref, fate } = request
    const store = this.#store
    const { again } = fate
    const back = (answer: A): void => {
      if (!fate.answers || store.cuts("back", this.#worker, op, ref)) return
      this.#clock.after(store.latency() + fate.back, () => came(this.#stampedBy("process", request, answer)))
    }
    const arrive = (): void => {
      const wait = store.service()
      if (wait === 0) serve()
      else store.later(wait, serve)
    }
    const serve = (): void => {
      const first = this.#answer(request)
      if (again === undefined || again.hears === "first") back(first)
      if (again === undefined) return
      store.later(again.ms, () => {
        const second = this.#answer(request)
        if (again.hears === "second") back(second)
      })
    }
    store.later(store.latency() + fate.there, () => {
      if (!store.cuts("there", this.#worker, op, ref)) arrive()
    })
  }

  /** What the store does when the request arrives, and what it says to it. */
  #answer<A>(request: TravellingRequest<A>): A {
    const { fate, arrive, failed } = request
    const { instead } = fate
    if (instead?.applied === false) return failed(this.#error(instead.status), instead.status)
    const answer = this.#stampedBy("store", request, arrive())
    return instead === undefined ? answer : failed(this.#error(instead.status), instead.status)
  }

  /** Where the time is that of a boot a process looks at its own clock, once it has the answer. */
  #stampedBy<A>(who: "store" | "process", { fate, stamp }: TravellingRequest<A>, answer: A): A {
    if (stamp === undefined || (this.#store.profile.isOfBoots ? "process" : "store") !== who) return answer
    const { timeError } = fate
    const storeTime = timeError === undefined ? undefined : this.#store.stamp(timeError, this.#time)
    return storeTime === undefined ? answer : stamp(answer, storeTime)
  }

  #error(what: number | "no answer"): LockError {
    const details = {
      message: what === "no answer" ? `${this.name} didn't answer` : `${this.name} answered with status ${what}`,
      next: "Try again later",
      ...(typeof what === "number" && { status: what }),
    }
    return what === 403 ? new StoreMisconfiguredError(details) : new StoreUnavailableError(details)
  }
}

/** A 429 says that the object, or all of them, took too many writes. */
const failed = (error: LockError, status?: number): WriteAnswer =>
  status === 429 ? { kind: "unknown", error, throttled: true } : { kind: "unknown", error }

/** What isn't the store's own answer tells no time. */
const stamped = <A extends ReadAnswer | WriteAnswer>(answer: A, storeTime: number): A =>
  answer.kind === "failed" || answer.kind === "unknown" ? answer : { ...answer, storeTime }

/**
 * One process's way to a simulated store: sends requests, gives them up at their deadlines, and hears answers by the
 * process's own clock. Owns what a fault does to one request.
 */
import { type LockError, StoreMisconfiguredError, StoreUnavailableError } from "../../locks/errors.ts"
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
} from "../../locks/store.ts"
import type { Clock } from "../../runtime/clock.ts"
import type { StoreFault } from "./faults.ts"
import type { SimulatedStore, Version, Written } from "./store.ts"

/** What a request does when it arrives: its answer, by the time that the answer tells. */
type Arrive<A> = (storeTime: number | undefined) => A

const page = 1000

export class Connection implements LeaseStore, CheckpointStore {
  readonly leases = true as const
  readonly checkpoints = true as const
  readonly name: string
  readonly #store: SimulatedStore
  readonly #worker: string
  readonly #clock: Clock
  /** What this process was shown last of each object, or wrote: no answer from a cache is older. */
  readonly #shown = new Map<string, Version>()

  constructor(store: SimulatedStore, worker: string, clock: Clock) {
    this.name = store.name
    this.#store = store
    this.#worker = worker
    this.#clock = clock
  }

  get capabilities(): StoreCapabilities {
    return this.#store.capabilities
  }

  async start(options: RequestOptions): Promise<void> {
    const fault = this.#store.strike(this.#worker, "start")
    const failed = await this.#send<LockError | undefined>(
      fault,
      options,
      () => undefined,
      (error) => error,
    )
    if (failed !== undefined) throw failed
  }

  read(ref: ObjectRef, options: ReadOptions): Promise<ReadAnswer> {
    const key = `${ref.area}/${ref.name}`
    const fault = this.#store.strike(this.#worker, "read", ref)
    const cached = fault?.kind === "cachedAnswer" ? this.#shown.get(key) : undefined
    const arrive: Arrive<ReadAnswer> = (storeTime) => {
      const version = cached ?? this.#store.look(ref)
      if (version === undefined) return { kind: "absent", ...stamped(storeTime) }
      const { generation, body } = version
      const told = { generation, ...stamped(storeTime) }
      if (generation === options.known) return { kind: "unchanged", ...told }
      if (body.length > options.limit) return { kind: "tooLarge", ...told }
      return { kind: "found", ...told, body: body.slice() }
    }
    const heard = (answer: ReadAnswer): void => {
      if (answer.kind === "found") this.#shown.set(key, { generation: answer.generation, body: answer.body, at: 0 })
      else if (answer.kind === "absent") this.#shown.delete(key)
    }
    return this.#send(fault, options, arrive, (error) => ({ kind: "failed", error }), heard)
  }

  put(ref: ObjectRef, expected: Generation, body: Uint8Array, options: RequestOptions): Promise<WriteAnswer> {
    return this.#write("put", ref, expected, body.slice(), options)
  }

  remove(ref: ObjectRef, expected: Generation, options: RequestOptions): Promise<WriteAnswer> {
    return this.#write("remove", ref, expected, undefined, options)
  }

  async list(area: Area, options: ListOptions): Promise<Page> {
    const { prefix, after = "" } = options
    const fault = this.#store.strike(this.#worker, "list")
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
    const answer = await this.#send<Page | LockError>(fault, options, arrive, (error) => error)
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
    const fault = this.#store.strike(this.#worker, op, ref)
    const arrive: Arrive<WriteAnswer> = (storeTime) => {
      const isLimited = fault?.kind === "throttle"
      const written: Written = isLimited ? "throttled" : this.#store.write(this.#worker, ref, expected, body)
      if (written === "refused") return { kind: "refused", ...stamped(storeTime) }
      if (written === "throttled") return this.#throttled(storeTime)
      return { kind: "applied", generation: op === "remove" ? expected : written.generation, ...stamped(storeTime) }
    }
    const key = `${ref.area}/${ref.name}`
    const heard = (answer: WriteAnswer): void => {
      if (answer.kind !== "applied") return
      if (body === undefined) this.#shown.delete(key)
      else this.#shown.set(key, { generation: answer.generation, body, at: 0 })
    }
    return this.#send(fault, options, arrive, (error) => ({ kind: "unknown", error }), heard)
  }

  #throttled(storeTime: number | undefined): WriteAnswer {
    return { kind: "unknown", error: this.#error(429), throttled: true, ...stamped(storeTime) }
  }

  /** Sends a request; settles with its answer, or as `failed` says when none comes by its deadline. */
  #send<A>(
    fault: StoreFault | undefined,
    options: RequestOptions,
    arrive: Arrive<A>,
    failed: (error: LockError) => A,
    heard: (answer: A) => void = () => {},
  ): Promise<A> {
    const { promise, resolve } = Promise.withResolvers<A>()
    const { signal, deadline } = options
    const giveUp = (): void => settle(failed(this.#error("no answer")))
    const timer = this.#clock.after(deadline, giveUp, { background: true })
    const settle = (answer: A): void => {
      timer.cancel()
      signal?.removeEventListener("abort", giveUp)
      resolve(answer)
    }
    if (signal?.aborted) giveUp()
    signal?.addEventListener("abort", giveUp)
    this.#travel(fault, arrive, failed, (answer, ms) => {
      this.#clock.after(ms, () => {
        heard(answer)
        settle(answer)
      })
    })
    return promise
  }

  /** There and back, as the fault lets it. */
  #travel<A>(
    fault: StoreFault | undefined,
    arrive: Arrive<A>,
    failed: (error: LockError) => A,
    answer: (answer: A, ms: number) => void,
  ): void {
    const store = this.#store
    const extra = fault?.kind === "slow" || fault?.kind === "late" ? fault.ms : 0
    const back = (): number => store.latency() + (fault?.kind === "slow" ? extra : 0)
    const isMute = fault?.kind === "loseAnswer" || fault?.kind === "mutePartition"
    if (fault !== undefined && lost.has(fault.kind)) return
    const skew = fault?.kind === "skewDate" ? fault.ms : 0
    const isTimeless = fault?.kind === "noDate" || fault?.kind === "cachedAnswer"
    const arrived = (): A => arrive(isTimeless ? undefined : store.stamp(skew))
    store.later(store.latency() + extra, () => {
      if (fault?.kind === "status" && !fault.applied) return answer(failed(this.#error(fault.status)), back())
      const first = arrived()
      if (isMute) return
      if (fault?.kind === "status") return answer(failed(this.#error(fault.status)), back())
      if (fault?.kind === "duplicate") return store.later(fault.ms, () => answer(arrived(), back()))
      answer(first, back())
    })
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

const lost: ReadonlySet<string> = new Set(["loseRequest", "outage", "partition"])

const stamped = (storeTime: number | undefined): { readonly storeTime?: number } =>
  storeTime === undefined ? {} : { storeTime }

/** Owners of one sandbox's saved state on virtual time, over a memory store whose network the test scripts. */
import { NEVER, type Observable } from "rxjs"
import { parseHead, type Head } from "../../../src/actors/checkpoints/head/head.ts"
import { headRef } from "../../../src/actors/checkpoints/objects/names.ts"
import { CheckpointWriter, type Claimed, type CheckpointWriterOptions } from "../../../src/actors/checkpoints/writer.ts"
import { LockLostError, StoreUnavailableError } from "../../../src/locks/api/errors.ts"
import { sandboxLockKey } from "../../../src/locks/api/keys.ts"
import type { AcquiredHow, Lease, LockEvent, ReleaseResult, RenewOptions } from "../../../src/locks/api/lock.ts"
import { memoryStore } from "../../../src/locks/stores/memory-store.ts"
import type { CheckpointStore, StoreCapabilities } from "../../../src/locks/stores/port.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { type ScriptedStore, scripted } from "../../support/scripted-store.ts"

export const lockKey: string = sandboxLockKey("counter", "a")
export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
export const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes)
/** More than a head takes in: it needs an object of its own. */
export const large = (fill: number, size = 100_000): Uint8Array => new Uint8Array(size).fill(fill)

/** A lease that the test raises, doubts and loses; what it says is what the writer is to obey. */
export class TestLease implements Lease {
  readonly key: string = lockKey
  readonly how: AcquiredHow
  readonly deadline = 0
  readonly events$: Observable<LockEvent> = NEVER
  token: number
  held = true
  /** Renewals that fail before one succeeds. */
  failures = 0
  /** Renews without raising its token. */
  isStubborn = false
  /** Listeners on its signal. */
  listeners = 0
  readonly note: string | undefined
  readonly nonce: string
  readonly past: readonly string[]
  readonly traces: string[] = []
  readonly raises: number[] = []
  readonly #controller = new AbortController()

  constructor(token: number, how: AcquiredHow, past: readonly string[], note?: string) {
    this.nonce = `${token}.${how}.${past.length}`
    this.past = how === "created" ? [] : past
    this.token = token
    this.note = note
    this.how = how
    const { signal } = this.#controller
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...listener: Parameters<typeof add>) => (this.listeners++, add(...listener))
    signal.removeEventListener = (...listener: Parameters<typeof remove>) => (this.listeners--, remove(...listener))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  stay(): void {}

  isHeld(): boolean {
    return this.held && !this.signal.aborted
  }

  async renew({ tokenAbove = 0 }: RenewOptions = {}): Promise<void> {
    this.raises.push(tokenAbove)
    if (this.failures-- > 0) throw new StoreUnavailableError({ message: "no answer", next: "try again" })
    if (!this.isStubborn) this.token = Math.max(this.token, tokenAbove + 1)
  }

  traced(trace: "possible" | "sure"): void {
    this.traces.push(trace)
  }

  lose(): void {
    const details = { message: "lost", next: "stop", key: this.key, reason: "expired", since: 0 } as const
    this.#controller.abort(new LockLostError(details))
  }

  async release(): Promise<ReleaseResult> {
    return "released"
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** The error that the promise rejects with. */
export const failureOf = async (promise: Promise<unknown>): Promise<unknown> => {
  const result = await promise.then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  if (result === undefined) throw new Error("it was expected to reject")
  return result.error
}

export interface OwnerOptions extends Partial<CheckpointWriterOptions> {
  readonly how?: AcquiredHow
  /** What the grant said. */
  readonly note?: string | undefined
  readonly budget?: number
}

export interface Owner {
  readonly lease: TestLease
  readonly writer: CheckpointWriter
}

export class World {
  readonly time: VirtualTime = new VirtualTime()
  readonly store: ScriptedStore
  /** The nonces of all owners so far: records that weren't created say that they have ended. */
  readonly nonces: string[] = []
  /** What came of deletes in the background. */
  readonly errors: unknown[] = []

  constructor(capabilities: Partial<StoreCapabilities> = {}) {
    this.store = scripted(memoryStore({ clock: this.time }), this.time, { capabilities })
  }

  /** An owner that hasn't claimed yet. */
  owner(token: number, { how = "free", note, ...options }: OwnerOptions = {}): Owner {
    const lease = new TestLease(token, how, [...this.nonces], note)
    this.nonces.push(lease.nonce)
    const writer = new CheckpointWriter({
      store: this.store,
      clock: this.time,
      lockKey,
      type: "counter",
      version: 1,
      leases: "memory",
      ttlMs: 30_000,
      onError: (error) => this.errors.push(error),
      ...options,
    })
    return { lease, writer }
  }

  claim({ lease, writer }: Owner, budget = 30_000, signal?: AbortSignal): Promise<Claimed> {
    return this.time.runUntil(writer.claim({ lease, budget, signal }))
  }

  commit({ writer }: Owner, bytes: Uint8Array | string, budget = 30_000): Promise<void> {
    return this.time.runUntil(writer.commit(typeof bytes === "string" ? bytesOf(bytes) : bytes, { budget }))
  }

  /** An owner that has claimed. */
  async claimed(token: number, options: OwnerOptions = {}): Promise<Owner & { readonly claimed: Claimed }> {
    const owner = this.owner(token, options)
    return { ...owner, claimed: await this.claim(owner, options.budget) }
  }

  /** The head as it stands. */
  async head(): Promise<Head> {
    const answer = await this.store.read(headRef(lockKey), { deadline: 1000, limit: 100_000 })
    if (answer.kind !== "found") throw new Error(`the head is ${answer.kind}`)
    return parseHead(answer.body, { store: this.store.name, lockKey })
  }

  /** Writes a head over the one that is there, as no owner may. */
  async force(change: (head: Record<string, unknown>) => unknown): Promise<void> {
    const answer = await this.store.read(headRef(lockKey), { deadline: 1000, limit: 1_000_000 })
    if (answer.kind !== "found") throw new Error(`the head is ${answer.kind}`)
    const body = change(JSON.parse(textOf(answer.body)!) as Record<string, unknown>)
    const bytes = body instanceof Uint8Array ? body : bytesOf(JSON.stringify(body))
    await this.store.put(headRef(lockKey), answer.generation, bytes, { deadline: 1000 })
  }

  /** The names of all content objects. */
  async contents(): Promise<readonly string[]> {
    const { items } = await this.store.list("state", { prefix: "", deadline: 1000 })
    return items.map(({ name }) => name.slice(name.indexOf("/") + 1)).filter((name) => name !== "head")
  }

  /** How many requests of a kind were sent for content objects. */
  contentRequests(kind: "read" | "put" | "remove"): number {
    return this.store.script.requests.filter(({ op, name }) => op === kind && /\/\d/.test(name)).length
  }

  /** This store, giving one name to a page. */
  get paged(): CheckpointStore {
    const { store } = this
    return {
      checkpoints: true,
      name: store.name,
      capabilities: store.capabilities,
      start: (options) => store.start(options),
      read: (ref, options) => store.read(ref, options),
      put: (ref, expected, body, options) => store.put(ref, expected, body, options),
      remove: (ref, expected, options) => store.remove(ref, expected, options),
      close: () => store.close(),
      list: async (area, { after, ...options }) => {
        const { items } = await store.list(area, options)
        const left = items.filter(({ name }) => after === undefined || name > after)
        return { items: left.slice(0, 1), ...(left.length > 1 && { next: left[0]!.name }) }
      },
    }
  }

  /** The requests for heads that were sent so far, as `put applied`, `read found`. */
  get headRequests(): readonly string[] {
    const heads = this.store.script.requests.filter(({ name }) => name.endsWith("/head"))
    return heads.map(({ op, answer }) => `${op} ${answer && "kind" in answer ? answer.kind : "pending"}`)
  }

  /** How many writes of the head have been sent. */
  get headWrites(): number {
    return this.headRequests.filter((request) => request.startsWith("put")).length
  }
}

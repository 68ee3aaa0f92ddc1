/**
 * Runs the head protocol of one activation: its commands against the store, the lease and the clock, its inputs back
 * in. Owns no rule. One task at a time; the checkpoint writer sees to that.
 */
import { type Admission, admissionTo, placeUntil, type Slot, type Ticket } from "../../../locks/admission/admission.ts"
import type { LockError } from "../../../locks/api/errors.ts"
import type { Lease } from "../../../locks/api/lock.ts"
import type { CheckpointStore, Generation, ReadAnswer, WriteAnswer } from "../../../locks/stores/port.ts"
import type { Clock, Timer } from "../../../runtime/time/clock.ts"
import { headRef } from "../objects/names.ts"
import { asLockError, corruptHead, foreignBoot, type StatePlace } from "../objects/problems.ts"
import { checkClaimable, formatHead, type Head, HEAD_LIMIT, parseHead } from "./head.ts"
import { dueAt, initialState, isSent, step, traceOf } from "./protocol.ts"
import type {
  HeadAnswer,
  HeadCommand,
  HeadInput,
  HeadNow,
  HeadOutcome,
  HeadSettings,
  HeadState,
  HeadTask,
} from "./types.ts"

/** What it runs on. */
export interface HeadWriterParts {
  readonly store: CheckpointStore
  readonly place: StatePlace
  readonly clock: Clock
  readonly lease: Lease
  readonly settings: HeadSettings
  readonly adoptHeads: boolean
  /** Whether the lease store was ever used under a boot; without it that isn't asked. */
  readonly knowsBoot?: ((boot: string) => Promise<boolean>) | undefined
}

/** What a claim takes beside. */
export interface TaskOptions {
  readonly signal?: AbortSignal | undefined
  /** Called when this head is sent, each time. */
  readonly onSend?: (head: Head) => void
}

interface TaskUnderWay {
  readonly end: (outcome: HeadOutcome) => void
  /** Ends its requests. */
  readonly abort: AbortController
  readonly onSend: ((head: Head) => void) | undefined
}

/** Why requests of a task that has ended are no longer waited for. An abort without a reason would make its own. */
const OVER = new DOMException("The task has ended", "AbortError")

type Requested = Extract<HeadCommand, { readonly request: number }>

export class HeadWriter {
  /** The last thing that went wrong: the cause of whatever fails for it. */
  trouble: LockError | undefined
  readonly #parts: HeadWriterParts
  /** Where requests wait for their turn; undefined where they needn't. */
  readonly #door: Admission | undefined
  #ticket: Ticket | undefined
  /** The room that the last request takes, until it is answered or no longer waited for. */
  #sent: { readonly request: number; readonly slot: Slot } | undefined
  #state: HeadState
  #traced: "possible" | "sure" | undefined
  #underWay: TaskUnderWay | undefined
  #timer: Timer | undefined

  constructor(parts: HeadWriterParts) {
    const { store, clock, lease, settings } = parts
    this.#parts = parts
    this.#door = admissionTo(store, clock)
    this.#state = initialState(settings, lease.token, lease.nonce)
    if (lease.signal.aborted) this.#onLoss()
    else lease.signal.addEventListener("abort", this.#onLoss, { once: true })
  }

  get state(): HeadState {
    return this.#state
  }

  /** Whether the task under way has sent a write whose fate isn't known. */
  get isSent(): boolean {
    return isSent(this.#state)
  }

  /** Settles with how the task ended, by `until` (monotonic ms). Rejects only where another task is under way. */
  perform(task: HeadTask, until: number, { signal, onSend }: TaskOptions = {}): Promise<HeadOutcome> {
    const { promise, resolve } = Promise.withResolvers<HeadOutcome>()
    this.trouble = undefined
    this.#underWay = { end: resolve, abort: new AbortController(), onSend }
    const cancel = (): void => this.#input({ type: "cancel" })
    this.#input({ type: "begin", task, until })
    if (signal?.aborted) cancel()
    signal?.addEventListener("abort", cancel, { once: true })
    return promise.finally(() => signal?.removeEventListener("abort", cancel))
  }

  /** Stops listening to the lease. */
  close(): void {
    this.#parts.lease.signal.removeEventListener("abort", this.#onLoss)
  }

  readonly #onLoss = (): void => this.#input({ type: "lost" })

  /** One step. `given`: room for a request, which is freed where none is made. */
  #input(input: HeadInput, given?: Slot): void {
    const admitted = this.#door === undefined || given !== undefined || this.#door.hasRoom("save")
    const { state, commands } = step(this.#state, input, { ...this.#now(), admitted })
    this.#state = state
    this.#leave(state)
    this.#trace(state)
    let slot = given
    for (const command of commands) {
      if (command.type === "read" || command.type === "put") {
        slot ??= this.#door?.tryEnter("save")
        if (slot !== undefined) this.#sent = { request: command.request, slot }
        slot = undefined
      }
      this.#run(command)
    }
    slot?.free()
    this.#arm()
    this.#queue()
  }

  /** Tells the lease before a head can name this activation, and once one does. */
  #trace(state: HeadState): void {
    const trace = traceOf(state)
    if (trace === "none" || this.#traced === trace) return
    this.#traced = trace
    this.#parts.lease.traced(trace)
  }

  /**
   * Frees the room of a request that is no longer waited for: a store that is silent beyond its deadline takes up none.
   */
  #leave({ job }: HeadState): void {
    const sent = this.#sent
    if (sent === undefined || (job !== null && "request" in job.waiting && job.waiting.request === sent.request)) return
    sent.slot.free()
    this.#sent = undefined
  }

  #now(): Omit<HeadNow, "admitted"> {
    const { clock, lease } = this.#parts
    return { at: clock.read().mono, draw: clock.random(), fresh: clock.id(), held: lease.isHeld() }
  }

  /**
   * Waits for room at the store as long as the protocol does. Of all that wait for it, the task that ends first goes
   * first.
   */
  #queue(): void {
    const { job } = this.#state
    if (job?.waiting.for !== "turn") {
      this.#ticket?.cancel()
      this.#ticket = undefined
      return
    }
    this.#ticket ??= this.#door?.queue(placeUntil("save", job.until), (slot) => {
      this.#ticket = undefined
      this.#input({ type: "turn" }, slot)
    })
  }

  #arm(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const due = dueAt(this.#state)
    if (due === undefined || due === Number.POSITIVE_INFINITY) return
    const { clock } = this.#parts
    this.#timer = clock.after(due - clock.read().mono, () => this.#input({ type: "tick" }))
  }

  #run(command: HeadCommand): void {
    if (command.type !== "ended") return void this.#request(command)
    const underWay = this.#underWay
    this.#underWay = undefined
    underWay?.abort.abort(OVER)
    underWay?.end(command.outcome)
  }

  async #request(command: Requested): Promise<void> {
    const answer = await this.#answer(command)
    if (this.#sent?.request === command.request) this.#sent.slot.answered("fatal" in answer ? this.trouble : undefined)
    this.#input({ type: "answer", request: command.request, answer })
  }

  async #answer(command: Requested): Promise<HeadAnswer> {
    try {
      if (command.type === "renew") return await this.#renew()
      if (command.type === "raise") return await this.#raise(command.above)
      return command.type === "read" ? await this.#read(command) : await this.#put(command)
    } catch (error) {
      this.trouble = asLockError(error, this.#parts.place)
      return { kind: "unusable" }
    }
  }

  async #renew(): Promise<HeadAnswer> {
    const { lease } = this.#parts
    try {
      await lease.renew()
      return { kind: "renewed" }
    } catch (error) {
      this.trouble = asLockError(error, this.#parts.place)
      return { kind: "failed", fatal: lease.signal.aborted }
    }
  }

  async #raise(above: number): Promise<HeadAnswer> {
    const { lease } = this.#parts
    try {
      await lease.renew({ tokenAbove: above })
      return lease.token > above ? { kind: "raised", token: lease.token } : { kind: "failed", fatal: false }
    } catch (error) {
      this.trouble = asLockError(error, this.#parts.place)
      return { kind: "failed", fatal: lease.signal.aborted }
    }
  }

  async #read({ known, deadline }: Extract<HeadCommand, { readonly type: "read" }>): Promise<HeadAnswer> {
    const request = { ...this.#within(deadline), limit: HEAD_LIMIT, ...(known !== null && { known }) }
    const answer: ReadAnswer = await this.#parts.store.read(headRef(this.#parts.place.lockKey), request)
    switch (answer.kind) {
      case "found":
        return this.#found(answer.generation, this.#parse(answer.body))
      case "unchanged":
      case "absent":
        return { kind: answer.kind }
      case "tooLarge":
        throw corruptHead(this.#parts.place, `is over ${HEAD_LIMIT} bytes`)
      case "failed":
        this.trouble = answer.error
        return { kind: "failed", fatal: !answer.error.retryable }
    }
  }

  /** Before the claim a head also has to be one that this owner may take over. */
  #parse(body: Uint8Array): Head {
    const head = parseHead(body, this.#parts.place)
    const { adoptHeads, settings } = this.#parts
    if (this.#state.phase !== "unclaimed") return head
    checkClaimable(head, this.#parts.place, { ...settings, adoptHeads })
    return head
  }

  /** A head of another boot has to be of one that used these very leases, and not a copy of them. */
  async #found(generation: Generation, head: Head): Promise<HeadAnswer> {
    const { settings, adoptHeads, knowsBoot } = this.#parts
    const { leasesBoot: boot } = head
    if (this.#state.phase !== "unclaimed" || adoptHeads || knowsBoot === undefined)
      return { kind: "found", generation, head }
    if (boot === undefined || boot === settings.leasesBoot) return { kind: "found", generation, head }
    const knows = await knowsBoot(boot).catch((error: unknown) => asLockError(error, this.#parts.place))
    if (knows === false) throw foreignBoot(this.#parts.place, boot, settings)
    if (knows === true) return { kind: "found", generation, head }
    this.trouble = knows
    return { kind: "failed", fatal: !knows.retryable }
  }

  async #put({ expected, head, deadline }: Extract<HeadCommand, { readonly type: "put" }>): Promise<HeadAnswer> {
    const body = formatHead(head)
    this.#underWay?.onSend?.(head)
    const request = this.#within(deadline)
    const answer: WriteAnswer = await this.#parts.store.put(headRef(this.#parts.place.lockKey), expected, body, request)
    if (answer.kind !== "unknown") return answer
    this.trouble = answer.error
    return { kind: "unknown", fatal: !answer.error.retryable }
  }

  #within(deadline: number): { readonly deadline: number; readonly signal: AbortSignal } {
    return { deadline: deadline - this.#parts.clock.read().mono, signal: this.#underWay!.abort.signal }
  }
}

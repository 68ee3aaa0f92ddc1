/**
 * The calls of a manager: each is run here where the sandbox runs here or nowhere, and is sent to its owner otherwise.
 * Owns the way of a call: where it goes next, when it may be sent again, and what its caller is told. How it crosses to
 * another process is the transport's business.
 *
 * Not promised: that a call finds its sandbox while that changes hands all the time. It tries until its time is over.
 */
import { CallAnswerForgottenError, CallThrewError, CallUnknownError } from "../../actors/api/call-errors.ts"
import {
  CheckpointRejectedError,
  CheckpointUnknownError,
  HandingOffError,
  HookOverrunError,
  LockError,
  LockLostError,
  ManagerClosedError,
  NotDurableError,
  type Owner,
  OwnedElsewhereError,
  StoreUnavailableError,
} from "../../locks/api/errors.ts"
import { checkKey, sandboxLockKey } from "../../locks/api/keys.ts"
import { quiet } from "../../runtime/races.ts"
import { sleep } from "../../runtime/time/sleep.ts"
import { unknownDefinition } from "../api/problems.ts"
import { inSandbox, type SandboxWish } from "../registry/attempts.ts"
import type { ManagerSettings } from "../registry/options.ts"
import type { Registry, SandboxRef } from "../registry/registry.ts"
import type { Activation } from "../sandbox/activation.ts"
import { CallWait } from "../sandbox/waits.ts"
import { callHere, type MadeCall, madeCall } from "./call.ts"
import type { CallAnswer } from "./memory/memory.ts"
import { callThrew, callUnknown, unknownCall, withIdentity, withoutIdentity } from "./problems.ts"
import { CallQueue } from "./queue.ts"
import { Routes } from "./routes.ts"
import type { CallRequest, CallResult, CallTransport, Destination } from "./transport.ts"
import { verdictOn } from "./verdict.ts"

/** A call never moves a sandbox. */
const IN_PLACE = { whenOwned: "report", contention: "retry" } as const

/** The pause before a call is sent again, in milliseconds: an owner that leaves takes some 20 to do so. */
const FIRST_PAUSE = 25
/** The longest: a call finds a sandbox that was taken over within this. */
const LONGEST_PAUSE = 1000

/** How often the record is looked at while an owner says nothing, in milliseconds: a third of the usual lease. */
const LOOK_EVERY = 10_000

/**
 * How long an owner may be without an address, in milliseconds: one that was granted the key publishes its address by a
 * write of its own, within some hundred. One that has none has none for good.
 */
const NAMELESS = 2000

/** One call on its way. */
interface Way {
  readonly ref: () => SandboxRef
  readonly lockKey: string
  readonly made: MadeCall
  readonly wait: CallWait
  /** Since when its owner has no address, by the clock's monotonic time; undefined: it has one, or there is none. */
  nameless: number | undefined
}

/** Where a call goes next. `nowhere`: its owner has yet to say where it is. */
type Next = { readonly to: "here" | "nowhere" } | { readonly to: "owner"; readonly owner: Destination }

export class SandboxCalls {
  readonly #settings: ManagerSettings
  readonly #registry: Registry
  readonly #refuseClosed: (key: string) => void
  readonly #queue = new CallQueue()
  readonly #peeks = new Map<string, Promise<Owner | undefined>>()
  readonly #routes = new Routes<Destination>()
  #transport: CallTransport | undefined

  /** `refuseClosed` throws where the manager is closed. */
  constructor(settings: ManagerSettings, registry: Registry, refuseClosed: (key: string) => void) {
    this.#settings = settings
    this.#refuseClosed = refuseClosed
    this.#registry = registry
  }

  /** From now on calls are sent to owners in other processes. */
  connect(transport: CallTransport): void {
    this.#transport = transport
  }

  /** Settles with the answer of a call that is made here. Rejects as `SandboxManager.call` does. */
  async make(ref: () => SandboxRef, made: MadeCall, wait: CallWait): Promise<unknown> {
    this.#refuseClosed(wait.key)
    const way = wayOf(ref, made, wait)
    return this.#settled(way, () =>
      this.#transport === undefined ? this.#here(way) : this.#find(way, this.#transport),
    )
  }

  /** Settles with what came of a call that another process sent. Rejects with faults alone. */
  async receive(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    try {
      const { ref, made } = this.#received(request)
      const { clock, report: onError } = this.#settings
      const awaited = { key: ref().lockKey, what: "the sandbox", onError }
      using wait = new CallWait(clock, awaited, { timeout: timeoutOf(request), signal })
      if (!request.forwarded) return answered(await this.make(ref, made, wait))
      if (!this.#isOwned(wait.key)) return { kind: "notHere" }
      const way = wayOf(ref, made, wait)
      return answered(await this.#settled(way, () => this.#here(way)))
    } catch (error) {
      return resultOf(error)
    }
  }

  /** Where the sandbox of a key is, as far as it is known here. */
  ownerOf(lockKey: string): string | undefined {
    return this.#isOwned(lockKey) ? this.#settings.lockOptions.address : this.#routes.get(lockKey)?.address
  }

  /** The store's time as far as it is known here, in Unix milliseconds. */
  get storeTime(): number {
    return this.#registry.storeTime()
  }

  #received({ definition, key, call, input, durable }: CallRequest): { ref: () => SandboxRef; made: MadeCall } {
    const known = this.#settings.definitions.get(definition)
    if (known === undefined) throw unknownDefinition(definition)
    checkKey(key)
    const lockKey = sandboxLockKey(definition, key)
    const parts = known.parts.calls.get(call)
    if (parts === undefined) throw unknownCall(lockKey, call, known.parts.calls.keys())
    if (parts.durable && durable === undefined) throw withoutIdentity(lockKey, call)
    if (!parts.durable && durable !== undefined) throw withIdentity(lockKey, call)
    const identity = durable && { ...durable, isFirst: false }
    return { ref: () => ({ known, key, lockKey }), made: madeCall(lockKey, parts, input, identity) }
  }

  /** Once it may have had an effect, its caller is told so, unless it is known which. A readonly one has none. */
  async #settled(way: Way, make: () => Promise<unknown>): Promise<unknown> {
    try {
      return await make()
    } catch (error) {
      const { begun, parts } = way.made
      if (!begun || parts.readonly || KNOWN.some((kind) => error instanceof kind)) throw error
      throw callUnknown(way.lockKey, way.made, error)
    }
  }

  async #here(way: Way): Promise<unknown> {
    const { ref, lockKey, made, wait } = way
    using place = this.#queue.enter(lockKey, ref().known.parts.callQueue)
    const run = (activation: Activation, onBegin: () => void): Promise<unknown> =>
      callHere(activation, made, wait, () => {
        place.leave()
        onBegin()
      })
    const again = (error: unknown): boolean => made.mayRepeat && hasEnded(error)
    const wish: SandboxWish = { what: "call", ref, options: IN_PLACE, wait, mayRepeat: again }
    return await inSandbox(this.#registry, wish, run)
  }

  /** Goes where the sandbox is, until it is answered or its time is over. */
  async #find(way: Way, transport: CallTransport): Promise<unknown> {
    let next = await this.#next(way)
    for (let tries = 0; ; tries++) {
      const result = await this.#go(way, transport, next)
      const verdict = verdictOn(way.made, result)
      if (verdict.kind === "answered") return valueOf(way, verdict.answer)
      if (verdict.kind === "failed") throw verdict.error
      const { durable } = way.made
      if (verdict.sentAt !== undefined) way.made.durable = durable && { ...durable, sentAt: verdict.sentAt }
      if (verdict.pauses) await this.#pause(way, tries)
      // Nobody answers at its address: it may have ended, and here its key is taken over as soon as that may be.
      next = verdict.isGone ? { to: "here" } : await this.#next(way)
    }
  }

  async #go(way: Way, transport: CallTransport, next: Next): Promise<CallResult> {
    if (next.to === "owner") return this.#send(way, transport, next.owner)
    return next.to === "here" ? this.#tryHere(way) : { kind: "notHere" }
  }

  async #tryHere(way: Way): Promise<CallResult> {
    try {
      return answered(await this.#here(way))
    } catch (error) {
      if (error instanceof ManagerClosedError) return this.#leave(way, error)
      if (!(error instanceof OwnedElsewhereError) || error.key !== way.lockKey || error.owner === undefined) throw error
      const { address, ownerId } = error.owner
      if (address !== undefined) this.#routes.set(way.lockKey, { address, ownerId })
      else if (this.#isNameless(way)) throw error
      return { kind: "notHere" }
    }
  }

  /** This process takes nothing in any more: the call goes where its sandbox goes. Throws where that is nowhere. */
  async #leave({ lockKey, wait }: Way, closed: ManagerClosedError): Promise<CallResult> {
    const owner = await this.#ownerOf(lockKey, wait)
    if (owner === undefined || (this.#isOver(owner) && !this.#isOwned(lockKey))) throw closed
    return { kind: "leaving" }
  }

  async #send(way: Way, transport: CallTransport, owner: Destination): Promise<CallResult> {
    const { lockKey, made, wait, ref } = way
    wait.mayWait()
    const { key, known } = ref()
    const { durable, text, parts } = made
    const request: CallRequest = {
      ...{ definition: known.definition.name, key, call: parts.name, forwarded: true },
      ...(text !== undefined && { input: JSON.parse(text) as unknown }),
      ...(durable && { durable: { id: durable.id, sentAt: durable.sentAt } }),
      ...(wait.left < Infinity && { budget: wait.left }),
    }
    const attempt = new AbortController()
    const sent = transport.send(owner, request, AbortSignal.any([wait.signal, attempt.signal]))
    const result = await this.#watched(way, owner, sent, attempt)
    if ("error" in result) wait.detail = () => ({ cause: result.error })
    if (result.kind === "answer") this.#registry.tally.callsForwarded++
    else if (result.kind !== "refused") this.#routes.delete(lockKey)
    return result
  }

  /** An owner that says nothing may own the sandbox no more. Then its answer counts for nothing: the call goes on. */
  async #watched(
    { lockKey, wait }: Way,
    { ownerId }: Destination,
    sent: Promise<CallResult>,
    attempt: AbortController,
  ): Promise<CallResult> {
    const over = new AbortController()
    const watch = async (): Promise<void> => {
      for (;;) {
        await sleep(this.#settings.clock, LOOK_EVERY, over.signal)
        if (over.signal.aborted) return
        const owner = await this.#ownerOf(lockKey, wait).catch(() => undefined)
        if (owner !== undefined && (owner.ownerId !== ownerId || this.#isOver(owner)))
          return attempt.abort(new Error("it owns the sandbox no more"))
      }
    }
    void watch()
    try {
      return await sent
    } finally {
      over.abort()
    }
  }

  async #pause({ wait }: Way, tries: number): Promise<void> {
    const { clock } = this.#settings
    const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** tries)
    await sleep(clock, longest * (0.5 + clock.random() / 2), wait.signal)
    wait.signal.throwIfAborted()
  }

  async #next(way: Way): Promise<Next> {
    const { lockKey, wait } = way
    if (this.#isOwned(lockKey)) return { to: "here" }
    const guess = this.#routes.get(lockKey)
    if (guess !== undefined) return { to: "owner", owner: guess }
    const owner = await this.#ownerOf(lockKey, wait)
    wait.detail = () => ({ owner })
    if (owner === undefined || this.#isOver(owner)) return { to: "here" }
    if (owner.address === undefined) return { to: this.#isNameless(way) ? "here" : "nowhere" }
    way.nameless = undefined
    const { address, ownerId } = owner
    this.#routes.set(lockKey, { address, ownerId })
    return { to: "owner", owner: { address, ownerId } }
  }

  /** The owner has no address, and had the time to say one. */
  #isNameless(way: Way): boolean {
    const now = this.#settings.clock.mono()
    way.nameless ??= now
    return now - way.nameless > NAMELESS
  }

  /** Undefined also where the store doesn't answer: who asks for the key tries that until its time is over. */
  async #ownerOf(lockKey: string, wait: CallWait): Promise<Owner | undefined> {
    try {
      return await wait.for(this.#peek(lockKey))
    } catch (error) {
      if (error instanceof StoreUnavailableError) return undefined
      throw error
    }
  }

  /** One read serves all calls of a key that want to know at the same time. */
  #peek(lockKey: string): Promise<Owner | undefined> {
    let peek = this.#peeks.get(lockKey)
    if (peek === undefined) {
      peek = this.#settings.makeLock(lockKey).peek()
      this.#peeks.set(lockKey, peek)
      quiet(peek)
        .finally(() => this.#peeks.delete(lockKey))
        .catch(() => {})
    }
    return peek
  }

  #isOver({ ownerId, expiresAt }: Owner): boolean {
    return ownerId === this.#settings.lockOptions.incarnation.id || expiresAt < this.#registry.storeTime()
  }

  /** This process has the lease: no other owner can be asked. */
  #isOwned(lockKey: string): boolean {
    return this.#registry.find(lockKey)?.activation?.lease.isHeld() === true
  }
}

const wayOf = (ref: () => SandboxRef, made: MadeCall, wait: CallWait): Way => ({
  ...{ ref, lockKey: wait.key, made, wait },
  nameless: undefined,
})

/** What says itself what came of the call. */
const KNOWN = [CallThrewError, CallAnswerForgottenError, CallUnknownError]

/** Its sandbox has ended, or is about to: what the call did may be part of no checkpoint. */
function hasEnded(error: unknown): boolean {
  const why = error instanceof NotDurableError ? error.cause : error
  return ENDINGS.some((kind) => why instanceof kind)
}

const ENDINGS = [HandingOffError, LockLostError, HookOverrunError, CheckpointRejectedError, CheckpointUnknownError]

/** What a sender still waits: at least a moment, since 0 would be one try. */
const timeoutOf = ({ budget }: CallRequest): number | "infinite" =>
  budget === undefined ? "infinite" : Math.max(1, budget)

const answered = (value: unknown): CallResult => ({ kind: "answer", answer: { kind: "value", value } })

function valueOf({ lockKey, made }: Way, answer: CallAnswer): unknown {
  if (answer.kind === "value") return answer.value
  throw callThrew(lockKey, made.parts.name, answer)
}

/** What the sender is told of an error. Throws what is a fault. */
function resultOf(error: unknown): CallResult {
  if (error instanceof CallThrewError) {
    const { code, ...thrown } = error.thrown
    return { kind: "answer", answer: { kind: "error", ...thrown, ...(code !== undefined && { code }) } }
  }
  if (error instanceof CallUnknownError) return { kind: "unknown", error }
  if (error instanceof OwnedElsewhereError) return { kind: "notHere" }
  if (error instanceof HandingOffError || error instanceof ManagerClosedError || error instanceof LockLostError)
    return { kind: "leaving" }
  if (error instanceof LockError) return { kind: "refused", error }
  throw error
}

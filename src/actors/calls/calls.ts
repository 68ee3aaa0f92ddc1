/**
 * The calls of a manager: each is run here where the sandbox runs here or nowhere, and is sent to its owner otherwise.
 * Owns the way of a call: where it goes next, when it may be sent again, and what its caller is told. How it crosses to
 * another process is the transport's business.
 *
 * Not promised: that a call finds its sandbox while that changes hands all the time. It tries until its time is over.
 */
import {
  CallAnswerForgottenError,
  CallDateError,
  CallThrewError,
  CallTooOldError,
  CallUnknownError,
} from "../../actors/api/call-errors.ts"
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
import { sleep } from "../../runtime/time/sleep.ts"
import { unknownDefinition } from "../api/problems.ts"
import { inSandbox, type SandboxWish } from "../registry/attempts.ts"
import type { ManagerSettings } from "../registry/options.ts"
import type { Registry, SandboxRef } from "../registry/registry.ts"
import type { Activation } from "../sandbox/activation.ts"
import { CallWait } from "../sandbox/waits.ts"
import { callHere, type MadeCall, madeCall } from "./call.ts"
import { callThrew, callUnknown, unknownCall, withIdentity, withoutIdentity } from "./problems.ts"
import { CallQueue } from "./queue.ts"
import { Routes } from "./routes.ts"
import type { CallRequest, CallResult, CallTransport } from "./transport.ts"

/** A call never moves a sandbox. */
const IN_PLACE = { whenOwned: "report", contention: "retry" } as const

/** The pause before a call is sent again, in milliseconds: an owner that leaves takes some 20 to do so. */
const FIRST_PAUSE = 25
/** The longest: a call finds a sandbox that was taken over within this. */
const LONGEST_PAUSE = 1000

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
  /** It may have had an effect, here or elsewhere. */
  begun: boolean
  /** Since when its owner has no address, by the clock's monotonic time; undefined: it has one, or there is none. */
  nameless: number | undefined
}

/** Where a call goes next. `nowhere`: its owner has yet to say where it is. */
type Next = { readonly to: "here" | "nowhere" } | { readonly to: "owner"; readonly address: string }

export class SandboxCalls {
  readonly #settings: ManagerSettings
  readonly #registry: Registry
  readonly #queue = new CallQueue()
  readonly #routes = new Routes()
  #transport: CallTransport | undefined

  constructor(settings: ManagerSettings, registry: Registry) {
    this.#settings = settings
    this.#registry = registry
  }

  /** From now on calls are sent to owners in other processes. */
  connect(transport: CallTransport): void {
    this.#transport = transport
  }

  /** Settles with the answer of a call that is made here. Rejects as `SandboxManager.call` does. */
  async make(ref: () => SandboxRef, made: MadeCall, wait: CallWait): Promise<unknown> {
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

  /** Once it may have had an effect, its caller is told so, unless it is known which. */
  async #settled(way: Way, make: () => Promise<unknown>): Promise<unknown> {
    try {
      return await make()
    } catch (error) {
      if (!way.begun || KNOWN.some((kind) => error instanceof kind)) throw error
      throw callUnknown(way.lockKey, way.made, error)
    }
  }

  async #here(way: Way): Promise<unknown> {
    const { ref, lockKey, made, wait } = way
    using place = this.#queue.enter(lockKey, ref().known.parts.callQueue)
    const run = (activation: Activation, onBegin: () => void): Promise<unknown> =>
      callHere(activation, made, wait, () => {
        place.leave()
        way.begun = true
        onBegin()
      })
    const again = (error: unknown): boolean => mayRepeat(made) && hasEnded(error)
    const wish: SandboxWish = { what: "call", ref, options: IN_PLACE, wait, mayRepeat: again }
    return await inSandbox(this.#registry, wish, run)
  }

  /** Goes where the sandbox is, until it is answered or its time is over. */
  async #find(way: Way, transport: CallTransport): Promise<unknown> {
    let next = await this.#next(way)
    for (let tries = 0; ; tries++) {
      const result = await this.#go(way, transport, next)
      if (result.kind === "answer") return valueOf(way, result)
      if (result.kind === "refused" && !isDatedAnew(way, result.error)) throw result.error
      if (result.kind === "unknown") way.begun = true
      if (result.kind === "unknown" && !mayRepeat(way.made)) throw result.error
      // Nobody answers at its address: it may have ended, and here its key is taken over as soon as that may be.
      const isGone = result.kind === "unreachable" || result.kind === "unknown"
      if (result.kind !== "refused") await this.#pause(way, tries)
      next = isGone ? { to: "here" } : await this.#next(way)
    }
  }

  async #go(way: Way, transport: CallTransport, next: Next): Promise<CallResult> {
    if (next.to === "owner") return this.#send(way, transport, next.address)
    return next.to === "here" ? this.#tryHere(way) : { kind: "notHere" }
  }

  async #tryHere(way: Way): Promise<CallResult> {
    try {
      return answered(await this.#here(way))
    } catch (error) {
      if (error instanceof ManagerClosedError) return this.#leave(way, error)
      const address = error instanceof OwnedElsewhereError ? error.owner?.address : undefined
      if (address === undefined && this.#isNameless(way)) throw error
      if (address === undefined) return { kind: "notHere" }
      this.#routes.set(way.lockKey, address)
      return { kind: "notHere" }
    }
  }

  /** This process takes nothing in any more: the call goes where its sandbox goes. Throws where that is nowhere. */
  async #leave({ lockKey, wait }: Way, closed: ManagerClosedError): Promise<CallResult> {
    const owner = await this.#ownerOf(lockKey, wait)
    if (owner === undefined || (this.#isOver(owner) && !this.#isOwned(lockKey))) throw closed
    return { kind: "leaving" }
  }

  async #send({ lockKey, made, wait, ref }: Way, transport: CallTransport, address: string): Promise<CallResult> {
    wait.mayWait()
    const { key, known } = ref()
    const { durable, text, parts } = made
    const request: CallRequest = {
      ...{ definition: known.definition.name, key, call: parts.name, forwarded: true },
      ...(text !== undefined && { input: JSON.parse(text) as unknown }),
      ...(durable && { durable: { id: durable.id, sentAt: durable.sentAt } }),
      ...(wait.left < Infinity && { budget: wait.left }),
    }
    const result = await transport.send(address, request, wait.signal)
    if (result.kind !== "answer") this.#routes.delete(lockKey)
    else this.#registry.tally.callsForwarded++
    return result
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
    if (guess !== undefined) return { to: "owner", address: guess }
    const owner = await this.#ownerOf(lockKey, wait)
    wait.detail = () => ({ owner })
    if (owner === undefined || this.#isOver(owner)) return { to: "here" }
    if (owner.address === undefined) return { to: this.#isNameless(way) ? "here" : "nowhere" }
    way.nameless = undefined
    this.#routes.set(lockKey, owner.address)
    return { to: "owner", address: owner.address }
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
      return await wait.for(this.#settings.makeLock(lockKey).peek())
    } catch (error) {
      if (error instanceof StoreUnavailableError) return undefined
      throw error
    }
  }

  #isOver({ ownerId, expiresAt }: Owner): boolean {
    return ownerId === this.#settings.lockOptions.incarnation.id || expiresAt < this.#registry.storeTime()
  }

  /** This process has the lease, so that no other owner can be asked. */
  #isOwned(lockKey: string): boolean {
    return this.#registry.find(lockKey)?.activation !== undefined
  }
}

const wayOf = (ref: () => SandboxRef, made: MadeCall, wait: CallWait): Way => ({
  ...{ ref, lockKey: wait.key, made, wait },
  ...{ begun: false, nameless: undefined },
})

const mayRepeat = ({ parts }: MadeCall): boolean => parts.readonly || parts.durable

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

function valueOf({ lockKey, made }: Way, { answer }: Extract<CallResult, { kind: "answer" }>): unknown {
  if (answer.kind === "value") return answer.value
  throw callThrew(lockKey, made.parts.name, answer)
}

/**
 * A call that was never sent before is refused for its date where the clock here is wrong, or all of its time is
 * forgotten. It surely had no effect then, and is dated anew.
 */
function isDatedAnew({ made, begun }: Way, error: LockError): boolean {
  if (begun || !made.isFirst || made.durable === undefined) return false
  const sentAt = error instanceof CallTooOldError ? error.forgottenUntil + 1 : undefined
  const date = error instanceof CallDateError ? error.storeTime : sentAt
  if (date !== undefined) made.durable = { ...made.durable, sentAt: date }
  return date !== undefined
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

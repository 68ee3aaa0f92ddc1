/**
 * Calls of a client: each goes to the worker that answered for its sandbox last, and to another one where that fails.
 * Owns which worker is asked next, and how long. What follows from a result is `verdict.ts`'s to say.
 */
import { CallThrewError, CallUnknownError, UnknownCallError } from "../actors/api/call-errors.ts"
import { CALL_ID } from "../actors/api/call-id.ts"
import type { CallOptions } from "../actors/api/calls.ts"
import type { Callable } from "../actors/api/sandbox.ts"
import { Routes } from "../actors/calls/routes.ts"
import type { CallRequest } from "../actors/calls/transport.ts"
import { type SentCall, verdictOn } from "../actors/calls/verdict.ts"
import { OWNER, TIME } from "../http/messages.ts"
import { post } from "../http/post.ts"
import { LockCancelledError, LockTimeoutError, UnknownDefinitionError } from "../locks/api/errors.ts"
import { aNumber, aSignal, millis, refusal, refuseUnknown, shown } from "../runtime/input/options.ts"
import { after, chance, freshId, pause, ticks, wallNow } from "./clock.ts"
import type { ClientSettings } from "./options.ts"

/** In milliseconds, as a manager's. */
const DEFAULT_WAIT = 30_000
/** The pause before a call is sent again, at first and at most, in milliseconds. */
const FIRST_PAUSE = 25
const LONGEST_PAUSE = 1000

/** A call on its way. */
interface Sent extends SentCall {
  readonly request: CallRequest
  readonly lockKey: string
  durable: { readonly id: string; readonly sentAt: number } | undefined
  isFirst: boolean
  /** It has no effect. */
  readonly isReadonly: boolean
}

export class Caller {
  readonly #definitions: readonly Callable[]
  readonly #settings: ClientSettings
  readonly #routes = new Routes<string>()
  /** By how much this machine's clock is ahead of the store's time, as answers told it. */
  #ahead = 0
  #turn = 0

  constructor(definitions: readonly Callable[], settings: ClientSettings) {
    this.#definitions = definitions
    this.#settings = settings
  }

  async call(definition: Callable, key: string, name: string, input: unknown, options: CallOptions): Promise<unknown> {
    const sent = this.#made(definition, key, name, input, options)
    using wait = new Wait(options, sent.lockKey)
    try {
      return await this.#find(sent, wait)
    } catch (error) {
      const isKnown = !sent.begun || sent.isReadonly || error instanceof CallThrewError
      throw isKnown ? error : unknown(sent, error)
    }
  }

  #made(definition: Callable, key: string, name: string, input: unknown, options: CallOptions): Sent {
    refuseUnknown("call", options, OPTIONS)
    if (!this.#definitions.includes(definition)) throw unknownDefinition(definition)
    if (typeof key !== "string" || key === "") throw refusal(`key is ${shown(key)}`, "Give the sandbox's key")
    const kind = Object.hasOwn(definition.calls, name) ? definition.calls[name] : undefined
    if (kind === undefined) throw unknownCall(definition, name)
    const { durable = false, readonly = false } = kind
    const { id = freshId(), sentAt = wallNow() - this.#ahead } = options
    return {
      request: { definition: definition.name, key, call: name, input, forwarded: false },
      lockKey: `${definition.name}/${key}`,
      durable: durable ? { id, sentAt } : undefined,
      isFirst: options.id === undefined,
      mayRepeat: durable || readonly,
      isReadonly: readonly,
      begun: false,
    }
  }

  async #find(sent: Sent, wait: Wait): Promise<unknown> {
    for (let tries = 0; ; tries++) {
      wait.signal.throwIfAborted()
      const verdict = verdictOn(sent, await this.#send(sent, wait))
      if (verdict.kind === "failed") throw verdict.error
      if (verdict.kind === "answered") {
        if (verdict.answer.kind === "value") return verdict.answer.value
        throw threw(sent, verdict.answer)
      }
      if (verdict.sentAt !== undefined && sent.durable !== undefined)
        sent.durable = { ...sent.durable, sentAt: verdict.sentAt }
      if (verdict.pauses) await wait.pause(tries)
    }
  }

  async #send({ request, lockKey, durable }: Sent, { signal, left }: Wait): ReturnType<typeof post> {
    const { workers, auth, maxBody } = this.#settings
    const address = this.#routes.get(lockKey) ?? workers[this.#turn++ % workers.length]!
    const onAnswer = (headers: Headers): void => this.#heard(lockKey, headers)
    const whole = { ...request, ...(durable && { durable }), ...(left < Infinity && { budget: left }) }
    const result = await post(whole, { address, auth, maxBody, signal, onAnswer })
    if (result.kind !== "answer" && result.kind !== "refused") this.#routes.delete(lockKey)
    return result
  }

  /** An owner is asked directly the next time only where it is one of the workers that this client was told of. */
  #heard(lockKey: string, headers: Headers): void {
    const [time, owner] = [Number(headers.get(TIME)), headers.get(OWNER)]
    if (time > 0) this.#ahead = wallNow() - time
    if (owner !== null && this.#settings.workers.includes(owner)) this.#routes.set(lockKey, owner)
  }
}

const OPTIONS = {
  signal: aSignal,
  timeout: (name: string, value: unknown): void => {
    if (value !== "infinite" && millis(name, value as number) === 0)
      throw refusal(`${name} is ${shown(value)}`, "Give more than 0 ms: a call has to be answered within it")
  },
  id: (name: string, value: unknown): void => {
    if (typeof value !== "string" || !CALL_ID.test(value))
      throw refusal(`${name} is ${shown(value)}`, "Give 1 to 128 characters of A to Z, a to z, 0 to 9, _, ., : and -")
  },
  sentAt: aNumber,
} as const

/** How long one call may take, and whether its caller still wants it. */
class Wait implements Disposable {
  readonly #end = new AbortController()
  readonly #until: number
  readonly #cancel: () => void
  readonly #caller: AbortSignal | undefined
  readonly #onAbort: () => void

  constructor({ timeout = DEFAULT_WAIT, signal }: CallOptions, key: string) {
    const limit = timeout === "infinite" ? Infinity : millis("timeout", timeout)
    this.#until = ticks() + limit
    this.#cancel = after(limit, () => this.#end.abort(late(key, limit)))
    this.#caller = signal
    this.#onAbort = () => this.#end.abort(cancelled(key, signal?.reason))
    signal?.addEventListener("abort", this.#onAbort)
    if (signal?.aborted === true) this.#onAbort()
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  /** In milliseconds. */
  get left(): number {
    return Math.max(1, this.#until - ticks())
  }

  /** Before another try. Rejects where the wait is over. */
  async pause(tries: number): Promise<void> {
    await pause(Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** tries) * (0.5 + chance() / 2), this.signal)
    this.signal.throwIfAborted()
  }

  [Symbol.dispose](): void {
    this.#cancel()
    this.#caller?.removeEventListener("abort", this.#onAbort)
  }
}

const late = (key: string, limitMs: number): LockTimeoutError =>
  new LockTimeoutError({
    message: `Waited ${Math.round(limitMs)} ms (timeout) for an answer of ${key}`,
    next: "Raise timeout, or see whether the workers are there",
    ...{ key, waitedMs: limitMs, limitMs, source: "timeout" },
  })

const cancelled = (key: string, cause: unknown): LockCancelledError =>
  new LockCancelledError({
    message: `The call of ${key} was cancelled by its caller's signal`,
    next: "Nothing is to be done: whoever aborted the signal wanted this",
    ...{ key, cause },
  })

const unknownDefinition = (definition: unknown): UnknownDefinitionError =>
  new UnknownDefinitionError({
    message: `${shown((Object(definition) as { readonly name?: unknown }).name)} is no definition of this client`,
    next: "Give it to client()",
  })

const unknownCall = ({ name, calls }: Callable, call: unknown): UnknownCallError =>
  new UnknownCallError({
    message: `${name} has no call ${shown(call)}`,
    next: `Use one of ${Object.keys(calls).join(", ")}`,
  })

const threw = ({ request, lockKey }: Sent, thrown: { name: string; message: string; code?: string }): CallThrewError =>
  new CallThrewError({
    message: `The call ${request.call} of ${lockKey} threw ${thrown.name}: ${thrown.message}`,
    next: "See what its handler says",
    key: lockKey,
    thrown: { name: thrown.name, message: thrown.message, code: thrown.code },
  })

const unknown = ({ request, lockKey, durable }: Sent, cause: unknown): CallUnknownError =>
  new CallUnknownError({
    message: `Nobody knows whether the call ${request.call} of ${lockKey} had its effect`,
    next: durable
      ? "Call again with this id and sentAt: it has its effect once"
      : "Read the state before you call again",
    ...{ key: lockKey, cause, id: durable?.id, sentAt: durable?.sentAt },
  })

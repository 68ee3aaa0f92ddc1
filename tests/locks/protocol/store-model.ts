/**
 * The store as the protocol sees it, without a network: one object, its generation, its clock. Every call takes effect
 * at once; what is late, lost or doubled is the world's to arrange.
 */
import { StoreUnavailableError } from "../../../src/locks/api/errors.ts"
import type { ReadResult, WriteResult } from "../../../src/locks/protocol/rules/state.ts"
import { ABSENT, type Generation } from "../../../src/locks/stores/port.ts"

/** What kind of store it is. */
export interface StoreTraits {
  readonly clock: "none" | "coarse" | "exact"
  /** The least time between two writes, in milliseconds; a write within it is answered 429. */
  readonly spacing: number
}

/** The store's time at true time 0, in Unix milliseconds. */
export const EPOCH = 1_700_000_000_000

export class StoreModel {
  readonly traits: StoreTraits
  /** Undefined while there is no object. */
  text: string | undefined
  /** Every body that was ever written, in order. */
  readonly history: { readonly at: number; readonly text: string | undefined }[] = []
  #counter = 0
  #generation: Generation = ABSENT
  #lastWrite = -Infinity

  constructor(traits: StoreTraits) {
    this.traits = traits
  }

  get generation(): Generation {
    return this.#generation
  }

  /** The record's fields, for tests to look at. */
  get body(): Record<string, unknown> {
    return JSON.parse(this.text ?? "null") as Record<string, unknown>
  }

  /** The store's time, as an answer carries it. */
  time(at: number): number | undefined {
    if (this.traits.clock === "none") return undefined
    return this.traits.clock === "exact" ? EPOCH + at : Math.floor((EPOCH + at) / 1000) * 1000
  }

  read(known: Generation | undefined, at: number): ReadResult {
    const stamp = stampOf(this.time(at))
    const generation = this.#generation
    if (this.text === undefined) return { kind: "absent", ...stamp }
    if (generation === known) return { kind: "unchanged", generation, ...stamp }
    return { kind: "found", generation, text: this.text, ...stamp }
  }

  /** `text` undefined: a delete. */
  write(expected: Generation, text: string | undefined, at: number): WriteResult {
    const stamp = stampOf(this.time(at))
    if (this.#generation !== expected) return { kind: "refused", ...stamp }
    if (at - this.#lastWrite < this.traits.spacing)
      return { kind: "unknown", error: tooOften(), throttled: true, ...stamp }
    this.#commit(text, at)
    return { kind: "applied", generation: text === undefined ? expected : this.#generation, ...stamp }
  }

  /** Whatever somebody outside the protocol puts there: an object as JSON, or text as it is. */
  put(what: object | string, at: number): void {
    this.#commit(typeof what === "string" ? what : JSON.stringify(what), at)
  }

  /** An operator deletes the object. */
  remove(at: number): void {
    this.#commit(undefined, at)
  }

  #commit(text: string | undefined, at: number): void {
    this.#counter++
    this.#generation = text === undefined ? ABSENT : `g${this.#counter}`
    this.text = text
    this.#lastWrite = at
    this.history.push({ at, text })
  }
}

const stampOf = (storeTime: number | undefined): { storeTime?: number } =>
  storeTime === undefined ? {} : { storeTime }

/** What a client makes of a request that brought no answer. */
export const silence = (): StoreUnavailableError =>
  new StoreUnavailableError({ message: "The store did not answer", next: "Look at the network" })

const tooOften = (): StoreUnavailableError =>
  new StoreUnavailableError({ message: "429", next: "Write less often", status: 429 })

/** A write that another followed before its writer looked whether it was first. */
export const overtaken = (storeTime: number): WriteResult => ({
  kind: "unknown",
  error: silence(),
  overtaken: true,
  storeTime,
})

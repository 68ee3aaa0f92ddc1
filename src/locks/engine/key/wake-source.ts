/**
 * What wakes a key before its next look is due:
 *
 *     its record              watched where the store can
 *     its owner's process     watched where the record names one of this machine
 *
 * An acquirer begins to watch with its second look, an owner with its first: a key that is free, and held for a moment,
 * costs no watch. Watching begins before that look is sent. It doesn't begin for a waiter outside of a full line, whom
 * each of many turns before its own would wake.
 *
 * Not promised: that a change wakes the key. Looks go on, less often where all that the key waits for is told:
 *
 *     an acquirer     by both watches: an owner may end without a write
 *     an owner        by the record's, if that tells of every machine: nobody knows where the next waiter will be
 */
import type { LockState } from "../../protocol/rules/state.ts"
import { type HostHalf, LINE_LENGTH } from "../../record.ts"
import type { Generation, LeaseStore, ObjectRef, Watching } from "../../stores/port.ts"

/** The key that is watched. */
export interface WatchedKey {
  readonly store: LeaseStore
  readonly ref: ObjectRef
}

/** The process of the owner that the record names. */
interface WatchedOwner {
  readonly host: HostHalf
  /** None where nothing watches processes. */
  readonly watching: Watching | undefined
}

/** That of one key. */
export class WakeSource {
  readonly #key: WatchedKey
  readonly #ring: (generation?: Generation) => void
  #record: Watching | undefined
  #owner: WatchedOwner | undefined

  /** `ring` is called when it is time to look, with the generation of the record where that is known. */
  constructor(key: WatchedKey, ring: (generation?: Generation) => void) {
    this.#key = key
    this.#ring = ring
  }

  /** Whether all that this state waits for is told, as far as is known. */
  hears({ phase }: LockState): boolean {
    if (phase.name === "owning") return this.#hearsAll
    return this.#record?.hears === true && this.#owner?.watching?.hears === true
  }

  /**
   * Watches what this state waits for, until the key rests. True where watching began, and a change just before may
   * have been missed. Where a look is sent after this call (`looks`), and the watch tells of all from now on, none was.
   */
  follow(state: LockState, looks: boolean): boolean {
    if (state.phase.name === "idle" || isOutside(state)) this.#end()
    const begins = this.#record === undefined && waits(state)
    if (begins) this.#record = this.#key.store.watch?.(this.#key.ref, this.#ring)
    if (this.#record !== undefined) this.#followOwner(state)
    return begins && !(looks && this.#hearsAll)
  }

  get #hearsAll(): boolean {
    return this.#record?.hearsAll === true
  }

  /** Each look parses the record anew: halves are compared by their content. */
  #followOwner({ phase, view }: LockState): void {
    const host = (phase.name === "seeking" && view?.record?.owner?.host) || undefined
    if (host === this.#owner?.host || isSame(host, this.#owner?.host)) return
    this.#owner?.watching?.[Symbol.dispose]()
    this.#owner = host && { host, watching: this.#key.store.oracle?.watch(host, () => this.#ring()) }
  }

  #end(): void {
    this.#record?.[Symbol.dispose]()
    this.#owner?.watching?.[Symbol.dispose]()
    this.#record = this.#owner = undefined
  }
}

/**
 * Whether this state waits for a change: an acquirer that looks again and again, or an owner that looks for a waiter.
 */
export const waits = (state: LockState): boolean => {
  const { phase, flight } = state
  return phase.name === "seeking"
    ? phase.polls > 0 && !isOutside(state)
    : phase.name === "owning" && flight?.act === "read"
}

/** Whether more have their turn first than a line holds: then looks are enough. */
const isOutside = ({ phase }: LockState): boolean => phase.name === "seeking" && phase.ahead > LINE_LENGTH

const isSame = (a: HostHalf | undefined, b: HostHalf | undefined): boolean =>
  a !== undefined && b !== undefined && a.pid === b.pid && a.startedAt === b.startedAt && a.life === b.life

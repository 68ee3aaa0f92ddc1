/**
 * What wakes a key before its next look is due: its record, watched where the store can, and the owner's process, watched
 * where the record names one of this machine. Begins only with the second look, so that a key which nobody contends for
 * costs nothing; and not for one outside of a full line, who would be woken by each of many turns before its own.
 *
 * Not promised: that anything is heard. The looks go on, more seldom where both watches may be relied on.
 */
import type { LockState } from "../../protocol/rules/state.ts"
import { type HostHalf, LINE_LENGTH } from "../../record.ts"
import type { Generation, LeaseStore, ObjectRef, Watching } from "../../stores/port.ts"

/** One key's. */
export class WakeSource {
  readonly #store: LeaseStore
  readonly #ref: ObjectRef
  readonly #ring: (generation?: Generation) => void
  #record: Watching | undefined
  #process: Watching | undefined
  #watched: HostHalf | undefined

  /** `ring` is called when it is time to look: for a generation of the record, where it is known for which. */
  constructor(store: LeaseStore, ref: ObjectRef, ring: (generation?: Generation) => void) {
    this.#store = store
    this.#ref = ref
    this.#ring = ring
  }

  /** It is told of the next change of the record, and of the end of its owner's process, as far as the system's word goes. */
  get hears(): boolean {
    return this.#record?.hears === true && this.#process?.hears === true
  }

  /** Watches what this state waits for, until the key rests. True where it began: what came just before was not heard. */
  follow(state: LockState): boolean {
    if (state.phase.name === "idle" || isOutside(state)) this.#end()
    const begins = this.#record === undefined && waits(state)
    if (begins) this.#record = this.#store.watch?.(this.#ref, this.#ring)
    if (this.#record !== undefined) this.#followOwner(state)
    return begins
  }

  /** A record is read anew with each look, so its halves are compared by what they say. */
  #followOwner({ phase, view }: LockState): void {
    const host = (phase.name === "seeking" && view?.record?.owner?.host) || undefined
    if (host === this.#watched || isSame(host, this.#watched)) return
    this.#process?.[Symbol.dispose]()
    this.#process = host && this.#store.oracle?.watch(host, () => this.#ring())
    this.#watched = host
  }

  #end(): void {
    this.#record?.[Symbol.dispose]()
    this.#process?.[Symbol.dispose]()
    this.#record = this.#process = this.#watched = undefined
  }
}

/** An acquirer that looks again and again, and an owner that looks for a waiter. */
const waits = (state: LockState): boolean => {
  const { phase, flight } = state
  return phase.name === "seeking"
    ? phase.polls > 0 && !isOutside(state)
    : phase.name === "owning" && flight?.act === "read"
}

/** Many others have their turn first: the looks are enough. */
const isOutside = ({ phase }: LockState): boolean => phase.name === "seeking" && phase.ahead > LINE_LENGTH

const isSame = (a: HostHalf | undefined, b: HostHalf | undefined): boolean =>
  a !== undefined && b !== undefined && a.pid === b.pid && a.startedAt === b.startedAt && a.life === b.life

/**
 * The one door to a store that isn't at hand: every request of this process waits here for its turn, the most urgent first,
 * and no more are under way than the store answers in good time. Asked for when a request is due and before it is made, so
 * that what is sent says what is true then, and its deadline counts from its sending.
 *
 * Owns the order and the count. A turn is no failure, however long it is waited for: how long that makes sense is known to
 * who waits. Not promised: any order between processes.
 */
import type { Clock } from "../../runtime/time/clock.ts"
import { Heap, type HeapItem } from "../../runtime/time/heap.ts"
import type { LockError } from "../api/errors.ts"
import type { ObjectStore } from "../stores/port.ts"
import { ConcurrencyLimit } from "./concurrency-limit.ts"

/**
 * How urgent a request is, the most urgent first: `keep` a lease, or give it on; `save` a state, or read it; `claim` a key;
 * `renew` a lease that has time yet; `mark` a key; `look` whether anything has changed.
 */
export type Urgency = "keep" | "save" | "claim" | "renew" | "mark" | "look"

const rankOf: Readonly<Record<Urgency, number>> = { keep: 0, save: 1, claim: 2, renew: 3, mark: 4, look: 5 }

/**
 * Which part of the limit each may fill, with all that is more urgent: a renewal finds room beside uploads that take long,
 * and looks are the first that have none.
 */
const shares: readonly number[] = [1, 0.9, 0.8, 0.8, 0.7, 0.5]

/** Behind all that is of use. */
const tooLate = shares.length
/** What answers may take on average, in milliseconds: a fifth of the longest deadline of a lease's request. */
const WANTED_MS = 1000
/** The same where a look is to be sent, which can wait: near stores answer sooner than this while they aren't busy. */
const WANTED_FOR_LOOKS_MS = 150

/** A place in the line. Times are milliseconds of the monotonic clock. */
export interface Place {
  readonly urgency: Urgency
  /** Of one urgency the least goes first. */
  readonly by: number
  /** From then on it is as urgent as to keep a lease: by then something ends that is worth as much. Default: never. */
  readonly urgentFrom?: number | undefined
  /**
   * An answer is of no use later. What can't be answered before goes last: else each would be tried just too late where there
   * are too many, and none be in time.
   */
  readonly end?: number | undefined
  /** Of those that are equal so far the least goes first: who sends one request after the other keeps his. Default: the next. */
  readonly number?: number | undefined
}

/** How long before its end what is to be saved is as urgent as a renewal, in milliseconds: half of a checkpoint's limit. */
const URGENT_MS = 5000

/** The place of something that makes sense until a time. */
export const placeUntil = (urgency: Urgency, until: number): Place => ({
  ...{ urgency, by: until, urgentFrom: urgency === "save" ? until - URGENT_MS : undefined },
})

/** Who wants to send a request, and waits. */
export interface Ticket {
  /** No longer. Idempotent. */
  cancel(): void
}

/** The room that a request under way takes. */
export interface Slot {
  /** Free again, after an answer or a deadline: what it took is a measure of the store. `error`: what came instead. */
  answered(error?: LockError): void
  /** Free again. What it took is no measure: nothing was sent, or much, or nobody waited for the answer. */
  free(): void
}

interface QueuedRequest extends HeapItem {
  rank: number
  readonly by: number
  readonly end: number | undefined
  readonly number: number
  readonly admitted: (slot: Slot) => void
}

interface Promotion extends HeapItem {
  readonly at: number
  readonly waiting: QueuedRequest
}

/** One process's door to one store. */
export class Admission {
  readonly #clock: Clock
  readonly #limit = new ConcurrencyLimit({ wantedMs: WANTED_MS, mostMs: WANTED_MS, atRest: 32 })
  readonly #lookLimit = new ConcurrencyLimit({ wantedMs: WANTED_FOR_LOOKS_MS, mostMs: WANTED_MS / 2, atRest: 0 })
  readonly #waiting = new Heap<QueuedRequest>(before)
  readonly #promotions = new Heap<Promotion>((a, b) => a.at < b.at)
  #underWay = 0
  #numbers = 0
  #opening = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many requests may be under way now. */
  get limit(): number {
    return this.#limit.at(this.#clock.mono())
  }

  /** Whether a request of this urgency may be sent at once: there is room, and nobody waits who goes first. */
  hasRoom(urgency: Urgency): boolean {
    const rank = rankOf[urgency]
    const next = this.#waiting.peek()
    return (next === undefined || next.rank > rank) && this.#fits(rank)
  }

  /** The room for one request, if there is some at once. */
  tryEnter(urgency: Urgency): Slot | undefined {
    return this.hasRoom(urgency) ? this.#enter() : undefined
  }

  /** Where somebody stands who comes now, among those with the same `by`. */
  number(): number {
    return this.#numbers++
  }

  /** Calls `admitted` once it is its turn, later than now. */
  queue({ urgency, by, urgentFrom, end, number = this.number() }: Place, admitted: (slot: Slot) => void): Ticket {
    const waiting: QueuedRequest = { rank: rankOf[urgency], by, end, number, admitted, position: -1 }
    const promotion: Promotion = { at: urgentFrom ?? Infinity, waiting, position: -1 }
    this.#waiting.push(waiting)
    if (urgentFrom !== undefined) this.#promotions.push(promotion)
    this.#openSoon()
    return {
      cancel: () => {
        this.#waiting.remove(waiting)
        this.#promotions.remove(promotion)
      },
    }
  }

  /**
   * Settles with the room for one request once it is its turn, that which ends first first. With none at `until` (by the
   * monotonic clock), or when the signal aborts.
   */
  async enter(urgency: Urgency, until: number, signal?: AbortSignal): Promise<Slot | undefined> {
    if (signal?.aborted) return undefined
    const slot = this.tryEnter(urgency)
    if (slot !== undefined) return slot
    const { promise, resolve } = Promise.withResolvers<Slot | undefined>()
    const ticket = this.queue(placeUntil(urgency, until), resolve)
    const giveUp = (): void => {
      ticket.cancel()
      resolve(undefined)
    }
    const timer = this.#clock.after(until - this.#clock.mono(), giveUp, { background: true })
    signal?.addEventListener("abort", giveUp, { once: true })
    try {
      return await promise
    } finally {
      timer.cancel()
      signal?.removeEventListener("abort", giveUp)
    }
  }

  #fits(rank: number): boolean {
    const now = this.#clock.mono()
    const most = Math.max(1, Math.floor(this.#limit.at(now) * (shares[rank] ?? 1)))
    return this.#underWay < (rank === rankOf.look ? Math.min(most, this.#lookLimit.at(now)) : most)
  }

  #isTooLate({ rank, end = Infinity }: QueuedRequest): boolean {
    return rank !== tooLate && end - this.#clock.mono() < 2 * this.#limit.usualMs
  }

  #enter(): Slot {
    const sentAt = this.#clock.mono()
    this.#underWay++
    let isFree = false
    const leave = (): boolean => {
      if (isFree) return false
      isFree = true
      this.#openSoon()
      return true
    }
    return {
      answered: (error) => {
        if (!leave()) return
        const now = this.#clock.mono()
        for (const limit of [this.#limit, this.#lookLimit])
          limit.answered(sentAt, now, this.#underWay, isOverload(error))
        this.#underWay--
      },
      free: () => {
        if (leave()) this.#underWay--
      },
    }
  }

  /** Not in the midst of whatever made room: those who wait do much when it is their turn. */
  #openSoon(): void {
    if (this.#opening || this.#waiting.size === 0) return
    this.#opening = true
    this.#clock.soon(() => {
      this.#opening = false
      this.#open()
    })
  }

  #open(): void {
    this.#promote()
    for (let next = this.#waiting.peek(); next !== undefined; next = this.#waiting.peek()) {
      if (!this.#fits(next.rank)) return
      if (this.#isTooLate(next)) this.#rank(next, tooLate)
      else {
        this.#waiting.remove(next)
        next.admitted(this.#enter())
      }
    }
  }

  /** Only those that stand behind others gain by it. */
  #promote(): void {
    const now = this.#clock.mono()
    for (let next = this.#promotions.peek(); next !== undefined && next.at <= now; next = this.#promotions.peek()) {
      this.#promotions.remove(next)
      const { waiting } = next
      if (waiting.position >= 0 && waiting.rank > rankOf.keep) this.#rank(waiting, rankOf.keep)
    }
  }

  #rank(waiting: QueuedRequest, rank: number): void {
    this.#waiting.remove(waiting)
    waiting.rank = rank
    this.#waiting.push(waiting)
  }
}

const before = (a: QueuedRequest, b: QueuedRequest): boolean =>
  a.rank !== b.rank ? a.rank < b.rank : a.by !== b.by ? a.by < b.by : a.number < b.number

/** Too many requests, or unavailable: the store, or a proxy before it, sheds load. */
const isOverload = (error: LockError | undefined): boolean =>
  error !== undefined && "status" in error && (error.status === 429 || error.status === 503)

const doors = new WeakMap<ObjectStore, WeakMap<Clock, Admission>>()
/** The stores behind those that only pass requests on. */
const behind = new WeakMap<ObjectStore, ObjectStore>()

/** `view` passes requests on to `store`: they wait at its door. */
export function sharesDoor(view: ObjectStore, store: ObjectStore): void {
  behind.set(view, store)
}

/** The door of the process with this clock to a store; undefined where a request costs no more than a system call. */
export function admissionTo(asked: ObjectStore, clock: Clock): Admission | undefined {
  if (asked.capabilities.cheapReads) return undefined
  const store = behind.get(asked) ?? asked
  let ofStore = doors.get(store)
  if (ofStore === undefined) doors.set(store, (ofStore = new WeakMap()))
  let door = ofStore.get(clock)
  if (door === undefined) ofStore.set(clock, (door = new Admission(clock)))
  return door
}

/**
 * Admission of requests to a store that isn't at hand. Every request of this process waits here for its turn, the most
 * urgent first. No more are under way than the store answers in good time.
 *
 * A request asks for its turn when it is due, and is made when it has it: so it says what is true then, and its
 * deadline counts from its sending.
 *
 * Owns the order and the count. A long wait is no failure: the request's caller decides how long it makes sense.
 *
 * Not promised: any order between processes.
 */
import type { Clock } from "../../runtime/time/clock.ts"
import { Heap, type HeapItem } from "../../runtime/time/heap.ts"
import type { LockError } from "../api/errors.ts"
import type { ObjectStore } from "../stores/port.ts"
import { ConcurrencyLimit } from "./concurrency-limit.ts"

/**
 * How urgent a request is, the most urgent first:
 *
 *     keep      keeps a lease that ends soon, or passes it on
 *     save      saves a state, or reads it
 *     claim     takes a key
 *     renew     renews a lease that has time yet
 *     mark      writes that this process waits for a key
 *     look      reads whether anything has changed
 */
export type Urgency = "keep" | "save" | "claim" | "renew" | "mark" | "look"

const rankOf: Readonly<Record<Urgency, number>> = { keep: 0, save: 1, claim: 2, renew: 3, mark: 4, look: 5 }

/**
 * The part of the limit that each urgency may fill, together with all that are more urgent. A renewal so finds room
 * beside long uploads, and looks are the first to find none.
 */
const shares: readonly number[] = [1, 0.9, 0.8, 0.8, 0.7, 0.5]

/** The rank of a request whose answer would come too late: behind all others. */
const tooLate = shares.length
/** How long answers may take on average, in milliseconds: a fifth of the longest deadline of a lease's request. */
const WANTED_MS = 1000
/** The same for a look, which can wait. A near store that isn't busy answers sooner. */
const WANTED_FOR_LOOKS_MS = 150

/** A place in the line. Times are milliseconds of the monotonic clock. */
export interface AdmissionPlace {
  readonly urgency: Urgency
  /** Of one urgency the least goes first. */
  readonly by: number
  /** From then on it is as urgent as `keep`. Default: never. */
  readonly urgentFrom?: number | undefined
  /**
   * An answer after this is of no use. A request that can't be answered before goes last: else, with too many requests,
   * each would be sent just too late, and none be in time.
   */
  readonly end?: number | undefined
  /**
   * Of equal places the least number goes first. A sender of several requests keeps its number. Default: the next
   * number.
   */
  readonly number?: number | undefined
}

/** How long before its end a save becomes as urgent as `keep`, in milliseconds: half of a checkpoint's limit. */
const URGENT_MS = 5000

/** The place of a request that makes sense until a time. */
export const placeUntil = (urgency: Urgency, until: number): AdmissionPlace => ({
  ...{ urgency, by: until, urgentFrom: urgency === "save" ? until - URGENT_MS : undefined },
})

/** A request that waits for its turn. */
export interface Ticket {
  /** It waits no longer. Idempotent. */
  cancel(): void
}

/** The room that a request under way takes. */
export interface Slot {
  /**
   * Frees it after an answer or a deadline. The time taken measures the store. `error`: what came instead of an answer.
   */
  answered(error?: LockError): void
  /** Frees it. The time taken is no measure: nothing was sent, or much, or nobody waited for the answer. */
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

/** The admission of one process to one store. */
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

  /** Whether a request of this urgency may be sent at once: there is room, and none that goes first waits. */
  hasRoom(urgency: Urgency): boolean {
    const rank = rankOf[urgency]
    const next = this.#waiting.peek()
    return (next === undefined || next.rank > rank) && this.#fits(rank)
  }

  /** The room for one request, if there is some now. */
  tryEnter(urgency: Urgency): Slot | undefined {
    return this.hasRoom(urgency) ? this.#enter() : undefined
  }

  /** The number of a sender that comes now, for all its places. */
  number(): number {
    return this.#numbers++
  }

  /** Calls `admitted` when its turn has come, never before this returns. */
  queue(
    { urgency, by, urgentFrom, end, number = this.number() }: AdmissionPlace,
    admitted: (slot: Slot) => void,
  ): Ticket {
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
   * Settles with the room for one request when its turn has come. Settles with none at `until` (by the monotonic
   * clock), or when the signal aborts. Of one urgency, the request that ends first goes first.
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

  /** Later than the call that made room: an admitted request does much at once. */
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

  /** Ranks those that have become as urgent as `keep`. */
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

/** Whether the store, or a proxy before it, sheds load: too many requests, or unavailable. */
const isOverload = (error: LockError | undefined): boolean =>
  error !== undefined && "status" in error && (error.status === 429 || error.status === 503)

const doors = new WeakMap<ObjectStore, WeakMap<Clock, Admission>>()
/** The store behind each view that only passes requests on. */
const behind = new WeakMap<ObjectStore, ObjectStore>()

/** `view` passes requests on to `store`: they count as requests to that one. */
export function sharesDoor(view: ObjectStore, store: ObjectStore): void {
  behind.set(view, store)
}

/**
 * The admission to a store, for the process with this clock. Undefined where a request costs no more than a system
 * call.
 */
export function admissionTo(asked: ObjectStore, clock: Clock): Admission | undefined {
  if (asked.capabilities.cheapReads) return undefined
  const store = behind.get(asked) ?? asked
  let ofStore = doors.get(store)
  if (ofStore === undefined) doors.set(store, (ofStore = new WeakMap()))
  let door = ofStore.get(clock)
  if (door === undefined) ofStore.set(clock, (door = new Admission(clock)))
  return door
}

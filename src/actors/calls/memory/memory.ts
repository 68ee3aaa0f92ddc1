/**
 * The durable calls that a sandbox remembers: which ids it has applied, and what it answered. Pure. Owns the law that a
 * call that was applied once is never taken for a new one, however much is forgotten. It is part of the checkpoint that
 * holds the effects of these calls; how it gets there is saved-state's business.
 *
 * A call is dated by the store's time of its first send, which repetitions carry too. Whatever is forgotten raises a
 * floor: of a call that was sent by then, and that isn't remembered, nobody can tell any more whether it was applied.
 *
 * Not promised: that a call which waits longer than the memory reaches back is let in. It is refused as too old, also
 * where it would be new.
 */

/** What came of a call, as data. */
export type CallAnswer =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly name: string; readonly message: string; readonly code?: string }

/** A durable call, as far as it is told from others. */
export interface DurableCall {
  readonly id: string
  /** Stands for the call's name and input: another one under the same id is another call. */
  readonly digest: string
  /** The store's time of its first send, in Unix milliseconds. */
  readonly sentAt: number
}

/** A durable call that has just been applied. */
export interface AnsweredCall extends DurableCall {
  readonly answer: CallAnswer
}

/** One that is remembered: its effect is part of the state. */
export interface AppliedCall extends AnsweredCall {
  /** Of all of it as JSON, in UTF-16 units. */
  readonly size: number
}

/** What is remembered. Plain data that survives JSON. */
export interface CallMemory {
  /** By the time of their sending. */
  readonly applied: readonly AppliedCall[]
  /** Calls sent by then may have been forgotten. In Unix milliseconds; 0: none was. */
  readonly forgottenUntil: number
}

/** How much is remembered. */
export interface MemoryLimits {
  /** How many calls. */
  readonly count: number
  /** How large they are together, as JSON in UTF-16 units. */
  readonly size: number
  /** How long after their sending, in milliseconds. */
  readonly age: number
}

/**
 * A call may be dated by so much after the store's time, in milliseconds: the sender's estimate of that may be off by a
 * store's whole seconds and a request's way. One dated later could raise the floor above all others.
 */
export const AHEAD = 10_000

/** Nothing was called yet. */
export const NO_CALLS: CallMemory = { applied: [], forgottenUntil: 0 }

/** What a call is to those remembered. */
export type Recall =
  | { readonly kind: "new" }
  | { readonly kind: "repeated"; readonly answer: CallAnswer }
  /** The id belongs to a call with another name or input. */
  | { readonly kind: "otherCall" }
  /** It may have been applied: all that was sent by `forgottenUntil` may be forgotten. */
  | { readonly kind: "tooOld"; readonly forgottenUntil: number }
  /** It is dated too far ahead of the store's time. */
  | { readonly kind: "early" }

/** Looks a call up, at `now` by the store's time. */
export function recall(memory: CallMemory, { id, digest, sentAt }: DurableCall, now: number): Recall {
  const { applied, forgottenUntil } = memory
  const known = applied.find((call) => call.id === id)
  if (known !== undefined)
    return known.digest === digest ? { kind: "repeated", answer: known.answer } : { kind: "otherCall" }
  if (sentAt <= forgottenUntil) return { kind: "tooOld", forgottenUntil }
  return sentAt > Math.max(now, forgottenUntil) + AHEAD ? { kind: "early" } : { kind: "new" }
}

/** The floor that is left where all is forgotten at `now`, by the store's time. */
export const floorOf = ({ applied, forgottenUntil }: CallMemory, now: number): number =>
  Math.max(now, forgottenUntil, applied.at(-1)?.sentAt ?? 0)

/** Takes a call in that was new. Forgets the oldest ones that are beyond the limits at `now`, by the store's time. */
export function remember(memory: CallMemory, call: AnsweredCall, limits: MemoryLimits, now: number): CallMemory {
  const at = memory.applied.findLastIndex(({ sentAt }) => sentAt <= call.sentAt) + 1
  const applied = memory.applied.toSpliced(at, 0, { ...call, size: JSON.stringify(call).length })
  const forgotten = beyond(applied, limits, now)
  const last = applied[forgotten - 1]
  return {
    applied: applied.slice(forgotten),
    forgottenUntil: Math.max(memory.forgottenUntil, last?.sentAt ?? 0),
  }
}

/** How many of the oldest calls have to go. */
function beyond(applied: readonly AppliedCall[], { count, size, age }: MemoryLimits, now: number): number {
  let total = applied.reduce((sum, call) => sum + call.size, 0)
  let gone = 0
  while (gone < applied.length) {
    const isOld = applied[gone]!.sentAt < now - age
    if (!isOld && applied.length - gone <= count && total <= size) break
    total -= applied[gone]!.size
    gone++
  }
  return gone
}

/**
 * The durable calls that a sandbox remembers: which ids it has applied, and what it answered. Pure. Owns the law that a
 * call that was applied once is never taken for a new one, however much is forgotten. It is part of the checkpoint that
 * holds the effects of these calls; how it gets there is saved-state's business.
 *
 * A call is dated by the store's time of its first send, which repetitions carry too. Whatever is forgotten raises a
 * floor: of a call that was sent by then, and that isn't remembered, nobody can tell any more whether it was applied.
 *
 * Not promised: that a new call which comes later than the memory reaches back is let in. It is refused as too old.
 */

/** What came of a call, as data. */
export type CallAnswer =
  | { readonly kind: "value"; readonly value?: unknown }
  | { readonly kind: "error"; readonly name: string; readonly message: string; readonly code?: string }

/** What is remembered of an answer. `large`: it had more than a share of the memory. */
export type KeptAnswer = CallAnswer | { readonly kind: "large" }

/** A durable call, as far as it is told from others. */
export interface DurableCall {
  readonly id: string
  /** Stands for the call's name and input: another one under the same id is another call. */
  readonly digest: string
  /** The store's time of its first send, in Unix milliseconds. */
  readonly sentAt: number
}

/** A durable call whose effect is part of the state. */
export interface AppliedCall extends DurableCall {
  readonly answer: KeptAnswer
  /** All of it as JSON: what is stored. */
  readonly text: string
}

/** What is remembered. */
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

/** One answer may take this share of the size: a larger one would make the memory forget all others. */
const SHARE = 1 / 8

/** Nothing was called yet. */
export const NO_CALLS: CallMemory = { applied: [], forgottenUntil: 0 }

/** What a call is to those remembered. */
export type Recall =
  | { readonly kind: "new" }
  | { readonly kind: "repeated"; readonly answer: KeptAnswer }
  /** The id belongs to a call with another name or input. */
  | { readonly kind: "otherCall" }
  /** It may have been applied: all that was sent by `forgottenUntil` may be forgotten. */
  | { readonly kind: "tooOld"; readonly forgottenUntil: number }
  /** It is dated too far ahead of the store's time, `now`. */
  | { readonly kind: "early"; readonly now: number }

/** Looks a call up, at `now` by the store's time. */
export function recall(memory: CallMemory, { id, digest, sentAt }: DurableCall, now: number): Recall {
  const { forgottenUntil } = memory
  const known = memory.applied.find((call) => call.id === id)
  if (known !== undefined)
    return known.digest === digest ? { kind: "repeated", answer: known.answer } : { kind: "otherCall" }
  if (sentAt <= forgottenUntil) return { kind: "tooOld", forgottenUntil }
  return sentAt > Math.max(now + AHEAD, forgottenUntil + 1) ? { kind: "early", now } : { kind: "new" }
}

/** The date of a call that was never sent before, and is let in now. */
export const firstDate = ({ forgottenUntil }: CallMemory, now: number): number => Math.max(now, forgottenUntil + 1)

/** What is remembered of a call with this answer. */
export function applied({ id, digest, sentAt }: DurableCall, answer: CallAnswer, { size }: MemoryLimits): AppliedCall {
  const text = textOf({ id, digest, sentAt, answer })
  if (text.length <= size * SHARE) return { id, digest, sentAt, answer, text }
  return {
    id,
    digest,
    sentAt,
    answer: { kind: "large" },
    text: textOf({ id, digest, sentAt, answer: { kind: "large" } }),
  }
}

/** One call as it is stored. */
export const textOf = ({ id, digest, sentAt, answer }: Omit<AppliedCall, "text">): string =>
  JSON.stringify([id, digest, sentAt, answer])

/** Takes a call in that was new. Forgets the oldest ones that are beyond the limits at `now`, by the store's time. */
export function remember(memory: CallMemory, call: AppliedCall, limits: MemoryLimits, now: number): CallMemory {
  const at = memory.applied.findLastIndex(({ sentAt }) => sentAt <= call.sentAt) + 1
  return trimmed({ ...memory, applied: memory.applied.toSpliced(at, 0, call) }, limits, now)
}

/** Forgets the oldest calls that are beyond the limits at `now`, by the store's time. */
export function trimmed(memory: CallMemory, limits: MemoryLimits, now: number): CallMemory {
  const forgotten = beyond(memory.applied, limits, now)
  if (forgotten === 0) return memory
  const last = memory.applied[forgotten - 1]!
  return {
    applied: memory.applied.slice(forgotten),
    forgottenUntil: Math.max(memory.forgottenUntil, last.sentAt),
  }
}

/** The floor that is left where all is forgotten at `now`, by the store's time. */
export const floorOf = ({ applied: calls, forgottenUntil }: CallMemory, now: number): number =>
  Math.max(now, forgottenUntil, calls.at(-1)?.sentAt ?? 0)

/** How many of the oldest calls have to go. */
function beyond(calls: readonly AppliedCall[], { count, size, age }: MemoryLimits, now: number): number {
  let total = calls.reduce((sum, call) => sum + call.text.length, 0)
  let gone = 0
  while (gone < calls.length) {
    const isOld = calls[gone]!.sentAt < now - age
    if (!isOld && calls.length - gone <= count && total <= size) break
    total -= calls[gone]!.text.length
    gone++
  }
  return gone
}

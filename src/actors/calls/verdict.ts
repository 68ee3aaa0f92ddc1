/**
 * What follows from the result of a call that was sent: whether it is over, and whether it may be sent again. Pure, but
 * for what it notes of the call. Workers and clients have it in common.
 */
import { CallDateError, CallTooOldError } from "../api/call-errors.ts"
import type { CallAnswer } from "./memory/memory.ts"
import type { CallResult } from "./transport.ts"

/** A call that is sent, as far as this matters. */
export interface SentCall {
  /** Undefined where it isn't durable. */
  readonly durable: { readonly id: string } | undefined
  /** It was never sent before, so that no repetition of it can be forgotten. */
  readonly isFirst: boolean
  /** It is durable or readonly: a second time has no second effect. */
  readonly mayRepeat: boolean
  /** It may have had an effect. */
  begun: boolean
}

/** What follows. `isGone`: nobody answered there. `pauses`: before it is sent again. `sentAt`: its date from now on. */
export type Verdict =
  | { readonly kind: "answered"; readonly answer: CallAnswer }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "again"; readonly isGone: boolean; readonly pauses: boolean; readonly sentAt?: number }

/** Judges a result, and notes in the call what is known of it by now. */
export function verdictOn(call: SentCall, result: CallResult): Verdict {
  switch (result.kind) {
    case "answer":
      return { kind: "answered", answer: result.answer }
    case "refused": {
      const sentAt = newDate(call, result.error)
      if (sentAt === undefined) return { kind: "failed", error: result.error }
      return { kind: "again", isGone: false, pauses: false, sentAt }
    }
    case "notHere":
    case "leaving":
      return { kind: "again", isGone: false, pauses: true }
    case "unreachable":
      return { kind: "again", isGone: true, pauses: true }
    case "unknown":
      call.begun = true
      return call.mayRepeat ? { kind: "again", isGone: true, pauses: true } : { kind: "failed", error: result.error }
  }
}

/**
 * A call that was never sent before is refused for its date where the clock here is wrong, or all of its time is
 * forgotten. It surely had no effect then, and is dated anew.
 */
function newDate({ begun, isFirst, durable }: SentCall, error: unknown): number | undefined {
  if (begun || !isFirst || durable === undefined) return undefined
  if (error instanceof CallDateError) return error.storeTime
  return error instanceof CallTooOldError ? error.forgottenUntil + 1 : undefined
}

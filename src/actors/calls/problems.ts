/** The typed errors of calls, each with what to do next. Owns the wording; who raises which is elsewhere. */
import {
  CallAnswerForgottenError,
  CallDateError,
  CallIdReusedError,
  CallInputError,
  CallThrewError,
  CallTooOldError,
  CallUnknownError,
  OverloadedError,
  UnknownCallError,
} from "../../actors/api/call-errors.ts"
import { type LockError } from "../../locks/api/errors.ts"
import { refusal, shown } from "../../runtime/input/options.ts"
import type { CallParts } from "../api/call-parts.ts"
import type { CallAnswer, DurableCall } from "./memory/memory.ts"

/** The definition has no call of that name. */
export const unknownCall = (key: string, name: string, known: Iterable<string>): UnknownCallError => {
  const names = [...known]
  return new UnknownCallError({
    message: `${key} has no call ${shown(name)}`,
    next: names.length === 0 ? "Give its definition calls" : `Use one of ${names.join(", ")}`,
    key,
  })
}

/** The input can't be taken. */
export const inputRefused = (key: string, name: string, why: string): CallInputError =>
  new CallInputError({
    message: `The input of the call ${name} of ${key} can't be taken: ${why}`,
    next: "Give what its input schema accepts and JSON can hold; nothing has happened",
    key,
  })

/** The id belongs to a call with another name or input. */
export const idOfAnother = (key: string, id: string): CallIdReusedError =>
  new CallIdReusedError({
    message: `${key} knows the call id ${id} from a call with another name or input`,
    next: "Give each call an id of its own; a repetition has to be the same call",
    key,
  })

/** Nobody can tell any more whether it was applied. */
export const callTooOld = (key: string, { id, sentAt }: DurableCall, forgottenUntil: number): CallTooOldError =>
  new CallTooOldError({
    message: `The call ${id} of ${key} was first sent ${Math.round(forgottenUntil - sentAt)} ms before all that ${key} remembers of calls`,
    next: "Read the state to see whether it was applied; callMemory says how much is remembered",
    key,
    sentAt,
    forgottenUntil,
  })

/** It is dated after the store's time. */
export const callEarly = (key: string, { id, sentAt }: DurableCall, storeTime: number): CallDateError =>
  new CallDateError({
    message: `The call ${id} of ${key} is dated ${Math.round(sentAt - storeTime)} ms after the store's time`,
    next: "Give as sentAt when it was first sent, in Unix milliseconds, and set the clock of the sender right",
    key,
    storeTime,
  })

/** A durable call came without an id. */
export const withoutIdentity = (key: string, name: string): LockError =>
  refusal(`The call ${name} of ${key} is durable, and came without an id`, "Send an id, and when it was first sent")

/** A call that isn't durable came with an id. */
export const withIdentity = (key: string, name: string): LockError =>
  refusal(`The call ${name} of ${key} isn't durable, and came with an id`, "Send it without one")

/** Too many calls wait for the sandbox. */
export const overloaded = (key: string, waiting: number): OverloadedError =>
  new OverloadedError({
    message: `${waiting} calls wait for ${key} already`,
    next: "Call again later, or spread the work over more keys; callQueue says how many may wait",
    key,
  })

/** A call that had begun. */
interface BegunCall {
  readonly parts: Pick<CallParts, "name">
  readonly durable: DurableCall | undefined
}

/** Nobody knows how it ended. */
export const callUnknown = (key: string, { parts, durable }: BegunCall, cause: unknown): CallUnknownError => {
  const next =
    durable === undefined
      ? "Read the state before you call again"
      : "Call again with this id and sentAt: it has its effect once"
  return new CallUnknownError({
    message: `Nobody knows whether the call ${parts.name} of ${key} had its effect: ${sentenceOf(cause)}`,
    next,
    key,
    cause,
    id: durable?.id,
    sentAt: durable?.sentAt,
  })
}

/** It was applied, and its answer wasn't remembered. */
export const answerTooLarge = (key: string, name: string): CallAnswerForgottenError =>
  new CallAnswerForgottenError({
    message: `The call ${name} of ${key} had its effect, and its answer was too large to be remembered`,
    next: "Read the state for what it answered; raise the size of callMemory, or answer with less",
    key,
  })

/** Of an error, to stand in another: without its full stop, and not too long. */
const sentenceOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 300).replace(/\.$/, "")

/** Its handler threw. */
export const callThrew = (key: string, name: string, error: Extract<CallAnswer, { kind: "error" }>): CallThrewError =>
  new CallThrewError({
    message: `The call ${name} of ${key} threw ${error.name}: ${error.message}`,
    next: "See what its handler says",
    key,
    thrown: { name: error.name, message: error.message, code: error.code },
  })

/**
 * One call at its sandbox: a durable one is looked up, a new one's input is validated, its handler runs in a turn, and
 * what came of it is remembered. Owns what becomes of an answer and of an error. Where the sandbox is, is the caller's
 * business.
 *
 * Not promised: that a handler which was called for a call that isn't durable had its effect once. A lost answer leaves
 * that open.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { sha256 } from "../../runtime/time/hash.ts"
import type { CallParts } from "../api/call-parts.ts"
import type { AnyCallSchema, CallContext } from "../api/calls.ts"
import { throughJson } from "../checkpoints/content/json.ts"
import type { Activation } from "../sandbox/activation.ts"
import { use } from "../sandbox/uses.ts"
import type { CallWait } from "../sandbox/waits.ts"
import { errorAnswer } from "./error-answer.ts"
import type { CallAnswer, DurableCall, KeptAnswer } from "./memory/memory.ts"
import type { AdmittedCall } from "./memory/remembered.ts"
import { answerTooLarge, callEarly, callThrew, callTooOld, idOfAnother, inputRefused } from "./problems.ts"
import type { SentCall } from "./verdict.ts"

/** A call as it reaches its sandbox. */
export interface MadeCall extends SentCall {
  readonly parts: CallParts
  /** As JSON has it; undefined where there is none. Each attempt reads an input of its own from it. */
  readonly text: string | undefined
  /** Undefined where it isn't durable. A repetition has what the call was let in with. */
  durable: DurableCall | undefined
  isFirst: boolean
}

/** How a call is known. */
export interface CallIdentity {
  readonly id: string
  /** The store's time of its first send, in Unix milliseconds. */
  readonly sentAt: number
  /** It was never sent before. */
  readonly isFirst: boolean
}

/** The call of this input. `identity` is that of a durable one. Throws CallInputError where JSON would change it. */
export function madeCall(
  lockKey: string,
  parts: CallParts,
  given: unknown,
  identity: CallIdentity | undefined,
): MadeCall {
  const { name } = parts
  const json = given === undefined ? { text: undefined } : through(given)
  if ("why" in json) throw inputRefused(lockKey, name, `${json.path} ${json.why}`)
  const { text } = json
  const sent = { begun: false, mayRepeat: parts.durable || parts.readonly }
  if (identity === undefined) return { parts, text, durable: undefined, isFirst: false, ...sent }
  const { id, sentAt, isFirst } = identity
  return { parts, text, durable: { id, sentAt, digest: digestOf(name, text) }, isFirst, ...sent }
}

/**
 * Settles with the answer. Rejects with the errors of a use, with those of calls, and with why the wait is over. That
 * aborts the handler's signal, but for a durable call: that is known from its beginning on, so it goes on. `onBegin` is
 * called when the handler begins, or a repetition is answered.
 */
export async function callHere(
  activation: Activation,
  call: MadeCall,
  wait: CallWait,
  onBegin: () => void,
): Promise<unknown> {
  const { parts } = call
  const { lockKey } = activation
  const admitted = admittedTo(activation, call)
  // A caller that leaves while the handler runs leaves its entry: a repetition meets it until the turn has ended.
  const answer = await wait.for(inTurn(activation, call, { wait, admitted, onBegin }).finally(() => admitted?.leave()))
  switch (answer.kind) {
    case "value":
      return copyOf(answer.value)
    case "error":
      throw callThrew(lockKey, parts.name, answer)
    case "large":
      throw answerTooLarge(lockKey, parts.name)
  }
}

interface Turn {
  readonly wait: CallWait
  readonly admitted: AdmittedCall | undefined
  readonly onBegin: () => void
}

async function inTurn(activation: Activation, call: MadeCall, { wait, admitted, onBegin }: Turn): Promise<KeptAnswer> {
  const { parts } = call
  const isKnown = admitted?.answer !== undefined
  const input = isKnown ? undefined : await wait.for(accepted(activation.lockKey, call))
  const run = async (state: unknown, context: Omit<CallContext, "id">): Promise<KeptAnswer> => {
    if (admitted?.answer !== undefined) return admitted.answer
    const answer = await answerOf(parts, state, input, { ...context, id: admitted?.call.id })
    admitted?.applied(answer)
    return answer
  }
  const begun = (): void => {
    call.durable = admitted?.call
    call.isFirst = false
    call.begun = true
    onBegin()
  }
  const isUnsaved = (): boolean => admitted?.isStored === false
  const signal = parts.durable ? undefined : wait.signal
  return use(activation, run, { wait, signal, onBegin: begun, durable: isUnsaved })
}

/** Undefined where the call isn't durable. Throws where nobody can tell whether it is new, or it is another call. */
function admittedTo({ calls, lockKey }: Activation, { durable, isFirst }: MadeCall): AdmittedCall | undefined {
  if (durable === undefined) return undefined
  const admitted = calls.admit(durable, isFirst)
  switch (admitted.kind) {
    case "admitted":
      return admitted
    case "otherCall":
      throw idOfAnother(lockKey, durable.id)
    case "tooOld":
      throw callTooOld(lockKey, durable, admitted.forgottenUntil)
    case "early":
      throw callEarly(lockKey, durable, admitted.now)
  }
}

/**
 * What is thrown is the call's answer as well. Rejects only where a handler gave up because its signal told it to: then
 * it may be run again.
 */
async function answerOf(parts: CallParts, state: unknown, input: unknown, context: CallContext): Promise<CallAnswer> {
  try {
    const value = await parts.handle(state, input, context)
    const answer = parts.output === undefined ? value : await validated(parts.output, value, "its answer is refused")
    if (answer === undefined) return { kind: "value" }
    const json = through(answer)
    if ("why" in json) throw new TypeError(`its answer can't cross to another process: ${json.path} ${json.why}`)
    return { kind: "value", value: JSON.parse(json.text) }
  } catch (error) {
    const { signal } = context
    if (signal.aborted && error === signal.reason) throw error
    return errorAnswer(error)
  }
}

async function accepted(lockKey: string, { parts, text }: MadeCall): Promise<unknown> {
  const { input, name } = parts
  const given: unknown = text === undefined ? undefined : JSON.parse(text)
  if (input === undefined) return given
  try {
    return await validated(input, given, "its schema refuses it")
  } catch (error) {
    throw inputRefused(lockKey, name, errorAnswer(error).message)
  }
}

async function validated(schema: AnyCallSchema, value: unknown, refused: string): Promise<unknown> {
  const result: StandardSchemaV1.Result<unknown> = await schema["~standard"].validate(value)
  if (!result.issues) return result.value
  throw new TypeError(`${refused}: ${result.issues.map(({ message }) => message).join("; ")}`)
}

/** As `throughJson`; what is too deep, or throws when it is looked at, is no JSON. */
function through(value: unknown): ReturnType<typeof throughJson> {
  try {
    return throughJson(value)
  } catch (error) {
    return { path: "$", why: `can't be read (${errorAnswer(error).message})` }
  }
}

/** Who gets an answer may change it: what is remembered stays. */
const copyOf = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))

/** Stands for a name and an input: 128 bits of a hash. */
const digestOf = (name: string, text: string | undefined): string =>
  sha256(`${name}\n${text === undefined ? "" : canonical(JSON.parse(text))}`).slice(0, 32)

/** JSON with the names of each object in order: one input, written by another hand, is the same input. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )

/**
 * One call at its sandbox: its input is validated, its handler runs in a turn, and a durable one is looked up first and
 * remembered afterwards. Owns what becomes of an answer and of an error. Where the sandbox is, is the caller's business.
 *
 * Not promised: that a handler which was called for a call that isn't durable had its effect once. A lost answer leaves
 * that open.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { refusal } from "../../runtime/input/options.ts"
import { sha256 } from "../../runtime/time/hash.ts"
import type { CallParts } from "../api/call-parts.ts"
import type { AnyCallSchema, CallContext, CallOptions } from "../api/calls.ts"
import { throughJson } from "../checkpoints/content/json.ts"
import type { Activation } from "../sandbox/activation.ts"
import { use } from "../sandbox/uses.ts"
import type { CallWait } from "../sandbox/waits.ts"
import type { CallAnswer, DurableCall } from "./memory/memory.ts"
import type { AdmittedCall } from "./memory/remembered.ts"
import { callEarly, callThrew, callTooOld, idOfAnother, inputRefused } from "./problems.ts"

/** A call as it reaches its sandbox. */
export interface MadeCall {
  readonly parts: CallParts
  /** As JSON has it. */
  readonly input: unknown
  /** Undefined where it isn't durable. A repetition has what the call was let in with. */
  durable: DurableCall | undefined
  /** It was never sent before. */
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

/**
 * How a call is known: by what its caller says, or by what is fresh. Throws InvalidConfigError where half of it is said,
 * or a call that isn't durable has it.
 */
export function callIdentity(
  { name, durable }: CallParts,
  { id, sentAt }: CallOptions,
  fresh: Omit<CallIdentity, "isFirst">,
): CallIdentity {
  if (id === undefined && sentAt === undefined) return { ...fresh, isFirst: true }
  if (!durable) throw refusal(`The call ${name} isn't durable, and has an id or sentAt`, "Leave both out")
  if (id === undefined || sentAt === undefined)
    throw refusal(`${id === undefined ? "sentAt" : "id"} stands alone`, "Give both id and sentAt, or neither")
  return { id, sentAt, isFirst: false }
}

/** The call of this input. Throws CallInputError where JSON would change it. */
export function madeCall(
  lockKey: string,
  parts: CallParts,
  given: unknown,
  { id, sentAt, isFirst }: CallIdentity,
): MadeCall {
  const json = given === undefined ? { text: "", value: undefined } : throughJson(given)
  if ("why" in json) throw inputRefused(lockKey, parts.name, `${json.path} ${json.why}`)
  const input = json.value
  if (!parts.durable) return { parts, input, durable: undefined, isFirst }
  return { parts, input, durable: { id, sentAt, digest: digestOf(parts.name, input) }, isFirst }
}

/**
 * Settles with the answer. Rejects with the errors of a use, with those of calls, and with why the wait is over, which
 * aborts the handler's signal too. `onBegin` is called when the handler begins, or a repetition is answered.
 */
export async function callHere(
  activation: Activation,
  call: MadeCall,
  wait: CallWait,
  onBegin: () => void,
): Promise<unknown> {
  const { parts } = call
  const { lockKey } = activation
  const input = await wait.for(accepted(lockKey, parts, call.input))
  using admitted = admittedTo(activation, call)
  const inTurn = async (state: unknown, context: Omit<CallContext, "id">): Promise<CallAnswer> => {
    if (admitted?.answer !== undefined) return admitted.answer
    const answer = await answerOf(parts, state, input, { ...context, id: admitted?.call.id })
    admitted?.applied(answer)
    return answer
  }
  const begun = (): void => {
    call.durable = admitted?.call
    call.isFirst = false
    onBegin()
  }
  const isUnsaved = (): boolean => admitted?.isStored === false
  const { signal } = wait
  const ran = use(activation, inTurn, { wait, signal, onBegin: begun, durable: isUnsaved })
  const answer = await wait.for(ran)
  if (answer.kind === "value") return answer.value
  throw callThrew(lockKey, parts.name, answer)
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
      throw callEarly(lockKey, durable)
  }
}

/** Never rejects: what is thrown is the call's answer as well. */
async function answerOf(parts: CallParts, state: unknown, input: unknown, context: CallContext): Promise<CallAnswer> {
  try {
    const value = await parts.handle(state, input, context)
    const answer = parts.output === undefined ? value : await validated(parts.output, value, "its answer is refused")
    if (answer === undefined) return { kind: "value", value: undefined }
    const json = throughJson(answer)
    if ("why" in json) throw new TypeError(`its answer can't cross to another process: ${json.path} ${json.why}`)
    return { kind: "value", value: json.value }
  } catch (error) {
    return errorAnswer(error)
  }
}

function errorAnswer(error: unknown): CallAnswer {
  if (!(error instanceof Error)) return { kind: "error", name: "Error", message: String(error) }
  const { name, message, code } = error as Error & { readonly code?: unknown }
  return { kind: "error", name, message, ...(typeof code === "string" && { code }) }
}

async function accepted(lockKey: string, { input, name }: CallParts, given: unknown): Promise<unknown> {
  if (input === undefined) return given
  try {
    return await validated(input, given, "its schema refuses it")
  } catch (error) {
    throw inputRefused(lockKey, name, (error as Error).message)
  }
}

async function validated(schema: AnyCallSchema, value: unknown, refused: string): Promise<unknown> {
  const result: StandardSchemaV1.Result<unknown> = await schema["~standard"].validate(value)
  if (!result.issues) return result.value
  throw new TypeError(`${refused}: ${result.issues.map(({ message }) => message).join("; ")}`)
}

/** Stands for a name and an input. */
const digestOf = (name: string, input: unknown): string => sha256(`${name}\n${canonical(input)}`)

/** JSON with the names of each object in order: one input, written by another hand, is the same input. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  ) ?? ""

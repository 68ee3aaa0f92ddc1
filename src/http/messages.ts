/**
 * Calls and their results as HTTP: the body of a request, and status and body of an answer. Both come from others, so
 * what doesn't fit is refused. Pure.
 */
import { CALL_ID } from "../actors/api/call-id.ts"
import type { CallAnswer } from "../actors/calls/memory/memory.ts"
import type { CallRequest, CallResult } from "../actors/calls/transport.ts"
import type { LockError } from "../locks/api/errors.ts"
import { shown } from "../runtime/input/options.ts"
import { type ErrorData, errorData, errorOf } from "./errors.ts"

/** Where a worker takes calls, below its address. */
export const CALL_PATH = "/_leasehold/call"
/** Of an answer: the store's time when it was sent, in Unix milliseconds, and the owner of the sandbox by then. */
export const TIME = "leasehold-time"
export const OWNER = "leasehold-owner"
/** Who takes others' calls and sends them. A worker of another one is refused. */
export const WIRE_VERSION = 1

/** An answer before it is one of a server's. */
export interface PlainAnswer {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

type Fields = Readonly<Record<string, unknown>>

/** The body of a request. */
export const requestBody = (request: CallRequest): string => JSON.stringify({ version: WIRE_VERSION, ...request })

/** The request in a body, or why it is none, in words. */
export function parseRequest(body: string): CallRequest | string {
  const fields = jsonOf(body)
  if (fields === undefined) return "its body is no JSON object"
  if (fields["version"] !== WIRE_VERSION)
    return `it speaks version ${shown(fields["version"])}, and this worker ${WIRE_VERSION}`
  const { definition, key, call, input, durable, budget, forwarded } = fields
  if (typeof definition !== "string" || typeof key !== "string" || typeof call !== "string")
    return "it lacks definition, key or call"
  if (budget !== undefined && !(typeof budget === "number" && budget >= 0))
    return "its budget is no number of milliseconds"
  if (typeof forwarded !== "boolean") return "it doesn't say whether it is forwarded"
  if (durable !== undefined && !isIdentity(durable)) return "durable is not an id and when it was first sent"
  return {
    ...{ definition, key, call, input, forwarded },
    ...(durable !== undefined && { durable }),
    ...(budget !== undefined && { budget }),
  }
}

/** The answer that tells of a result. */
export function answerOf(result: CallResult): PlainAnswer {
  switch (result.kind) {
    case "answer":
      return plain(200, { answer: result.answer })
    case "refused":
      return refused(result.error)
    case "notHere":
      return plain(409, { notHere: true }) // 421 would say the same, and Node's fetch sends again by itself then
    case "leaving":
      return plain(503, { leaving: true }, { "retry-after": "1" })
    case "unreachable":
    case "unknown":
      return plain(502, { unknown: wordsOf(result.error) })
  }
}

/** The result that an answer tells of, which its worker has signed. */
export function resultOf(status: number, body: string): CallResult {
  const { answer, error, notHere, leaving, unknown } = jsonOf(body) ?? {}
  if (status === 200 && isAnswer(answer)) return { kind: "answer", answer }
  if (notHere === true) return { kind: "notHere" }
  if (leaving === true) return { kind: "leaving" }
  const refusal = errorOf(error)
  if (refusal !== undefined) return { kind: "refused", error: refusal }
  return { kind: "unknown", error: new Error(typeof unknown === "string" ? unknown : `status ${status}`) }
}

/** An answer of an error. */
export function refused(error: LockError): PlainAnswer {
  const data: ErrorData = errorData(error)
  const headers = error.code === "LEASEHOLD_OVERLOADED" ? { "retry-after": "1" } : {}
  return plain(STATUS[error.code] ?? (error.retryable ? 503 : 500), { error: data }, headers)
}

const STATUS: Readonly<Record<string, number>> = {
  LEASEHOLD_DEFINITION: 404,
  LEASEHOLD_CALL: 404,
  LEASEHOLD_KEY: 400,
  LEASEHOLD_CONFIG: 400,
  LEASEHOLD_CALL_INPUT: 400,
  LEASEHOLD_CALL_DATE: 400,
  LEASEHOLD_CALL_ID: 409,
  LEASEHOLD_REENTRANT: 409,
  LEASEHOLD_CALL_OLD: 410,
  LEASEHOLD_OVERLOADED: 503,
  LEASEHOLD_TIMEOUT: 504,
}

const plain = (status: number, value: object, headers: Readonly<Record<string, string>> = {}): PlainAnswer => ({
  status,
  body: JSON.stringify(value),
  headers,
})

function jsonOf(body: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}

const isIdentity = (value: unknown): value is NonNullable<CallRequest["durable"]> => {
  const { id, sentAt } = Object(value) as Fields
  return typeof id === "string" && CALL_ID.test(id) && Number.isFinite(sentAt)
}

const isAnswer = (value: unknown): value is CallAnswer => {
  const { kind, name, message, code } = Object(value) as Fields
  if (kind === "value") return true
  const isCode = code === undefined || typeof code === "string"
  return kind === "error" && typeof name === "string" && typeof message === "string" && isCode
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

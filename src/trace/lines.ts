/** What locks and charts say, as lines of a trace. Pure. Errors become plain values here. */
import { LockError } from "../locks/api/errors.ts"
import type { LockEvent } from "../locks/api/lock.ts"
import type { LockLine, StateLine, TraceError } from "./trace.ts"

type LineOrigin = Pick<LockLine, "at" | "worker">

/** What a trace tells of a moment of a sandbox's chart: a part of the chart's snapshot. */
export interface StateMoment {
  /** The state as XState has it. */
  readonly value: StateLine["value"]
  /** What the chart remembers beside it. */
  readonly context: {
    readonly key: string
    readonly token: number | undefined
    readonly leaving: string | undefined
    readonly error: unknown
    readonly failure: { readonly error?: unknown } | undefined
  }
}

/** How an error is told. */
export type ErrorOf = (error: unknown) => TraceError

/** The line of a lock's event. */
export function lockLine({ at, worker }: LineOrigin, event: LockEvent, errorOf: ErrorOf = traceError): LockLine {
  const { at: wall, key, ownerId, type, ...more } = event
  const { error, ...rest } = "error" in more ? more : { ...more, error: undefined }
  return {
    kind: "lock",
    at,
    worker,
    key,
    type,
    ownerId,
    wall,
    ...rest,
    ...(error !== undefined && { error: errorOf(error) }),
  }
}

/** The line of a sandbox's snapshot. */
export function stateLine(
  { at, worker }: LineOrigin,
  { value, context }: StateMoment,
  errorOf: ErrorOf = traceError,
): StateLine {
  const { key, token = null, leaving } = context
  const error = context.error ?? context.failure?.error
  return {
    kind: "state",
    at,
    worker,
    key,
    value,
    token,
    ...(leaving !== undefined && { leaving }),
    ...(error !== undefined && { error: errorOf(error) }),
  }
}

/** Any error as a plain value, whatever it is made of. */
export function traceError(error: unknown): TraceError {
  try {
    return told(error)
  } catch {
    return { tag: "unknown", code: null, message: "(what was thrown can't be read)" }
  }
}

function told(error: unknown): TraceError {
  if (!(error instanceof Error)) return { tag: "unknown", code: null, message: String(error) }
  const { status } = error as { readonly status?: unknown }
  const isKnown = error instanceof LockError
  return {
    tag: isKnown ? error._tag : String(error.name),
    code: isKnown ? error.code : null,
    message: String(error.message),
    ...((typeof status === "number" || typeof status === "string") && { status }),
  }
}

/**
 * What an object's body says, as far as a trace tells it: of lease records and heads who owns them, of anything else
 * nothing. Reads them as strangers do, by their fields alone, so that damaged ones are told too. Pure.
 */
import { ABSENT, type Generation, type ObjectRef } from "../locks/stores/port.ts"
import { refusal, shown } from "../runtime/input/options.ts"
import type { AppliedLine, TraceHead, TraceLease } from "./trace.ts"

/** A write that took effect. */
export interface AppliedWrite extends ObjectRef {
  /** Whose; null for a stranger's, or an operator's. */
  readonly worker: string | null
  /** The generation it replaced; ABSENT where there was no object. */
  readonly before: Generation
  /** The generation it made; ABSENT for a removal. */
  readonly generation: Generation
  /** What was written; undefined for a removal. */
  readonly body: Uint8Array | undefined
}

/** What a trace tells of it. Throws InvalidConfigError for what is no write. */
export function appliedWrite(applied: AppliedWrite): Omit<AppliedLine, "kind" | "at"> {
  if (!isFields(applied) || typeof applied.name !== "string")
    throw refusal(`The write is ${shown(applied)}, without the name of an object`, "Give an AppliedWrite")
  const { body, ...write } = applied
  const { worker, area, name, before } = write
  if (body === undefined) return { worker, op: "remove", area, name, before, generation: ABSENT }
  const put = { worker, op: "put", area, name, before, generation: write.generation } as const
  const fields = fieldsOf(body)
  if (fields === undefined) return put
  if (area === "leases") return { ...put, lease: leaseOf(fields) }
  return area === "state" && name.endsWith("/head") ? { ...put, head: headOf(fields) } : put
}

type BodyFields = Readonly<Record<string, unknown>>

function leaseOf(fields: BodyFields): TraceLease {
  const { ownerId, expiresAt, waitingOwnerId, owner, waiter, line } = fields
  const waiterNonce = isFields(waiter) && waiter["for"] === waitingOwnerId ? textOf(waiter["nonce"]) : null
  const behind = Array.isArray(line) ? line.filter(isFields) : []
  const asking = namesOf(behind.filter((entry) => entry["quiet"] !== true))
  const quiet = namesOf(behind.filter((entry) => entry["quiet"] === true))
  return {
    ownerId: textOf(ownerId),
    token: isFields(owner) && owner["for"] === ownerId ? numberOf(owner["token"]) : null,
    expiresAt: Math.round((numberOf(expiresAt) ?? 0) * 1000),
    waiterId: textOf(waitingOwnerId),
    ...(waiterNonce !== null && { waiterNonce }),
    ...(asking.length > 0 && { line: asking }),
    ...(quiet.length > 0 && { quiet }),
  }
}

const namesOf = (entries: readonly BodyFields[]): readonly string[] =>
  entries.flatMap((entry) => textOf(entry["for"]) ?? [])

function headOf({ token, nonce, seq, state, sha256 }: BodyFields): TraceHead {
  return {
    token: numberOf(token) ?? 0,
    nonce: textOf(nonce) ?? "",
    seq: numberOf(seq) ?? 0,
    state: textOf(state) ?? "",
    sha256: textOf(sha256),
  }
}

function fieldsOf(body: Uint8Array): BodyFields | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isFields = (value: unknown): value is BodyFields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null)
const numberOf = (value: unknown): number | null => (typeof value === "number" ? value : null)

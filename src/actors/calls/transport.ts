/** The port by which a call reaches the owner of its sandbox in another process. Only types; `src/http` has one. */
import type { LockError } from "../../locks/api/errors.ts"
import type { CallAnswer } from "./memory/memory.ts"

/** A call as it crosses. Plain data that survives JSON. */
export interface CallRequest {
  /** The name of the definition. */
  readonly definition: string
  /** The sandbox's key, without the definition's name. */
  readonly key: string
  /** Which call. */
  readonly call: string
  /** As JSON has it; absent where there is none. */
  readonly input?: unknown
  /** Of a durable call: how it is known. */
  readonly durable?: { readonly id: string; readonly sentAt: number }
  /** How long its sender still waits, in milliseconds; absent: without end. */
  readonly budget?: number
  /** A worker sends it, by what it knows of the owner: it is not to be sent on. */
  readonly forwarded: boolean
}

/** What came of sending it. */
export type CallResult =
  | { readonly kind: "answer"; readonly answer: CallAnswer }
  /** It had no effect, and would be refused again. */
  | { readonly kind: "refused"; readonly error: LockError }
  /** It had no effect: another process owns the sandbox, or none. */
  | { readonly kind: "notHere" }
  /** It had no effect: the sandbox is leaving its owner. */
  | { readonly kind: "leaving" }
  /** It never arrived. */
  | { readonly kind: "unreachable"; readonly error: unknown }
  /** It may have had its effect. */
  | { readonly kind: "unknown"; readonly error: unknown }

/** An owner that is asked. */
export interface Destination {
  readonly address: string
  /** Its incarnation: another life at the address is another. */
  readonly ownerId: string
}

/** Sends calls. */
export interface CallTransport {
  /** Settles with what came of it, soon after the signal aborts at the latest. Never rejects. */
  send(to: Destination, request: CallRequest, signal: AbortSignal): Promise<CallResult>
}

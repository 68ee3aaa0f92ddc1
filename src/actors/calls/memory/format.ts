/**
 * What is remembered of calls, as the bytes that stand behind the state in a checkpoint, and back. They were written by
 * another process, perhaps of another release: what doesn't fit is refused, and never taken for nothing remembered.
 */
import { CorruptCheckpointError } from "../../../locks/api/errors.ts"
import { type AppliedCall, type CallMemory, type KeptAnswer, textOf } from "./memory.ts"

/** The bytes; undefined where no durable call was ever made. */
export function formatMemory({ applied, forgottenUntil }: CallMemory): Uint8Array | undefined {
  if (applied.length === 0 && forgottenUntil === 0) return undefined
  const calls = applied.map(({ text }) => text).join(",")
  return new TextEncoder().encode(`{"forgottenUntil":${forgottenUntil},"applied":[${calls}]}`)
}

/** The way back. Throws CorruptCheckpointError. */
export function parseMemory(lockKey: string, bytes: Uint8Array): CallMemory {
  const { applied, forgottenUntil } = Object(jsonOf(bytes)) as Readonly<Record<string, unknown>>
  const calls = Array.isArray(applied) ? applied.map(callOf) : [undefined]
  if (typeof forgottenUntil === "number" && calls.every((call) => call !== undefined))
    return { applied: calls, forgottenUntil }
  throw new CorruptCheckpointError({
    message: `What the saved state of ${lockKey} says of durable calls can't be read`,
    next: "Put a good copy back: without it a repeated call could be applied twice",
    key: lockKey,
  })
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

function callOf(value: unknown): AppliedCall | undefined {
  const [id, digest, sentAt, answer] = Array.isArray(value) ? (value as unknown[]) : []
  if (typeof id !== "string" || typeof digest !== "string" || typeof sentAt !== "number" || !isAnswer(answer))
    return undefined
  return { id, digest, sentAt, answer, text: textOf({ id, digest, sentAt, answer }) }
}

const isAnswer = (value: unknown): value is KeptAnswer => {
  const { kind, name, message } = Object(value) as Readonly<Record<string, unknown>>
  if (kind === "value" || kind === "large") return true
  return kind === "error" && typeof name === "string" && typeof message === "string"
}

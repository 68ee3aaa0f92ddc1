/**
 * What is remembered of calls, as the bytes that stand behind the state in a checkpoint, and back. They were written by
 * another process, perhaps of another release: what doesn't fit is refused, and never taken for nothing remembered.
 */
import { CorruptCheckpointError } from "../../../locks/api/errors.ts"
import type { AppliedCall, CallAnswer, CallMemory } from "./memory.ts"

/** The bytes; undefined where no durable call was ever made. */
export function formatMemory(memory: CallMemory): Uint8Array | undefined {
  if (memory.applied.length === 0 && memory.forgottenUntil === 0) return undefined
  return new TextEncoder().encode(JSON.stringify(memory))
}

/** The way back. Throws CorruptCheckpointError. */
export function parseMemory(lockKey: string, bytes: Uint8Array): CallMemory {
  const memory = jsonOf(bytes)
  if (isMemory(memory)) return memory
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

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null

const isMemory = (value: unknown): value is CallMemory =>
  isFields(value) &&
  Number.isFinite(value["forgottenUntil"]) &&
  Array.isArray(value["applied"]) &&
  value["applied"].every(isApplied)

const isApplied = (value: unknown): value is AppliedCall =>
  isFields(value) &&
  typeof value["id"] === "string" &&
  typeof value["digest"] === "string" &&
  Number.isFinite(value["sentAt"]) &&
  Number.isFinite(value["size"]) &&
  isAnswer(value["answer"])

const isAnswer = (value: unknown): value is CallAnswer =>
  isFields(value) &&
  (value["kind"] === "value" ||
    (value["kind"] === "error" && typeof value["name"] === "string" && typeof value["message"] === "string"))

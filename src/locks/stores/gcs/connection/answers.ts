/**
 * From an HTTP answer to an answer of the store port, by its status code and by what only GCS sends (a generation). Any
 * other is `failed` or `unknown`, never "absent" and never "applied".
 */
import type { Generation, ReadAnswer, WriteAnswer } from "../../port.ts"
import { httpDate } from "../http/date.ts"
import type { HttpAnswer } from "../http/port.ts"
import type { BucketPlace } from "./bucket-place.ts"
import { answerError, bucketMissing, isPage, saysBucketMissing, saysForbidden } from "./failures.ts"

/** What a read saw. `limit`: of the object's body, in bytes. */
export function readOutcome(
  place: BucketPlace,
  answer: HttpAnswer,
  known: Generation | undefined,
  limit: number,
): ReadAnswer {
  const { status } = answer
  if (status === 304 && known !== undefined) return { kind: "unchanged", generation: known, ...stamp(answer) }
  if (status === 404) {
    if (saysBucketMissing(answer)) return { kind: "failed", error: bucketMissing(place) }
    if (!isPage(answer)) return { kind: "absent", ...stamp(answer) }
  }
  const generation = answer.header("x-goog-generation")
  if (status !== 200 || !isGeneration(generation)) return { kind: "failed", error: answerError(place, "read", answer) }
  if (generation === known) return { kind: "unchanged", generation, ...stamp(answer) }
  if (answer.cut || answer.body.length > limit) return { kind: "tooLarge", generation, ...stamp(answer) }
  return { kind: "found", generation, body: answer.body, ...stamp(answer) }
}

/** What became of an upload. */
export function writeOutcome(place: BucketPlace, answer: HttpAnswer): WriteAnswer {
  if (answer.status === 412 && !saysForbidden(answer)) return { kind: "refused", ...stamp(answer) }
  const generation = answer.status === 200 ? generationIn(answer) : undefined
  if (generation !== undefined) return { kind: "applied", generation, ...stamp(answer) }
  return unknown(place, "write", answer)
}

/** What became of a delete. */
export function removeOutcome(place: BucketPlace, answer: HttpAnswer, expected: Generation): WriteAnswer {
  const { status } = answer
  const gone = status === 404 && !saysBucketMissing(answer) && !isPage(answer)
  if (status === 412 || gone) return { kind: "refused", ...stamp(answer) }
  if (status === 204 || (status === 200 && isEmpty(answer)))
    return { kind: "applied", generation: expected, ...stamp(answer) }
  return unknown(place, "delete", answer)
}

/** The body as the JSON object that it is, or undefined. */
export function jsonIn(answer: HttpAnswer): Readonly<Record<string, unknown>> | undefined {
  if (answer.cut) return undefined
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(answer.body))
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function unknown(place: BucketPlace, action: "write" | "delete", answer: HttpAnswer): WriteAnswer {
  const error = answerError(place, action, answer)
  return answer.status === 429 ? { kind: "unknown", error, throttled: true } : { kind: "unknown", error }
}

function generationIn(answer: HttpAnswer): Generation | undefined {
  const generation = jsonIn(answer)?.["generation"]
  return isGeneration(generation) ? generation : undefined
}

/** Any other text is the generation of no version. */
export function isGeneration(value: unknown): value is Generation {
  return typeof value === "string" && /^[1-9]\d*$/.test(value)
}

/** GCS sends nothing after a delete, its emulator `null`. */
function isEmpty(answer: HttpAnswer): boolean {
  return answer.body.length === 0 || new TextDecoder().decode(answer.body).trim() === "null"
}

/** The store's time in an answer. One with an `Age` was kept somewhere on the way: its `Date` is of another moment. */
function stamp(answer: HttpAnswer): { readonly storeTime?: number } {
  const date = answer.header("date")
  const storeTime = date === undefined || answer.header("age") !== undefined ? undefined : httpDate(date)
  return storeTime === undefined ? {} : { storeTime }
}

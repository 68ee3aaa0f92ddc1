/**
 * The errors of requests to GCS, which say what to do. The status code decides. The body only makes the message and its
 * advice better (refusals.ts), as proxies and emulators write anything.
 */
import { StoreMisconfiguredError, StoreUnavailableError, type LockError } from "../../../api/errors.ts"
import { GaveUp } from "../http/limits.ts"
import type { HttpAnswer } from "../http/port.ts"
import type { BucketPlace } from "./bucket-place.ts"
import { refusalOf } from "./refusals.ts"

/** The kind of a request. */
export type BucketAction = "read" | "write" | "delete" | "list"

const permissions: Readonly<Record<BucketAction, string>> = {
  read: "storage.objects.get and storage.objects.list",
  write: "storage.objects.create and storage.objects.delete",
  delete: "storage.objects.delete",
  list: "storage.objects.list",
}

/** Statuses after which the same request may succeed. */
const passing = new Set([408, 409, 425, 429])
/** How much of an answer's body is read for its error, in bytes. GCS's errors are shorter, with all their details. */
export const EXPLANATION_LIMIT: number = 64 * 1024
/** What GCS calls a rate limit where it answers 403 for one. */
const limits = new Set(["rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded"])

/** No whole answer came. */
export function lostError(place: BucketPlace, action: BucketAction, cause: Error): StoreUnavailableError {
  const { code } = cause as { code?: unknown }
  const what = cause instanceof GaveUp ? cause.message : `the connection failed (${cause.message || cause.name})`
  return new StoreUnavailableError({
    message: `${place.name} didn't answer a ${action}: ${what}`,
    next: `Try again; if it goes on, check that ${place.endpoint} can be reached from this machine`,
    ...(typeof code === "string" ? { status: code } : {}),
    cause,
  })
}

/** The error of an answer that says nothing of the outcome. */
export function answerError(place: BucketPlace, action: BucketAction, answer: HttpAnswer): LockError {
  const { status } = answer
  if (status < 400) return notOurs(place, action, answer)
  if (status === 404) return isPage(answer) ? notOurs(place, action, answer) : bucketMissing(place)
  const { message, reason } = explanation(answer)
  if (status >= 500 || passing.has(status) || (status === 403 && limits.has(reason)))
    return new StoreUnavailableError({
      message: `${place.name} can't serve a ${action} now: status ${status}${message}`,
      next: status === 429 ? "Try again later; GCS takes one write a second for an object" : "Try again later",
      status,
    })
  const known = refusalOf(reason, message)
  if (known !== undefined)
    return new StoreMisconfiguredError({
      message: `${place.name} refuses a ${action}, as ${known.problem}: status ${status}${message}`,
      next: known.next(place),
      status,
    })
  if (status === 403) return forbidden(place, action, message)
  return new StoreMisconfiguredError({
    message: `${place.name} refuses a ${action}: status ${status}${message}`,
    next: `Check the bucket's name and settings, and that ${place.endpoint} is an endpoint of Cloud Storage`,
    status,
  })
}

/** The bucket itself isn't there. */
export function bucketMissing(place: BucketPlace): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: `the bucket ${place.bucket} doesn't exist at ${place.endpoint}`,
    next: `Create it (gcloud storage buckets create gs://${place.bucket}) or correct its name`,
    status: 404,
  })
}

/** Whether a 404 is about the bucket, as far as it says. */
export function saysBucketMissing(answer: HttpAnswer): boolean {
  return /bucket does not exist/i.test(textOf(answer))
}

/** Whether a 412 is about something other than the request's precondition. */
export function saysForbidden(answer: HttpAnswer): boolean {
  return refusalOf(explanation(answer).reason, "") !== undefined
}

/** Whether the body is a web page. GCS sends one only for paths outside of its API, proxies for anything. */
export function isPage(answer: HttpAnswer): boolean {
  return textOf(answer).trimStart().startsWith("<")
}

/** A 401. `final`: the token was renewed on purpose, or there is none to renew. */
export function unauthorizedError(place: BucketPlace, action: BucketAction, final: boolean): LockError {
  const message = `${place.name} doesn't accept the credentials of a ${action} (status 401)`
  if (!final)
    return new StoreUnavailableError({ message, next: "Try again: the credentials are being renewed", status: 401 })
  return new StoreMisconfiguredError({
    message,
    next:
      "Check the credentials (gcloud auth application-default login, or GOOGLE_APPLICATION_CREDENTIALS). An endpoint given by " +
      "`endpoint` or STORAGE_EMULATOR_HOST is sent none; one given by CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE is",
    status: 401,
  })
}

/** There are no credentials to send, or they can't be renewed. */
export function credentialsError(place: BucketPlace, cause: unknown): LockError {
  const details = {
    message: `no credentials for ${place.name}: ${cause instanceof Error ? cause.message : String(cause)}`,
    next: "Check the credentials: gcloud auth application-default login, GOOGLE_APPLICATION_CREDENTIALS, or the service account of this machine",
    cause,
  }
  return isSetup(cause) ? new StoreMisconfiguredError(details) : new StoreUnavailableError(details)
}

/**
 * Google's library throws a bare Error for what is missing or malformed; what the network did has a class or a status.
 */
function isSetup(cause: unknown): boolean {
  if (!(cause instanceof Error) || cause instanceof GaveUp) return false
  const { code, status } = cause as { code?: unknown; status?: unknown }
  if (typeof status === "number") return status >= 400 && status < 500 && !passing.has(status)
  if (code === "ENOENT" || code === "EACCES" || code === "ERR_INVALID_URL") return true
  return Object.getPrototypeOf(cause) === Error.prototype && code === undefined
}

function forbidden(place: BucketPlace, action: BucketAction, message: string): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: `${place.name} forbids a ${action} (status 403)${message}`,
    next: `Grant ${permissions[action]} on the bucket ${place.bucket}; roles/storage.objectUser has all that is needed`,
    status: 403,
  })
}

function notOurs(place: BucketPlace, action: BucketAction, { status }: HttpAnswer): StoreUnavailableError {
  return new StoreUnavailableError({
    message: `something other than Cloud Storage answered a ${action} of ${place.name} (status ${status})`,
    next: `Check for a proxy or a login page between this machine and ${place.endpoint}`,
    status,
  })
}

/** The JSON API's own form has `errors`; what a front end of Google's answers before it has `details`. */
interface ErrorBody {
  readonly error: {
    readonly message: string
    readonly errors?: readonly ({ readonly reason?: unknown } | undefined)[]
    readonly details?: readonly ({ readonly reason?: unknown } | undefined)[]
  }
}

/** What an error body of the JSON API says, ready to append; empty for anything else. */
function explanation(answer: HttpAnswer): { readonly message: string; readonly reason: string } {
  const text = textOf(answer)
  try {
    const { error } = JSON.parse(text) as ErrorBody
    const reason = error.errors?.[0]?.reason ?? error.details?.find((detail) => detail?.reason)?.reason
    return { message: `: ${error.message.slice(0, 300)}`, reason: typeof reason === "string" ? reason : "" }
  } catch {
    const plain = text.trim() !== "" && !isPage(answer)
    return { message: plain ? `: ${text.trim().slice(0, 300)}` : "", reason: "" }
  }
}

function textOf(answer: HttpAnswer): string {
  return new TextDecoder().decode(answer.body.subarray(0, EXPLANATION_LIMIT))
}

/**
 * What a GCS store is made of, checked before anything is opened: an option that can't work is an error of its own.
 */
import type { Storage } from "@google-cloud/storage"
import type { Clock } from "../../../runtime/clock.ts"
import { type Duration, durationMillis } from "../../../runtime/duration.ts"
import { InvalidConfigError } from "../../errors.ts"

/** How to make a GCS store. */
export interface GcsStoreOptions {
  /** The bare name of a bucket that exists. */
  readonly bucket: string
  /** Everything the store writes lies under `<prefix>/`. Without one, at the top of the bucket. */
  readonly prefix?: string
  /** A client of @google-cloud/storage, for its endpoint and credentials. Without one, one is made from the environment. */
  readonly storage?: Storage
  /** A URL instead of `https://storage.googleapis.com`, for an emulator; it is sent no credentials. Not beside `storage`. */
  readonly endpoint?: string
  /** Where deadlines are taken from. Default: the clock of this process. */
  readonly clock?: Clock
  /** The most that a request for a lease or a head may take, however much time its caller has. Default 10 s. */
  readonly requestTimeout?: Duration
}

/** The same, checked. */
export interface GcsSettings {
  readonly name: string
  readonly bucket: string
  readonly prefix: string
  readonly storage: Storage | undefined
  readonly endpoint: string | undefined
  readonly requestTimeout: number
}

const DEFAULT_REQUEST_TIMEOUT = "10 s"
/** An object's name may have 1,024 bytes; the area and the encoded name need the rest. */
const MAX_PREFIX_BYTES = 400

/** Throws InvalidConfigError. */
export function checkOptions(options: GcsStoreOptions): GcsSettings {
  const { bucket, prefix = "", storage, endpoint, requestTimeout = DEFAULT_REQUEST_TIMEOUT } = options
  checkBucket(bucket)
  checkPrefix(prefix)
  if (endpoint !== undefined) checkEndpoint(endpoint)
  if (storage !== undefined && endpoint !== undefined)
    throw invalid(
      "both `storage` and `endpoint` are given",
      "Give the endpoint to the Storage: it has an `apiEndpoint`",
    )
  if (storage !== undefined && !isClient(storage))
    throw invalid("`storage` is not a client of @google-cloud/storage", "Pass a `new Storage(...)` of its version 8")
  const millis = durationMillis(requestTimeout)
  if (millis === undefined || millis === 0)
    throw invalid(
      `the requestTimeout ${requestTimeout} is not a positive time`,
      'Give milliseconds, or text like "10 s"',
    )
  const name = prefix === "" ? `gs://${bucket}` : `gs://${bucket}/${prefix}`
  return { name, bucket, prefix, storage, endpoint, requestTimeout: millis }
}

function checkBucket(bucket: unknown): void {
  if (typeof bucket === "string" && /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/.test(bucket)) return
  throw invalid(
    `${JSON.stringify(bucket) ?? "undefined"} is not the name of a bucket`,
    "Give the bare name, 3 to 222 characters of [a-z0-9._-], without gs:// and without a path",
  )
}

function checkPrefix(prefix: unknown): void {
  const problem = prefixProblem(prefix)
  if (problem === undefined) return
  throw invalid(
    `the prefix ${JSON.stringify(prefix) ?? "undefined"} ${problem}`,
    "Give names joined by single slashes, such as teams/blue, or leave it out",
  )
}

function prefixProblem(prefix: unknown): string | undefined {
  if (typeof prefix !== "string") return "is not a string"
  if (prefix === "") return undefined
  if (!prefix.isWellFormed()) return "has a lone surrogate"
  if (new TextEncoder().encode(prefix).length > MAX_PREFIX_BYTES) return `is over ${MAX_PREFIX_BYTES} bytes`
  if (prefix.normalize("NFC") !== prefix) return "is not in Unicode normal form C"
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(prefix)) return "has a control character"
  if (/[#[\]*?]/.test(prefix)) return "has one of # [ ] * ?, which the tools of GCS read as patterns"
  const parts = prefix.split("/")
  if (parts.includes("")) return "has an empty part"
  if (parts.some((part) => part === "." || part === "..")) return "has a . or .. part"
  if (prefix.startsWith(".well-known/acme-challenge")) return "is reserved by GCS"
  return undefined
}

function checkEndpoint(endpoint: unknown): void {
  if (typeof endpoint === "string" && /^https?:\/\//.test(endpoint) && URL.canParse(endpoint)) return
  throw invalid(
    `the endpoint ${JSON.stringify(endpoint) ?? "undefined"} is not an http or https URL`,
    "Give one such as http://127.0.0.1:4443",
  )
}

/** By what is used of it: the user's may be of another copy of the package than ours. */
function isClient(storage: Storage | null): boolean {
  return typeof storage?.authClient?.getRequestHeaders === "function"
}

function invalid(message: string, next: string): InvalidConfigError {
  return new InvalidConfigError({ message, next })
}

/**
 * The options of a GCS store, checked before anything is opened. Each option that can't work has an error of its own.
 */
import { type Duration, durationMillis } from "../../../../runtime/input/duration.ts"
import { aClock, type OptionChecks, shown } from "../../../../runtime/input/options.ts"
import type { Clock } from "../../../../runtime/time/clock.ts"
import { InvalidConfigError } from "../../../api/errors.ts"
import { checkKey, encodeName } from "../../../api/keys.ts"
import type { StorageClient } from "./storage-client.ts"

/** How to make a GCS store. */
export interface GcsStoreOptions {
  /** The bare name of a bucket that exists. */
  readonly bucket: string
  /** Everything the store writes lies under `<prefix>/`. Without one, at the top of the bucket. */
  readonly prefix?: string
  /**
   * For keys that are shared with code of others: the whole name of each one's record in the bucket, `prefix` or not,
   * instead of `<prefix>/leases/<encoded key>`. `list` doesn't name them.
   */
  readonly objectNames?: Readonly<Record<string, string>>
  /**
   * A client of @google-cloud/storage, for its endpoint and credentials; give it a `projectId`, or it looks for one
   * first. Without a client both are those of the environment.
   */
  readonly storage?: StorageClient
  /**
   * A URL instead of `https://storage.googleapis.com`, for an emulator; it is sent no credentials. Not beside
   * `storage`. Without either, STORAGE_EMULATOR_HOST names an emulator, and CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE
   * another way to Cloud Storage, which is sent credentials.
   */
  readonly endpoint?: string
  /**
   * The id or number of a project that pays for the requests, where the bucket has its requesters pay. The account
   * needs serviceusage.services.use on it.
   */
  readonly userProject?: string | undefined
  /** Where deadlines are taken from. Default: the clock of this process. */
  readonly clock?: Clock
  /** The longest time of a request for a lease or a head, also where its caller has more. Default 10 s. */
  readonly requestTimeout?: Duration
}

/** Every option of a store; `checkOptions` looks at the values of most. */
export const GCS_STORE_OPTIONS: OptionChecks<GcsStoreOptions> = {
  ...{ bucket: true, prefix: true, objectNames: true, storage: true, endpoint: true, userProject: true },
  requestTimeout: true,
  clock: aClock,
}

/** The same, checked. */
export interface GcsSettings {
  readonly name: string
  readonly bucket: string
  readonly prefix: string
  /** By the encoded name of a key. */
  readonly objectNames: ReadonlyMap<string, string>
  readonly storage: StorageClient | undefined
  readonly endpoint: string | undefined
  readonly userProject: string | undefined
  readonly requestTimeout: number
}

const DEFAULT_REQUEST_TIMEOUT = "10 s"
/** An object's name may have 1,024 bytes; the area and the encoded name need the rest. */
const MAX_PREFIX_BYTES = 400
const MAX_NAME_BYTES = 1024

/** Throws InvalidConfigError. */
export function checkOptions(options: GcsStoreOptions): GcsSettings {
  const { bucket, prefix = "", storage, endpoint, userProject, requestTimeout = DEFAULT_REQUEST_TIMEOUT } = options
  checkBucket(bucket)
  checkPrefix(prefix)
  const objectNames = checkObjectNames(options.objectNames === undefined ? {} : options.objectNames)
  if (endpoint !== undefined) checkEndpoint(endpoint)
  if (userProject !== undefined) checkProject(userProject)
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
      `the requestTimeout ${shown(requestTimeout)} is not a positive time`,
      'Give milliseconds, or text like "10 s"',
    )
  const name = prefix === "" ? `gs://${bucket}` : `gs://${bucket}/${prefix}`
  return { name, bucket, prefix, objectNames, storage, endpoint, userProject, requestTimeout: millis }
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

function prefixProblem(prefix: unknown, most = MAX_PREFIX_BYTES): string | undefined {
  if (typeof prefix !== "string") return "is not a string"
  if (prefix === "") return undefined
  if (!prefix.isWellFormed()) return "has a lone surrogate"
  if (new TextEncoder().encode(prefix).length > most) return `is over ${most} bytes`
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

/** The folders of this store, under any prefix. Only leasehold names objects in them. */
const AREAS: ReadonlySet<string> = new Set([
  "leases",
  "state",
  "probe",
  "store",
  "proofs",
  "processes",
  "rings",
  "bells",
])

function checkObjectNames(given: unknown): GcsSettings["objectNames"] {
  if (typeof given !== "object" || given === null)
    throw invalid("`objectNames` is no object", 'Give the names by key, such as { nightly: "locks/nightly.json" }')
  const names = new Map<string, string>()
  const keys = new Map<string, string>()
  for (const [key, name] of Object.entries(given)) {
    checkKey(key)
    checkObjectName(name)
    const other = keys.get(name)
    if (other !== undefined)
      throw invalid(
        `the keys ${JSON.stringify(other)} and ${JSON.stringify(key)} have one object, ${JSON.stringify(name)}`,
        "Give each key an object of its own: one record is about one key",
      )
    keys.set(name, key)
    names.set(encodeName(key), name)
  }
  return names
}

function checkObjectName(name: unknown): asserts name is string {
  const problem = nameProblem(name)
  if (problem === undefined) return
  throw invalid(
    `the object name ${JSON.stringify(name) ?? "undefined"} ${problem}`,
    "Give the whole name of the object that the others use, such as locks/nightly.json",
  )
}

function nameProblem(name: unknown): string | undefined {
  const problem = name === "" ? "is empty" : prefixProblem(name, MAX_NAME_BYTES)
  if (problem !== undefined) return problem
  const folders = (name as string).split("/").slice(0, -1)
  const area = folders.find((folder) => AREAS.has(folder))
  return area === undefined ? undefined : `lies in a folder named ${area}, as objects do that leasehold names itself`
}

function checkEndpoint(endpoint: unknown): void {
  if (typeof endpoint === "string" && /^https?:\/\//.test(endpoint) && URL.canParse(endpoint)) return
  throw invalid(
    `the endpoint ${JSON.stringify(endpoint) ?? "undefined"} is not an http or https URL`,
    "Give one such as http://127.0.0.1:4443",
  )
}

/** Ids of old projects begin with a domain, `example.com:project`. */
function checkProject(project: unknown): void {
  if (typeof project === "string" && /^([a-z0-9.-]{1,100}:)?[a-z0-9][a-z0-9-]{0,99}$/.test(project)) return
  throw invalid(
    `the userProject ${JSON.stringify(project) ?? "undefined"} is not the id of a project`,
    "Give its id, such as my-project-1234, or its number",
  )
}

/** Checks what is used of it: it may be of another copy of the package. */
function isClient(storage: Partial<StorageClient> | null): boolean {
  return typeof storage?.authClient?.getRequestHeaders === "function" && typeof storage.apiEndpoint === "string"
}

function invalid(message: string, next: string): InvalidConfigError {
  return new InvalidConfigError({ message, next })
}

/**
 * The objects of the strict GCS server and its routes as a function: (request, now) -> answer. It keeps GCS's rules
 * where fake-gcs-server doesn't: preconditions on reads and deletes too, 304, a missing bucket that differs from a
 * missing object, on request one write a second for an object. Owns no sockets and no faults (strict-gcs-server.ts).
 */
import { Buffer } from "node:buffer"

/** A request, whole. */
export interface StrictRequest {
  readonly method: string
  /** Decoded where it names an object. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** An answer; the server adds `Date`. */
export interface StrictAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** One version of an object. */
export interface StoredObject {
  readonly generation: string
  readonly body: Buffer
  readonly contentType: string
  readonly cacheControl: string | undefined
  /** When it was written, in Unix milliseconds. */
  readonly writtenAt: number
}

/** What of GCS's behaviour is switched off or on. */
export interface StrictRules {
  /** Kinds of requests whose preconditions are ignored, as some emulators do. */
  ignored: readonly ("read" | "write" | "delete")[]
  /** 429 for a second write of an object within a second. */
  spacing: boolean
  /** The bearer token that requests must show; undefined: none. */
  token: string | undefined
  /** Permissions that the caller lacks, such as `storage.objects.list`. */
  lacking: readonly string[]
}

export const json = (status: number, value: unknown): StrictAnswer => ({
  status,
  headers: { "content-type": "application/json; charset=UTF-8" },
  body: Buffer.from(JSON.stringify(value)),
})

/** GCS's error body. */
export const apiError = (status: number, reason: string, message: string): StrictAnswer =>
  json(status, { error: { code: status, message, errors: [{ message, domain: "global", reason }] } })

const empty = (status: number): StrictAnswer => ({ status, headers: {}, body: Buffer.alloc(0) })

/** All buckets of a server. */
export class StrictBuckets {
  readonly rules: StrictRules = { ignored: [], spacing: false, token: undefined, lacking: [] }
  readonly #buckets = new Map<string, Map<string, StoredObject>>()
  #generation = 1_700_000_000_000_000n

  create(bucket: string): void {
    this.#buckets.set(bucket, new Map())
  }

  drop(bucket: string): void {
    this.#buckets.delete(bucket)
  }

  /** An object as it is now. */
  object(bucket: string, name: string): StoredObject | undefined {
    return this.#buckets.get(bucket)?.get(name)
  }

  names(bucket: string): string[] {
    return [...(this.#buckets.get(bucket)?.keys() ?? [])]
  }

  /** Writes without asking, as an operator would. */
  write(bucket: string, name: string, body: Uint8Array, now = 0, contentType = "text/plain"): StoredObject {
    const generation = String((this.#generation += 1009n))
    const object = { generation, body: Buffer.from(body), contentType, cacheControl: undefined, writtenAt: now }
    this.#buckets.get(bucket)?.set(name, object)
    return object
  }

  answer(request: StrictRequest, now: number): StrictAnswer {
    if (this.rules.token !== undefined && request.headers["authorization"] !== `Bearer ${this.rules.token}`)
      return apiError(401, "authError", "Invalid Credentials")
    const [, upload, bucket = "", object] =
      /^(\/upload)?\/storage\/v1\/b\/([^/]+)\/o(?:\/([^/]+))?$/.exec(request.url.pathname) ?? []
    const objects = this.#buckets.get(decodeURIComponent(bucket))
    if (bucket === "") return { status: 404, headers: { "content-type": "text/html" }, body: Buffer.from("<html>") }
    if (objects === undefined) return apiError(404, "notFound", "The specified bucket does not exist.")
    const name = object === undefined ? undefined : decodeURIComponent(object)
    if (upload !== undefined && request.method === "POST") return this.#upload(objects, request, now)
    if (name === undefined && request.method === "GET") return this.#list(objects, request.url.searchParams)
    if (name !== undefined && request.method === "GET") return this.#read(objects, name, request.url.searchParams)
    if (name !== undefined && request.method === "DELETE") return this.#remove(objects, name, request.url.searchParams)
    return apiError(405, "methodNotAllowed", "Method Not Allowed")
  }

  #forbidden(permission: string): StrictAnswer | undefined {
    if (!this.rules.lacking.includes(permission)) return undefined
    return apiError(403, "forbidden", `The caller does not have ${permission} access to the object.`)
  }

  #read(objects: Map<string, StoredObject>, name: string, query: URLSearchParams): StrictAnswer {
    const forbidden = this.#forbidden("storage.objects.get")
    if (forbidden !== undefined) return forbidden
    if (query.get("alt") !== "media") return apiError(400, "invalid", "this server answers reads with alt=media only")
    const object = objects.get(name)
    if (object === undefined)
      return this.#forbidden("storage.objects.list") ?? apiError(404, "notFound", `No such object: ${name}`)
    if (!this.rules.ignored.includes("read")) {
      const match = query.get("ifGenerationMatch")
      if ((match !== null && match !== object.generation) || query.get("ifGenerationNotMatch") === object.generation)
        return empty(304)
    }
    const headers = { "content-type": object.contentType, "x-goog-generation": object.generation }
    return { status: 200, headers, body: object.body }
  }

  #upload(objects: Map<string, StoredObject>, request: StrictRequest, now: number): StrictAnswer {
    const query = request.url.searchParams
    const parts = query.get("uploadType") === "multipart" ? partsOf(request) : undefined
    if (parts === undefined) return apiError(400, "badRequest", "Malformed multipart body.")
    const { contentType, cacheControl, name = query.get("name") } = parts.metadata
    if (name === null) return apiError(400, "required", "Required object name")
    const before = objects.get(name)
    const denied =
      this.#forbidden("storage.objects.create") ?? (before && this.#forbidden("storage.objects.delete")) ?? undefined
    if (denied !== undefined) return denied
    const refused = this.#refusal(query, before, "write")
    if (refused !== undefined) return refused
    if (this.rules.spacing && before !== undefined && now - before.writtenAt < 1000)
      return apiError(429, "rateLimitExceeded", "The object exceeded the rate limit for object mutation operations.")
    const generation = String((this.#generation += 1009n))
    objects.set(name, { generation, body: parts.content, contentType, cacheControl, writtenAt: now })
    return json(
      200,
      query.get("fields") === "generation" ? { generation } : { kind: "storage#object", name, generation },
    )
  }

  #remove(objects: Map<string, StoredObject>, name: string, query: URLSearchParams): StrictAnswer {
    const forbidden = this.#forbidden("storage.objects.delete")
    if (forbidden !== undefined) return forbidden
    const before = objects.get(name)
    if (before === undefined) return apiError(404, "notFound", `No such object: ${name}`)
    const refused = this.#refusal(query, before, "delete")
    if (refused !== undefined) return refused
    objects.delete(name)
    return empty(204)
  }

  #list(objects: Map<string, StoredObject>, query: URLSearchParams): StrictAnswer {
    const forbidden = this.#forbidden("storage.objects.list")
    if (forbidden !== undefined) return forbidden
    const prefix = query.get("prefix") ?? ""
    const from = Buffer.from(query.get("pageToken") ?? "", "base64url").toString()
    const size = Math.min(Number(query.get("maxResults") ?? 1000), 1000)
    const start = query.get("startOffset") ?? ""
    const wanted = (name: string): boolean => name.startsWith(prefix) && name > from && name >= start
    const names = [...objects.keys()].filter(wanted).sort()
    const items = names.slice(0, size).map((name) => ({ name, generation: objects.get(name)?.generation }))
    const last = items.at(-1)
    const kind = "storage#objects"
    if (names.length === items.length || last === undefined)
      return json(200, items.length === 0 ? { kind } : { kind, items })
    return json(200, { kind, items, nextPageToken: Buffer.from(last.name).toString("base64url") })
  }

  #refusal(
    query: URLSearchParams,
    before: StoredObject | undefined,
    action: "write" | "delete",
  ): StrictAnswer | undefined {
    const expected = query.get("ifGenerationMatch")
    if (expected === null) return apiError(400, "required", "leasehold never writes unconditionally")
    if (this.rules.ignored.includes(action) || expected === (before?.generation ?? "0")) return undefined
    return apiError(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.")
  }
}

interface Parts {
  readonly metadata: {
    readonly contentType: string
    readonly cacheControl?: string | undefined
    readonly name?: string
  }
  readonly content: Buffer
}

/** Exactly a metadata part and a content part, as RFC 2387 frames them; anything else is malformed. */
function partsOf({ headers, body }: StrictRequest): Parts | undefined {
  const boundary = /^multipart\/related; boundary=([\w-]+)$/.exec(String(headers["content-type"]))?.[1]
  if (boundary === undefined) return undefined
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const whole = Buffer.concat([Buffer.from("\r\n"), body])
  const at: number[] = []
  for (let found = whole.indexOf(delimiter); found >= 0; found = whole.indexOf(delimiter, found + 1)) at.push(found)
  const [first = 0, second = 0, third = 0] = at
  if (
    at.length !== 3 ||
    !whole
      .subarray(third + delimiter.length)
      .toString()
      .startsWith("--")
  )
    return undefined
  const metadata = contentOf(whole.subarray(first + delimiter.length, second))
  const content = contentOf(whole.subarray(second + delimiter.length, third))
  return { metadata: JSON.parse(metadata.toString()) as Parts["metadata"], content }
}

function contentOf(part: Buffer): Buffer {
  return part.subarray(part.indexOf("\r\n\r\n") + 4)
}

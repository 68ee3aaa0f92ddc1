// From an HTTP request to the statement it asks for: what it must look like, and the refusals of what doesn't.
import { Buffer } from "node:buffer"
import type { IncomingMessage } from "node:http"
import type { Param, Query } from "./sql.ts"

const MAX_BODY_BYTES = 1_000_000

/** A request that its sender has to mend. */
export class BadRequest extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

/** The sandbox that the request is about. Throws BadRequest. */
export function keyOf({ url = "/", method }: IncomingMessage): string {
  const [, key] = /^\/sandboxes\/([^/?]+)\/query$/.exec(url) ?? []
  if (key === undefined) throw new BadRequest(404, "There is POST /sandboxes/:key/query, and nothing else")
  if (method !== "POST") throw new BadRequest(405, "Use POST", { allow: "POST" })
  try {
    return decodeURIComponent(key)
  } catch {
    throw new BadRequest(400, `The key ${key} is not well encoded`)
  }
}

/** The statement in its body. Rejects with BadRequest. */
export async function queryOf(request: IncomingMessage): Promise<Query> {
  const value = parse(await bodyOf(request))
  const { sql, params = [], ...rest } = isObject(value) ? value : {}
  const values = Array.isArray(params) ? params : isObject(params) ? Object.values(params) : [undefined]
  if (typeof sql !== "string" || !values.every(isParam) || Object.keys(rest).length > 0)
    throw new BadRequest(400, usage)
  return { sql, params: params as NonNullable<Query["params"]> }
}

const usage =
  'Send {"sql": "…"} or {"sql": "…", "params": …}; params are texts, numbers and nulls, in an array or by name in an object'

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES)
      throw new BadRequest(413, `The body is over ${MAX_BODY_BYTES} bytes`, { connection: "close" })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (error) {
    throw new BadRequest(400, `The body is not JSON: ${(error as Error).message}`)
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isParam = (value: unknown): value is Param =>
  value === null || typeof value === "string" || typeof value === "number"

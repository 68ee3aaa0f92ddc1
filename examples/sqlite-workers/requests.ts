// How the driver asks a worker. A statement is sent again only after a 503, which says that it did not run: at most
// `TRIES` times, after the time that Retry-After names. Nothing else is tried again: after a reset or a 500 nobody can
// tell whether a write was done.
import { Failure } from "./failure.ts"
import type { Query, Row } from "./sql.ts"
import { pause } from "./within.ts"

const TRIES = 5
const LONGEST_PAUSE_S = 5

export interface Ask extends Query {
  /** Where the worker serves. */
  readonly url: string
  readonly key: string
  readonly signal: AbortSignal
}

export interface Answer {
  readonly rows?: readonly Row[]
  readonly changes?: number
  readonly answeredBy: string
  readonly token: number
}

/** The answer to one statement. Rejects with why there is none. */
export async function ask({ url, key, signal, sql, params }: Ask): Promise<Answer> {
  const address = `${url}/sandboxes/${encodeURIComponent(key)}/query`
  const body = JSON.stringify({ sql, params })
  for (let tries = 1; ; tries++) {
    const response = await fetch(address, { method: "POST", body, signal })
    const text = await response.text()
    if (response.ok) return JSON.parse(text) as Answer
    if (response.status !== 503 || tries === TRIES) throw new Failure(`${sql}: ${response.status} ${text.trim()}`)
    const seconds = Number(response.headers.get("retry-after") ?? 1)
    await pause(Math.min(seconds, LONGEST_PAUSE_S) * 1000, signal)
  }
}

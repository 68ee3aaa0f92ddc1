// HTTP in front of the manager: `POST /sandboxes/:key/query` with {"sql": …, "params": …} runs one statement on that
// database, wherever it was before. A write is answered when a checkpoint with it is stored.
//
// 503 means that the statement did not run, and says when to try again; after a 500 nobody can tell whether it did. Not
// promised: any protection of the databases. It is for 127.0.0.1.
import { Buffer } from "node:buffer"
import type { IncomingMessage, ServerResponse } from "node:http"
import { InvalidKeyError, LockError, type SandboxManager } from "leasehold"
import type { ActLog } from "./act-log.ts"
import { database } from "./database.ts"
import { BadRequest, keyOf, queryOf } from "./query.ts"
import { isRead, QueryError, run } from "./sql.ts"

/** How long a request may wait for the sandbox: longer than a takeover. */
const WAIT = "20 s"

export interface Served {
  readonly manager: SandboxManager
  readonly acts: ActLog
  /** This life of this worker, as the act log names it. */
  readonly process: string
}

interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The server's listener. It answers every request, whatever it is. */
export function handler(served: Served): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    void answer(served, request)
      .catch(refusal)
      .then(({ status, body, headers }) => {
        response.writeHead(status, { "content-type": "application/json", ...headers })
        response.end(`${JSON.stringify(body, hexOfBlobs)}\n`)
      })
  }
}

async function answer({ manager, acts, process }: Served, request: IncomingMessage): Promise<Answer> {
  const key = keyOf(request)
  const query = await queryOf(request)
  const body = await manager.use(
    database,
    key,
    (db, { token }) => {
      const end = acts.start(process, key, token, query.sql)
      try {
        return { ...run(db, query), answeredBy: process, token }
      } finally {
        end()
      }
    },
    { durable: !isRead(query), timeout: WAIT },
  )
  return { status: 200, body }
}

function refusal(error: unknown): Answer {
  if (error instanceof BadRequest)
    return { status: error.status, body: { error: error.message }, headers: error.headers }
  if (error instanceof QueryError || error instanceof InvalidKeyError)
    return { status: 400, body: { error: error.message } }
  if (!(error instanceof LockError)) return { status: 500, body: { error: String(error) } }
  const body = { error: error.message, code: error.code, owner: error.owner }
  return neverRan(error) ? { status: 503, body, headers: { "retry-after": "1" } } : { status: 500, body }
}

/** What is retryable rejects a use before it begins; and so does a manager that is draining. */
const neverRan = ({ retryable, code }: LockError): boolean => retryable || code === "LEASEHOLD_CLOSED"

/** JSON has no bytes. */
const hexOfBlobs = (_name: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value

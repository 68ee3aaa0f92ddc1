/** The server's side of the proxy: one request, sent once, answered whole. */
import { Buffer } from "node:buffer"
import { Agent, type IncomingMessage, request as send } from "node:http"
import type { Answer } from "./fault.ts"

/** A request to be passed on. */
export interface Outgoing {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: Buffer
}

/** What concerns one connection and no other, and what is said anew. */
const hopByHop = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "host", "expect"])

export class Upstream {
  readonly #target: URL
  readonly #agent = new Agent({ keepAlive: true })

  /** Throws where the target is no http URL. */
  constructor(target: string) {
    if (!target.startsWith("http://") || !URL.canParse(target))
      throw new Error(`the target is ${target}; give an http URL such as http://127.0.0.1:4443`)
    this.#target = new URL(target)
  }

  /** Rejects where no whole answer came. */
  deliver({ method, url, headers, body }: Outgoing): Promise<Answer> {
    const { hostname, port } = this.#target
    const length = body.length > 0 || method === "POST" ? { "content-length": String(body.length) } : {}
    return new Promise((settle, fail) => {
      send({
        hostname,
        port,
        path: url,
        method,
        agent: this.#agent,
        headers: { ...endToEnd(headers), ...length },
      })
        .once("error", fail)
        .once("response", (incoming) => void answerOf(incoming).then(settle, fail))
        .end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

async function answerOf(incoming: IncomingMessage): Promise<Answer> {
  const body = await bodyOf(incoming)
  return { status: incoming.statusCode ?? 0, headers: endToEnd(incoming.headers), body }
}

function endToEnd(headers: IncomingMessage["headers"]): IncomingMessage["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)))
}

/** Rejects where the other side went away before the end. */
export async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

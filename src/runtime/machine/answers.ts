/**
 * Ends the servers of a process without cutting off an answer. From the signal on, each answer of a server of node:http
 * closes its connection. Once a server takes no connection any more, the answers in flight are waited for. A connection
 * without a request is closed then. How long all of that may take is the caller's to say.
 *
 * Not promised: a connection that was upgraded, or an answer that never ends, such as a stream of events. Nor a request
 * that arrives on an idle connection at the moment of its close: the client sees a reset, and nothing of it was done.
 */
import { anObject, type OptionCheck, refusal, shown } from "../input/options.ts"
import type { Clock } from "../time/clock.ts"

/** An answer of node:http, as far as its end takes it. */
interface Answer {
  shouldKeepAlive?: boolean
  once(event: "close", listener: () => void): unknown
}

/** A server of node:http or node:https, on Node or on Deno. */
export interface NodeServer {
  /** Listens, before the program's own listeners. */
  prependListener(event: "request", listener: (request: unknown, answer: Answer) => void): unknown
  /** Stops listening. */
  off(event: "request", listener: (request: unknown, answer: Answer) => void): unknown
  /** Calls back once it has no connection any more; with an error where it doesn't listen. */
  close(closed: () => void): unknown
  /** Closes those on which an answer was given, and no request is in progress. */
  closeIdleConnections(): void
  /** Closes all, whatever goes on. */
  closeAllConnections(): void
}

/** What answers requests: a server of node:http or of `Deno.serve`, or a function that lets any other one end. */
export type AnsweringServer = NodeServer | { shutdown(): Promise<unknown> } | (() => unknown)

/** How a server is watched from now on, and ends. */
export interface Answers extends Disposable {
  /** From now on each answer closes its connection, where the server can do that. */
  lastOnes(): void
  /** Takes no connection any more. Settles once no answer is in flight. */
  end(): Promise<unknown>
}

/** How long a connection without a request is kept once nothing else is: one may be on its way. In milliseconds. */
const LINGER = 100

class NodeAnswers implements Answers {
  readonly #server: NodeServer
  readonly #clock: Clock
  readonly #open = new Set<Answer>()
  #areLast = false
  #isEnding = false

  constructor(server: NodeServer, clock: Clock) {
    this.#server = server
    this.#clock = clock
    server.prependListener("request", this.#begun)
  }

  lastOnes(): void {
    this.#areLast = true
    for (const answer of this.#open) answer.shouldKeepAlive = false
  }

  end(): Promise<void> {
    return new Promise((resolve) => {
      this.#isEnding = true
      this.#server.close(() => resolve())
      this.#closeIdle()
    })
  }

  [Symbol.dispose](): void {
    this.#server.off("request", this.#begun)
  }

  /** Called before the program's own listener, which may answer at once. */
  readonly #begun = (_request: unknown, answer: Answer): void => {
    this.#open.add(answer)
    if (this.#areLast) answer.shouldKeepAlive = false
    answer.once("close", () => {
      this.#open.delete(answer)
      if (this.#isEnding) this.#closeIdle()
    })
  }

  /** An answer whose head was written before the signal leaves its connection open. */
  #closeIdle(): void {
    this.#server.closeIdleConnections()
    if (this.#open.size > 0) return
    this.#clock.after(
      LINGER,
      () => {
        if (this.#open.size === 0) this.#server.closeAllConnections()
      },
      { background: true },
    )
  }
}

/** Watches a server. A server of node:http is watched from here on, the others only end. */
export function answersOf(server: AnsweringServer, clock: Clock): Answers {
  if (typeof server !== "function" && "prependListener" in server) return new NodeAnswers(server, clock)
  const end = typeof server === "function" ? server : () => server.shutdown()
  return { lastOnes() {}, end: async () => end(), [Symbol.dispose]() {} }
}

const NEXT = "Give a server of node:http or of Deno.serve, or a function that ends any other one"
const isNodeServer = anObject(
  NEXT,
  ...["prependListener", "off", "close", "closeIdleConnections", "closeAllConnections"],
)
const isDenoServer = anObject(NEXT, "shutdown")

/** A list of what answers requests. */
export const servers: OptionCheck = (name, value) => {
  if (!Array.isArray(value)) throw refusal(`${name} is ${shown(value)}`, `${NEXT}; several in an array`)
  for (const [index, server] of (value as unknown[]).entries()) {
    if (typeof server === "function") continue
    const isDeno = typeof server === "object" && server !== null && "shutdown" in server
    ;(isDeno ? isDenoServer : isNodeServer)(`${name}[${index}]`, server)
  }
}

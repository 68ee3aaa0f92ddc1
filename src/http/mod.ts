/**
 * `leasehold/http`: calls between workers over HTTP, and a worker's health. `docs/calls.md` shows it.
 *
 * @module
 */
import "../runtime/least-node.ts"
import type { IncomingMessage, ServerResponse } from "node:http"
import { insideOf } from "../actors/inside/inside.ts"
import type { SandboxManager } from "../actors/manager/manager.ts"
import { anObject } from "../runtime/input/options.ts"
import { liveClock } from "../runtime/time/clock.ts"
import { listen as listenAt, serve } from "../web/serve.ts"
import type { CallAuth } from "./auth.ts"
import { type ListenOptions, listenSettings, secretOf, type WorkerOptions, workerSettings } from "./options.ts"
import { Sender } from "./send.ts"
import { Signing } from "./signing.ts"
import { WorkerHandler } from "./worker.ts"

export type { CallAuth, Credentials, OutgoingRequest } from "./auth.ts"
export type { ListenOptions, WorkerOptions } from "./options.ts"

/** A worker's side of HTTP, to mount in a server. */
export interface ServedWorker {
  /**
   * Answers one request: `POST …/_leasehold/call` from another worker, `GET …/healthz`, and `GET …/readyz`. That one is
   * 503 once the manager takes no new sandbox in. Anything else is 404. Never rejects.
   */
  readonly fetch: (request: Request) => Promise<Response>
}

/**
 * Takes calls of other workers for a manager, and sends its calls to the owners of their sandboxes, at the addresses
 * that these publish. Requests are signed by a secret that all workers share, count for a minute, and once. Throws
 * InvalidConfigError.
 *
 * It listens to nothing: mount `fetch` at the manager's `address`, in `Deno.serve`, in `node:http` by `nodeListener`,
 * or in any server of Fetch handlers.
 */
export function serveWorker(manager: SandboxManager, options: WorkerOptions = {}): ServedWorker {
  const inside = insideOf(manager)
  const settings = workerSettings(options, inside.address)
  const signing = new Signing(settings.secret, inside.clock, () => inside.calls.storeTime)
  const handler = new WorkerHandler(inside, settings, signing)
  inside.calls.connect(new Sender({ auth: signing.sign, allow: settings.allow, maxBody: settings.maxBody }))
  return { fetch: (request) => handler.fetch(request) }
}

/**
 * The credentials of a client that knows the workers' secret, for `client` of `leasehold/client`. Default: that of
 * `LEASEHOLD_SECRET`. Throws InvalidConfigError.
 */
export function signedBy(secret?: string): CallAuth {
  return new Signing(secretOf(secret), liveClock, () => liveClock.read().wall).sign
}

const aWorker = anObject("Give what serveWorker() gave", "fetch")

/** The same worker as a listener of `node:http`. Throws InvalidConfigError. */
export function nodeListener(worker: ServedWorker): (incoming: IncomingMessage, response: ServerResponse) => void {
  aWorker("the worker", worker)
  return (incoming, response) => void serve(worker.fetch, incoming, response)
}

/** A hundred workers with forty calls at once each. */
const CONNECTIONS = 4096

/** A server that listens, and has no worker at first. */
export interface WorkerServer extends AsyncDisposable {
  /** Where it is: the `address` for a manager. */
  readonly address: string
  /** Answers by this worker from now on; until then with 503. */
  serve(worker: ServedWorker): void
  /** Takes no connection any more, and settles once no answer is in flight: for `servers` of `drainOnSignals`. */
  shutdown(): Promise<void>
  /** Listens no more. Answers that are on their way have half a second. Idempotent. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * A server for one worker, which listens before its manager is started: so the manager can publish its address. Rejects
 * with InvalidConfigError, and with the system's error if it can't listen.
 *
 * @example
 * ```ts
 * await using server = await listen({ port: 8080 })
 * await using manager = await SandboxManager.start({ store, sandboxes, address: server.address })
 * server.serve(serveWorker(manager))
 * ```
 */
export async function listen(options: ListenOptions = {}): Promise<WorkerServer> {
  const { host, port, address } = listenSettings(options)
  let answer: ServedWorker["fetch"] = async () => new Response(null, { status: 503, headers: { "retry-after": "1" } })
  const server = await listenAt((request) => answer(request), { host, port, connections: CONNECTIONS })
  return {
    address: address ?? `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    serve(worker) {
      aWorker("the worker", worker)
      answer = worker.fetch
    },
    shutdown: () => server.shutdown(),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
    },
  }
}

/**
 * `leasehold/inspector`: the live page of a fleet, to mount in one's own server or to serve on its own.
 * `docs/seeing-it.md` shows it.
 *
 * @module
 */
import "../runtime/least-node.ts"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { SandboxManager } from "../actors/manager/manager.ts"
import { anObject } from "../runtime/input/options.ts"
import { listen, serve } from "../web/serve.ts"
import { InspectorHandler } from "./live/server/handler.ts"
import { managedWorker } from "./live/workers/managed-worker.ts"
import {
  type InspectorOptions,
  inspectorSettings,
  type ServeInspectorOptions,
  serveSettings,
} from "./live/workers/options.ts"

export type { InspectorOptions, ServeInspectorOptions } from "./live/workers/options.ts"

/** A page of a fleet, to mount in a server. */
export interface Inspector extends AsyncDisposable {
  /** What a viewer has to know: the page is at `…/?token=` and this. It stands in no log and in no trace. */
  readonly token: string
  /**
   * Answers one request, under whatever path: mount it for all that begins with a path of your choice, and for
   * `/_leasehold/` at the manager's address, where other workers ask. Never rejects.
   */
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends what is open, and answers with 503 from then on. Idempotent. */
  [Symbol.asyncDispose](): Promise<void>
}

/** A page of a fleet that is served. */
export interface ServedInspector extends AsyncDisposable {
  /** Where it is, with its token. Everybody who has this address can look. */
  readonly url: string
  /** Ends what is open, and listens no more. Idempotent. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * The page of the fleet that a manager belongs to, read-only unless `actions` are on. It listens to the manager while
 * somebody looks, and costs nothing else. Throws InvalidConfigError.
 */
export function inspector(manager: SandboxManager, options: InspectorOptions = {}): Inspector {
  const settings = inspectorSettings(options)
  const handler = new InspectorHandler(managedWorker(manager, settings.onError), settings)
  return {
    token: handler.token,
    fetch: (request) => handler.fetch(request),
    [Symbol.asyncDispose]: () => handler[Symbol.asyncDispose](),
  }
}

const anInspector = anObject("Give what inspector() gave", "fetch")

/**
 * The same inspector for a server of `node:http`: its listener for requests under the paths of your choice. Throws
 * InvalidConfigError.
 */
export function nodeListener(page: Inspector): (incoming: IncomingMessage, response: ServerResponse) => void {
  anInspector("the inspector", page)
  return (incoming, response) => void serve(page.fetch, incoming, response)
}

/**
 * Serves that page, at 127.0.0.1 unless told. Rejects with InvalidConfigError, also if it is to listen at an address
 * that other machines reach without a `token`. Rejects with the system's error if it can't listen.
 */
export async function serveInspector(
  manager: SandboxManager,
  options: ServeInspectorOptions = {},
): Promise<ServedInspector> {
  const { host, port, inspect } = serveSettings(options)
  const page = inspector(manager, inspect)
  const server = await listen(page.fetch, { host, port })
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}/?token=${encodeURIComponent(page.token)}`,
    async [Symbol.asyncDispose]() {
      await page[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

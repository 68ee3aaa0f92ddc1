/**
 * The connection to one bucket: an endpoint (endpoint.ts), credentials (credentials.ts) and the HTTP port. Sends each
 * request at most once. A request without an answer becomes an error.
 *
 * Google's own client is not used: its calls can't be given up on, and they retry where an outcome must be known.
 */
import type { Clock } from "../../../../runtime/time/clock.ts"
import type { LockError } from "../../../api/errors.ts"
import { fetchHttp } from "../http/fetch.ts"
import { within } from "../http/limits.ts"
import type { Http, HttpAnswer, HttpRequest } from "../http/port.ts"
import { proxyOf } from "../http/proxy.ts"
import { undiciHttp } from "../http/undici.ts"
import type { BucketPlace } from "./bucket-place.ts"
import { type Credentials, credentialsOf, type Grant } from "./credentials.ts"
import { endpointOf } from "./endpoint.ts"
import { type BucketAction, credentialsError, lostError, unauthorizedError } from "./failures.ts"
import type { GcsSettings } from "./options.ts"
import { Paths } from "./paths.ts"

/** Opens the connection that the settings and the environment name. Rejects with a LockError. */
export async function connect(settings: GcsSettings, clock: Clock): Promise<BucketConnection> {
  const endpoint = endpointOf(settings)
  const { url } = endpoint
  const base = url.pathname.replace(/(\/storage\/v1)?\/*$/, "")
  const place = { name: settings.name, bucket: settings.bucket, endpoint: url.origin + base }
  const proxy = proxyOf(url)
  const http = "Deno" in globalThis ? fetchHttp(url, clock, proxy) : await undiciHttp(url, clock, proxy)
  const paths = new Paths(base, settings.bucket, settings.prefix, settings.objectNames, settings.userProject)
  return new BucketConnection(place, paths, http, await credentialsOf(endpoint, settings.storage, clock), clock)
}

/** An open connection to a bucket. */
export class BucketConnection {
  readonly place: BucketPlace
  readonly paths: Paths
  readonly #http: Http
  readonly #credentials: Credentials
  readonly #clock: Clock

  constructor(place: BucketPlace, paths: Paths, http: Http, credentials: Credentials, clock: Clock) {
    this.place = place
    this.paths = paths
    this.#http = http
    this.#credentials = credentials
    this.#clock = clock
  }

  /** Never rejects: the error is of a request without an answer, or of a 401. */
  async exchange(action: BucketAction, request: HttpRequest): Promise<HttpAnswer | LockError> {
    const grant = this.#credentials.get()
    if (grant instanceof Promise) return this.#waitAndSend(action, request, grant)
    return this.#send(action, request, grant)
  }

  close(): Promise<void> {
    this.#credentials.close()
    return this.#http.close()
  }

  async #waitAndSend(
    action: BucketAction,
    request: HttpRequest,
    pending: Promise<Grant>,
  ): Promise<HttpAnswer | LockError> {
    const start = this.#clock.read().mono
    try {
      const grant = await within(this.#clock, request, pending)
      const deadline = request.deadline - (this.#clock.read().mono - start)
      return await this.#send(action, { ...request, deadline }, grant)
    } catch (error) {
      return credentialsError(this.place, error)
    }
  }

  async #send(action: BucketAction, request: HttpRequest, grant: Grant): Promise<HttpAnswer | LockError> {
    const headers = { ...grant.headers, ...request.headers }
    const result = await this.#http.exchange({ ...request, headers })
    if (result.kind === "lost") return lostError(this.place, action, result.error)
    if (result.status === 401) return unauthorizedError(this.place, action, !this.#credentials.rejected(grant))
    grant.accepted = true
    return result
  }
}

/**
 * What a request shows to be let in, ready before it is needed: a background timer renews it while requests use the one
 * before, and only the very first request, or one after a 401, waits. Google's google-auth-library knows how to get tokens
 * and renews them itself minutes before they end; asking it once a minute is enough to always hold a good one. It is told
 * a project, since it would otherwise look for one (metadata server, Resource Manager, `gcloud`), which takes seconds, can be
 * forbidden, and serves nothing: a bucket's name needs no project.
 *
 * Not promised: that a token is still good when the server sees it. A 401 is answered by one forced renewal; a renewed
 * token that is refused too is final.
 */
import type { Clock, Timer } from "../../../../runtime/time/clock.ts"
import { StoreMisconfiguredError } from "../../../api/errors.ts"
import { within } from "../http/limits.ts"
import { proxyOf } from "../http/proxy.ts"
import type { Endpoint } from "./endpoint.ts"
import type { StorageClient, TokenSource } from "./storage-client.ts"

/** Headers that prove who asks, for one token. */
export interface Grant {
  readonly headers: Readonly<Record<string, string>>
  /** It was fetched because the one before was refused. */
  readonly forced: boolean
  /** Set once the server has let a request in with it. */
  accepted: boolean
}

/** Where requests get their grant. */
export interface Credentials {
  /** A promise only where there is none yet; it rejects with the client's own error, or GaveUp. */
  get(): Grant | Promise<Grant>
  /** Tells of a 401. False: nothing is left to try. */
  rejected(grant: Grant): boolean
  close(): void
}

const RENEW_AFTER_MS = 60_000
const RETRY_AFTER_MS = 10_000
const FETCH_LIMIT_MS = 30_000

/** What may be asked for: everything, as IAM alone says what is granted. Federated accounts take no narrower one. */
const SCOPE = "https://www.googleapis.com/auth/cloud-platform"
/** Any of the servers that give tokens: all are Google's, and https. */
const TOKEN_SERVER = new URL("https://oauth2.googleapis.com")
/** Stands for a project that is never asked for, so that none is looked up. */
const NO_PROJECT = "none"

/** Those of the client that was given, or else of the environment; none where the endpoint is to be shown none. */
export async function credentialsOf(
  { url, credentials }: Endpoint,
  storage: StorageClient | undefined,
  clock: Clock,
): Promise<Credentials> {
  if (!credentials) return new Anonymous()
  return new GoogleCredentials(storage?.authClient ?? (await tokensOfEnvironment()), `${url.origin}/`, clock)
}

/** Application default credentials, by the same proxy as requests. Makes no request. Throws InvalidConfigError as `proxyOf` does. */
async function tokensOfEnvironment(): Promise<TokenSource> {
  const proxy = proxyOf(TOKEN_SERVER)
  // The library would otherwise take HTTP_PROXY too, and send to it what a metadata server of the machine is asked by http.
  const transporterOptions = proxy === undefined ? { noProxy: [/^/] } : { proxy: proxy.href, noProxy: [/^http:/] }
  try {
    const { GoogleAuth } = await import("google-auth-library")
    return new GoogleAuth({ projectId: NO_PROJECT, scopes: SCOPE, clientOptions: { transporterOptions } })
  } catch (cause) {
    throw new StoreMisconfiguredError({
      message: "no client for Google's credentials could be made",
      next: "Check that google-auth-library is installed beside leasehold, and what the cause says",
      cause,
    })
  }
}

class Anonymous implements Credentials {
  readonly #grant: Grant = { headers: {}, forced: true, accepted: false }

  get(): Grant {
    return this.#grant
  }

  rejected(): boolean {
    return false
  }

  close(): void {}
}

class GoogleCredentials implements Credentials {
  readonly #auth: TokenSource
  readonly #audience: string
  readonly #clock: Clock
  #grant: Grant | undefined
  #fetching: Promise<Grant> | undefined
  #timer: Timer | undefined
  #closed = false

  constructor(auth: TokenSource, audience: string, clock: Clock) {
    this.#auth = auth
    this.#audience = audience
    this.#clock = clock
  }

  get(): Grant | Promise<Grant> {
    return this.#grant ?? this.#fetch(false)
  }

  rejected(grant: Grant): boolean {
    if (grant !== this.#grant) return true // another request told of it before
    if (grant.forced && !grant.accepted) return false
    this.#grant = undefined
    this.#renew(true)
    return true
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
  }

  /** In the background: whoever needs a grant and has none asks again, and is told why there is none. */
  #renew(force: boolean): void {
    this.#fetch(force).catch(() => this.#renewAfter(RETRY_AFTER_MS))
  }

  #renewAfter(ms: number): void {
    this.#timer?.cancel()
    if (!this.#closed) this.#timer = this.#clock.after(ms, () => this.#renew(false), { background: true })
  }

  /** One at a time, and bounded: a metadata server that hangs must not hang every request after it. */
  #fetch(force: boolean): Promise<Grant> {
    this.#fetching ??= within(this.#clock, { deadline: FETCH_LIMIT_MS }, this.#ask(force)).finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching
  }

  async #ask(force: boolean): Promise<Grant> {
    if (force) await this.#forget()
    const headers = await this.#auth.getRequestHeaders(this.#audience)
    this.#renewAfter(RENEW_AFTER_MS)
    return (this.#grant = { headers: Object.fromEntries(headers), forced: force, accepted: false })
  }

  /** Makes the client believe that its token is over. There is no public call for it that all kinds of client have. */
  async #forget(): Promise<void> {
    const client = await this.#auth.getClient()
    client.setCredentials({ ...client.credentials, expiry_date: 1 })
  }
}

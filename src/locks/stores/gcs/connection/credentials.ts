/**
 * The headers that let a request in, ready before they are needed. A background timer renews them, and requests use the
 * ones before meanwhile. Only the very first request waits, and one after a 401.
 *
 * Tokens come from Google's google-auth-library, which renews them by itself minutes before they end. It is asked once
 * a minute: that is enough to always hold a good one. It is given a project, as it would otherwise look for one
 * (metadata server, Resource Manager, `gcloud`). That takes seconds, may be forbidden, and is of no use: the name of a
 * bucket needs no project.
 *
 * Not promised: that a token is still good when the server sees it. A 401 leads to one forced renewal. Where the
 * renewed token is refused too, that is final.
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

/** The scope of tokens: everything, as IAM alone says what is granted. Federated accounts take no narrower one. */
const SCOPE = "https://www.googleapis.com/auth/cloud-platform"
/** Any of the servers that give tokens: all are Google's, and https. */
const TOKEN_SERVER = new URL("https://oauth2.googleapis.com")
/** Stands for a project that is never used, so that the library looks none up. */
const NO_PROJECT = "none"

/** Those of the given client, or else of the environment. None for an endpoint that is sent none. */
export async function credentialsOf(
  { url, credentials }: Endpoint,
  storage: StorageClient | undefined,
  clock: Clock,
): Promise<Credentials> {
  if (!credentials) return new Anonymous()
  return new GoogleCredentials(storage?.authClient ?? (await tokensOfEnvironment()), `${url.origin}/`, clock)
}

/**
 * Application default credentials, by the same proxy as requests. Makes no request. Throws InvalidConfigError as
 * `proxyOf` does.
 */
async function tokensOfEnvironment(): Promise<TokenSource> {
  const proxy = proxyOf(TOKEN_SERVER)
  // The library would otherwise take HTTP_PROXY too, and send to it what a metadata server of the machine is asked by
  // http.
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

  /**
   * Renews in the background. A failure isn't reported: a request that needs a grant asks again, and gets the error.
   */
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

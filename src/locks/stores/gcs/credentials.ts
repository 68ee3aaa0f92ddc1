/**
 * What a request shows to be let in, ready before it is needed: a background timer renews it while requests use the one
 * before, and only the very first request, or one after a 401, waits. The client of @google-cloud/storage knows how to
 * get tokens and renews them itself minutes before they end; asking it once a minute is enough to always hold a good one.
 *
 * Not promised: that a token is still good when the server sees it. A 401 is answered by one forced renewal; a renewed
 * token that is refused too is final.
 */
import type { Storage } from "@google-cloud/storage"
import type { Clock, Timer } from "../../../runtime/clock.ts"
import { within } from "./limits.ts"

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

/** Those of the client; none for a custom endpoint, unless it was told to use them there, as the client itself decides. */
export function credentialsOf(storage: Storage, clock: Clock): Credentials {
  const anonymous = storage.customEndpoint && storage.useAuthWithCustomEndpoint !== true
  return anonymous ? new Anonymous() : new GoogleCredentials(storage, clock)
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
  readonly #auth: Storage["authClient"]
  readonly #audience: string
  readonly #clock: Clock
  #grant: Grant | undefined
  #fetching: Promise<Grant> | undefined
  #timer: Timer | undefined
  #closed = false

  constructor(storage: Storage, clock: Clock) {
    this.#auth = storage.authClient
    this.#audience = `${storage.apiEndpoint}/`
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

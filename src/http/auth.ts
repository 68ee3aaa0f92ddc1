/** How a worker knows that a request may be answered. Only types; `signing.ts` has the workers' way. */

/** A request that is about to be sent. */
export interface OutgoingRequest {
  /** The address that is asked, as its worker publishes it. */
  readonly address: string
  /** The incarnation that is asked, where that is known: another life at the address may not take it. */
  readonly to?: string | undefined
  /** Method and path. */
  readonly subject: string
  /** As it is sent. */
  readonly body: string
}

/** What goes with it. */
export interface Credentials {
  /** Headers of the request. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether an answer is a worker's. Absent: every answer is, which takes TLS or a network of one's own. */
  readonly isAnswer?: (status: number, headers: Headers, body: string) => Promise<boolean>
}

/** Makes the credentials of one request. Each request is asked for anew. */
export type CallAuth = (request: OutgoingRequest) => Credentials | Promise<Credentials>

/**
 * What is used of Google's clients, by shape alone: the user's may be of another copy of the package than ours. Gets no
 * token; credentials.ts does.
 */

/** What is used of a client of @google-cloud/storage: its `Storage` has all of it. */
export interface StorageClient {
  /** The server that it speaks to, as a URL. */
  readonly apiEndpoint: string
  /** That server was named by its user. */
  readonly customEndpoint?: boolean
  /** It is shown credentials all the same. */
  readonly useAuthWithCustomEndpoint?: boolean | undefined
  /** Gets and renews its tokens. */
  readonly authClient: TokenSource
}

/** Gets tokens: what is used of a `GoogleAuth` of google-auth-library. */
export interface TokenSource {
  /** The headers that prove who asks for a URL. */
  getRequestHeaders(url?: string): Promise<Headers>
  /** The client of one kind of credentials, which keeps the token. */
  getClient(): Promise<{ readonly credentials: object; setCredentials(credentials: object): void }>
}

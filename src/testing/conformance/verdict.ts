/** What a case says of a store that it refuses. */

/** What a `ConformanceError` is made of. */
export interface Verdict {
  /** The store's name. */
  readonly store: string
  /** What the store did, as the rest of a sentence that begins with its name. */
  readonly did: string
  /** What the contract asks in its place, as a sentence without its full stop. */
  readonly asks: string
  /** What the store threw, where it did. */
  readonly cause?: unknown
}

/** A store broke the contract of stores. Trying again doesn't help; the store has to be mended. */
export class ConformanceError extends Error {
  /** What the store did. */
  readonly did: string
  /** What the contract asks. */
  readonly asks: string

  /** Says both in its message. */
  constructor(verdict: Verdict) {
    super(
      `The store ${verdict.store} ${verdict.did}. The contract asks: ${verdict.asks}.`,
      verdict.cause === undefined ? undefined : { cause: verdict.cause },
    )
    this.name = "ConformanceError"
    this.did = verdict.did
    this.asks = verdict.asks
  }
}

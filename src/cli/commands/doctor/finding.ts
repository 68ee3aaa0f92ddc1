/** What `leasehold doctor` says of one thing that it looked at, in one form for all its parts. */

/** One fact about the store, judged. */
export interface Finding {
  readonly check: string
  /** `unknown`: it could not be looked at. A `problem` makes the store unfit. */
  readonly status: "ok" | "warning" | "problem" | "unknown"
  readonly found: string
  /** What to do about it; undefined if nothing is to be done. */
  readonly remedy?: string
}

/** What `leasehold doctor` says of one thing that it looked at, in one form for all its parts. */

/** One thing that was looked at. */
export interface Finding {
  readonly check: string
  /** `unknown`: it could not be looked at. A `problem` makes the store unfit. */
  readonly status: "ok" | "warning" | "problem" | "unknown"
  readonly found: string
  /** What to do about it; undefined where nothing is to be done. */
  readonly remedy?: string
}

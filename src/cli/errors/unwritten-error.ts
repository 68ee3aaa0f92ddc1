/** The error of a command that did its work, but couldn't write the result to standard output. */
export class UnwrittenError extends Error {
  /** What to do about it. */
  readonly next = "Make room there, or send it elsewhere; what was to be done is done"

  constructor(cause: Error) {
    super(`The result can't be written: ${cause.message}`, { cause })
    this.name = "UnwrittenError"
  }
}

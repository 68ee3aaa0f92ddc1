/** The command was called in a way that it can't make sense of. */
export class UsageError extends Error {
  /** What to do about it. */
  readonly next: string

  constructor(message: string, next: string) {
    super(message)
    this.name = "UsageError"
    this.next = next
  }
}

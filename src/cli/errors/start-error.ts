/** The error of a command that can't be started. Shells have exit code 126 for it. */
export class StartError extends Error {
  /** What to do about it. */
  readonly next: string =
    "See to it that this user may start another process, with arguments and an environment of that size"

  constructor(what: string, cause?: Error) {
    const why = cause === undefined ? "it ended at once" : cause.message
    super(`${what} can't be started: ${why}`, cause === undefined ? undefined : { cause })
    this.name = "StartError"
  }
}

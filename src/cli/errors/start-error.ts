/** The command that was to be run can't even be begun: a shell says so by exit code 126. */
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

/** The error of a command that ended nobody knows how: the shell that waited for it was killed before. */
export class UnknownEndError extends Error {
  override readonly name = "UnknownEndError"
  readonly next: string = "Take it for a failure, and look at what ended the shell that waits for the command"

  constructor() {
    super("How the command ended is not known: the shell that waited for it was ended before")
  }
}

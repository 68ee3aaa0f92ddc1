/**
 * Where errors of background work go: there is no caller left to reject, and they must never be silent, kill the
 * process, or come back as an error of the reporting itself.
 */

/** Takes an error that has nowhere else to go. */
export type OnError = (error: unknown) => void

/** An `onError` that never throws. Without one, and for errors of the given one, errors go to standard error. */
export const reporter = (onError: OnError = toConsole): OnError => {
  return (error) => {
    try {
      onError(error)
    } catch (fromHandler) {
      toConsole(error)
      toConsole(fromHandler)
    }
  }
}

const toConsole = (error: unknown): void => {
  console.error("leasehold: error in background work:", error)
}

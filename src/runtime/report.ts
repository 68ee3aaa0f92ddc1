/**
 * Where errors of background work go: there is no caller left to reject, and they must never be silent, kill the
 * process, or come back as an error of the reporting itself.
 */

/** Takes an error that has nowhere else to go. */
export type OnError = (error: unknown) => void

/** What `reporter` made, of each `onError` one: also itself of itself. */
const made = new WeakMap<OnError, OnError>()

/** An `onError` that never throws. Without one, and for errors of the given one, errors go to standard error. */
export const reporter = (onError: OnError = toConsole): OnError => {
  const known = made.get(onError)
  if (known !== undefined) return known
  const report: OnError = (error) => {
    try {
      onError(error)
    } catch (fromHandler) {
      toConsole(error)
      toConsole(fromHandler)
    }
  }
  made.set(onError, report)
  made.set(report, report)
  return report
}

const toConsole = (error: unknown): void => {
  console.error("leasehold: error in background work:", error)
}

/**
 * A promise against a signal, without a listener left behind whichever comes first. A signal that is right by time is
 * read once more before the promise's value is passed on: a process that was stopped may hear of the value first.
 */

/**
 * Settles as the promise does, or rejects with the signal's reason if that has aborted by then; the promise is left
 * alone.
 */
export const orAbort = async <A>(promise: Promise<A>, signal: AbortSignal): Promise<A> => {
  void quiet(promise)
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason as Error)
  signal.addEventListener("abort", onAbort)
  try {
    const value = await Promise.race([promise, aborted])
    signal.throwIfAborted()
    return value
  } finally {
    signal.removeEventListener("abort", onAbort)
  }
}

/** Marks a rejection as seen. A caller that needs the promise still gets it. */
export const quiet = <A>(promise: Promise<A>): Promise<A> => {
  promise.catch(() => {})
  return promise
}

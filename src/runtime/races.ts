/** A promise against a signal, without a listener left behind whichever comes first. */

/** Settles as the promise does, or rejects with the signal's reason if that aborts first; the promise is then left alone. */
export const orAbort = async <A>(promise: Promise<A>, signal: AbortSignal): Promise<A> => {
  void quiet(promise)
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason as Error)
  signal.addEventListener("abort", onAbort)
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener("abort", onAbort)
  }
}

/** Marks a rejection as seen: whoever needs the promise still gets it. */
export const quiet = <A>(promise: Promise<A>): Promise<A> => {
  promise.catch(() => {})
  return promise
}

/**
 * Abort signals that are right by time. An event comes only when somebody dispatches it, and a stopped process
 * dispatches nothing; so reading `aborted` or calling `throwIfAborted` first runs a check, which may abort the signal
 * then and there.
 *
 * Not promised: that what only listens (`AbortSignal.any`, Deno's `fetch`) sees an abort before somebody reads the
 * signal or dispatches the abort. Derive signals by `anySignal`, and dispatch from `watchClocks`.
 */

/** An abort signal with its controls. */
export interface LatchedAbort extends Disposable {
  readonly signal: AbortSignal
  /** Aborts the signal, once: later calls change nothing. */
  abort(reason: unknown): void
  /** Stops listening to the signals it was derived from. Reading it still asks them. */
  [Symbol.dispose](): void
}

/**
 * A signal whose reading first calls `check`, which may call `abort`. It aborts too when one of `sources` does; until
 * then, or until it is disposed, it holds one listener on each of them.
 */
export const latchedAbort = (check: () => void, sources: readonly AbortSignal[] = []): LatchedAbort => {
  const controller = new AbortController()
  const { signal } = controller
  const isAborted = (): boolean => Reflect.get(AbortSignal.prototype, "aborted", signal)
  let checking = false

  const latch = (): void => {
    if (checking || isAborted()) return
    checking = true
    try {
      check()
      follow()
    } finally {
      checking = false
    }
  }
  const follow = (): void => {
    const source = sources.find((candidate) => candidate.aborted)
    if (source !== undefined) abort(source.reason)
  }
  const leave = (): void => {
    for (const source of sources) source.removeEventListener("abort", follow)
  }
  const abort = (reason: unknown): void => {
    if (isAborted()) return
    leave()
    const wasChecking = checking
    checking = true // Deno reads the signal when it aborts it, Node doesn't: nothing may come of that
    try {
      controller.abort(reason)
    } finally {
      checking = wasChecking
    }
  }

  Object.defineProperty(signal, "aborted", {
    get: () => {
      latch()
      return isAborted()
    },
  })
  Object.defineProperty(signal, "throwIfAborted", {
    value: () => {
      latch()
      AbortSignal.prototype.throwIfAborted.call(signal)
    },
  })
  for (const source of sources) source.addEventListener("abort", follow)
  follow()
  return { signal, abort, [Symbol.dispose]: leave }
}

const noCheck = (): void => {}

/**
 * A signal that aborts with the first of these to abort, reading them when it is read; undefined ones count as never.
 */
export const anySignal = (...signals: readonly (AbortSignal | undefined)[]): LatchedAbort =>
  latchedAbort(
    noCheck,
    signals.filter((signal) => signal !== undefined),
  )

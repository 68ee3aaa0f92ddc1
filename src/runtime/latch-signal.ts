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

/** The latch of a signal, on the signal. */
const LATCH = Symbol("leasehold.latch")

type LatchedSignal = AbortSignal & { [LATCH]: Latch }

/** What a latched signal answers with, in place of its own answers: once for all, as 10,000 of them may be idle. */
const latched: object = Object.create(AbortSignal.prototype, {
  aborted: {
    get(this: LatchedSignal) {
      return this[LATCH].isAborted()
    },
  },
  throwIfAborted: {
    value(this: LatchedSignal) {
      this[LATCH].isAborted()
      AbortSignal.prototype.throwIfAborted.call(this)
    },
  },
})

class Latch implements LatchedAbort {
  readonly #controller = new AbortController()
  readonly #check: () => void
  readonly #sources: readonly AbortSignal[]
  #follows: (() => void) | undefined
  #checking = false

  constructor(check: () => void, sources: readonly AbortSignal[]) {
    this.#check = check
    this.#sources = sources
    const { signal } = this.#controller
    Object.setPrototypeOf(signal, latched)
    Object.defineProperty(signal, LATCH, { value: this })
    if (sources.length === 0) return
    this.#follows = () => this.#follow()
    for (const source of sources) source.addEventListener("abort", this.#follows)
    this.#follow()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether the signal is aborted, after a check. */
  isAborted(): boolean {
    if (!this.#checking && !this.#isAborted()) this.#ask()
    return this.#isAborted()
  }

  abort(reason: unknown): void {
    if (this.#isAborted()) return
    this[Symbol.dispose]()
    const wasChecking = this.#checking
    this.#checking = true // Deno reads the signal when it aborts it, Node doesn't: nothing may come of that
    try {
      this.#controller.abort(reason)
    } finally {
      this.#checking = wasChecking
    }
  }

  [Symbol.dispose](): void {
    if (this.#follows === undefined) return
    for (const source of this.#sources) source.removeEventListener("abort", this.#follows)
    this.#follows = undefined
  }

  #ask(): void {
    this.#checking = true
    try {
      this.#check()
      this.#follow()
    } finally {
      this.#checking = false
    }
  }

  #follow(): void {
    const source = this.#sources.find((candidate) => candidate.aborted)
    if (source !== undefined) this.abort(source.reason)
  }

  /** As the runtime has it. */
  #isAborted(): boolean {
    return Reflect.get(AbortSignal.prototype, "aborted", this.signal)
  }
}

/**
 * A signal whose reading first calls `check`, which may call `abort`. It aborts too when one of `sources` does; until
 * then, or until it is disposed, it holds one listener on each of them.
 */
export const latchedAbort = (check: () => void, sources: readonly AbortSignal[] = []): LatchedAbort =>
  new Latch(check, sources)

const noCheck = (): void => {}

/**
 * A signal that aborts with the first of these to abort, reading them when it is read; undefined ones count as never.
 */
export const anySignal = (...signals: readonly (AbortSignal | undefined)[]): LatchedAbort =>
  latchedAbort(
    noCheck,
    signals.filter((signal) => signal !== undefined),
  )

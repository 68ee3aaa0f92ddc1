/**
 * The signals that reach this process while it runs a command. They are caught from the beginning of the run to the end
 * of the process. So none ends it while it has a lease, and it can end as its command did.
 */
import process from "node:process"

/** The signals of users and systems that can be passed on to a command. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const

/** Those that ask a process to end. */
const ENDING: ReadonlySet<string> = new Set(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])

/** First they cancel the run. After `passTo` they are given to its callback. */
export class RunSignals implements Disposable {
  readonly #cancel = new AbortController()
  readonly #endings: Disposable[]
  #pass: ((signal: NodeJS.Signals) => void) | undefined

  constructor() {
    this.#endings = SIGNALS.map((signal) => {
      const heard = (): void => this.#hear(signal)
      process.on(signal, heard)
      return { [Symbol.dispose]: () => void process.off(signal, heard) }
    })
  }

  /** Aborts at a signal that asks to end, before `passTo` was called. */
  get cancelled(): AbortSignal {
    return this.#cancel.signal
  }

  /** From now on `pass` gets them. */
  passTo(pass: (signal: NodeJS.Signals) => void): void {
    this.#pass = pass
  }

  [Symbol.dispose](): void {
    for (const ending of this.#endings) ending[Symbol.dispose]()
  }

  #hear(signal: NodeJS.Signals): void {
    if (this.#pass !== undefined) this.#pass(signal)
    else if (ENDING.has(signal)) this.#cancel.abort()
  }
}

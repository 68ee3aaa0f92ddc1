/**
 * The signals that reach this process while it runs a command: heard from the beginning of a run to the end of the
 * process, so that none of them ends it with a lease in its hands, or in place of how its command ended. What is done
 * about them changes meanwhile.
 */
import process from "node:process"

/** What a user or a system asks by; all can be passed on to a command. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const

/** Those that mean that it should end. */
const ENDING: ReadonlySet<string> = new Set(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])

/** First they cancel, then they are passed on, and in the end, when what is left takes no time, they do nothing. */
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

  /** Aborts by a signal that came before there was anything to pass it on to. */
  get cancelled(): AbortSignal {
    return this.#cancel.signal
  }

  /** From now on they are another's. */
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

/** The signals that end a wait: as an AbortSignal, for as long as there is something to cancel. */
import process from "node:process"

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** Aborts at the first of them. Until it is disposed they don't end the process. */
export function cancelledBySignals(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  for (const signal of SIGNALS) process.on(signal, abort)
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, abort)
    },
  }
}

/** The signals that cancel a wait, as an AbortSignal. */
import process from "node:process"

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** Aborts at the first signal. Until it is disposed the signals don't end the process. */
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

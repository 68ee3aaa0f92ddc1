/** Waits for a signal that asks this process to end, for commands that go on until then. */
import process from "node:process"

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** Settles at the first signal, or when `done` has settled. The signals then end the process again. */
export async function untilEnded(done: Promise<unknown> = new Promise(() => {})): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = (): void => resolve()
  for (const signal of SIGNALS) process.on(signal, end)
  try {
    await Promise.race([promise, done])
  } finally {
    for (const signal of SIGNALS) process.off(signal, end)
  }
}

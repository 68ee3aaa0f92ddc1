/** Waits for a signal that asks this process to end: of commands that go on until their user has enough. */
import process from "node:process"

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** Settles when one of the signals comes, or `done` has settled, and listens no more. */
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

/** Promises that were rejected and that nobody has heard, while a run lasts: they would kill a process. */
import process from "node:process"

/** What was not heard. */
export interface Rejections extends Disposable {
  readonly reasons: readonly unknown[]
}

/** Hears them, in everybody's place, until it is disposed. */
export function hearRejections(): Rejections {
  const reasons: unknown[] = []
  const hear = (reason: unknown): void => void reasons.push(reason)
  process.on("unhandledRejection", hear)
  return { reasons, [Symbol.dispose]: () => void process.off("unhandledRejection", hear) }
}

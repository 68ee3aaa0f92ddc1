/**
 * Listeners for signals that only clean up, and leave it to others whether the process ends: those of signal-exit, from
 * version 2 on, that proper-lockfile, write-file-atomic and many more bring along. They act only where nobody else listens,
 * and signal-exit tells in public how many of them there are.
 *
 * Not promised: to know cleaners of other kinds. Whoever else listens for a signal decides on it.
 */
import process from "node:process"

/** A signal that ends a process. */
export type EndingSignal = "SIGTERM" | "SIGINT" | "SIGHUP"

/** Where versions 2 and 3 keep what they share, and where version 4 does. */
const VERSION_3 = "__signal_exit_emitter__"
const VERSION_4 = Symbol.for("signal-exit emitter")

/** Whether everybody who listens for the signal, but for one, only cleans up. */
export const onlyCleanersBeside = (signal: EndingSignal): boolean => process.listenerCount(signal) - 1 <= cleaners()

/** Ends the process by the signal, once those who listen for it have cleaned up: all are cleaners. */
export function endBy(signal: EndingSignal): void {
  // A cleaner leaves when it has cleaned up, and one of another version only acts once that has left.
  for (let left = Infinity; process.listenerCount(signal) < left; process.emit(signal, signal))
    left = process.listenerCount(signal)
  for (const listener of process.listeners(signal)) process.off(signal, listener)
  process.kill(process.pid, signal)
}

/** How many of the listeners of each signal are cleaners. */
const cleaners = (): number => countOf(process, VERSION_3) + countOf(globalThis, VERSION_4)

function countOf(place: object, name: string | symbol): number {
  const shared = (place as Readonly<Record<string | symbol, { readonly count?: unknown } | undefined>>)[name]
  return typeof shared?.count === "number" ? shared.count : 0
}

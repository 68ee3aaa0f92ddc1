/**
 * Listeners for signals that only clean up, and leave it to others whether the process ends: those of signal-exit, from
 * version 2 on, that proper-lockfile, write-file-atomic and many more bring along. They act only where nobody else listens,
 * and signal-exit tells in public how many of them there are. Who has cleaned up leaves, and sends the signal again. From
 * version 4 on a callback can keep it from that: then it has decided to end the process itself, later.
 *
 * Not promised: to know cleaners of other kinds. Whoever else listens for a signal decides on it. Nor to tell a program's own
 * listener from a cleaner's that the program took off by `removeAllListeners`: it is called twice, and still decides.
 */
import process from "node:process"

/** A signal that ends a process. */
export type EndingSignal = "SIGTERM" | "SIGINT" | "SIGHUP"

/** Where versions 2 and 3 keep what they share, and where version 4 does. */
const VERSION_3 = "__signal_exit_emitter__"
const VERSION_4 = Symbol.for("signal-exit emitter")

/** Signals that are being told in this turn: on Deno whoever listens anew is told too, and so again. */
const current = new Set<EndingSignal>()

/** Whether everybody who listens for the signal, but for one, only cleans up. */
export const onlyCleanersBeside = (signal: EndingSignal): boolean => process.listenerCount(signal) - 1 <= cleaners()

/**
 * Has the cleaners clean up as if `ours` weren't there. If they send the signal again, `last` is done and the process ends by
 * it, all in this turn. If they don't, or throw, nothing is done, and `ours` listens on.
 */
export function endBy(signal: EndingSignal, ours: () => void, last: () => void): void {
  if (current.has(signal)) return
  current.add(signal)
  queueMicrotask(() => current.delete(signal))
  process.off(signal, ours)
  let ends = false
  try {
    ends = process.listenerCount(signal) === 0 || cleanedUp(signal)
  } finally {
    if (!ends) process.on(signal, ours)
  }
  if (!ends) return
  try {
    last()
  } finally {
    for (const listener of process.listeners(signal)) process.off(signal, listener)
    process.kill(process.pid, signal)
  }
}

/** Whether the cleaners leave the end to the signal. One of another version only acts once those before have left. */
function cleanedUp(signal: EndingSignal): boolean {
  for (let left = process.listenerCount(signal); sentAgain(signal); left = process.listenerCount(signal)) {
    const still = process.listenerCount(signal)
    if (still === 0 || still === left) return true
  }
  return false
}

/** Calls who listens. Whether one of them sends the signal to this process, which is held back: it would end at once. */
function sentAgain(signal: EndingSignal): boolean {
  const system: { kill: (pid: number, what?: string | number) => true } = process
  const { kill } = system
  let sent = false
  system.kill = (pid, what) => {
    if (pid !== process.pid || what !== signal) return kill.call(process, pid, what)
    return (sent = true)
  }
  try {
    process.emit(signal, signal)
  } finally {
    system.kill = kill
  }
  return sent
}

/** How many of the listeners of each signal are cleaners. */
const cleaners = (): number => countOf(process, VERSION_3) + countOf(globalThis, VERSION_4)

function countOf(place: object, name: string | symbol): number {
  const shared = (place as Readonly<Record<string | symbol, { readonly count?: unknown } | undefined>>)[name]
  return typeof shared?.count === "number" ? shared.count : 0
}

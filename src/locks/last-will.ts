/**
 * What is still owned when a process ends is released then, on stores whose writes need no event loop: at the `exit` event,
 * and by a signal that nobody else handles. Where somebody does, the exit that he decides on is what counts.
 *
 * Not promised: anything to work that outlives the process. An ownership that names process groups is left to them.
 */
import process from "node:process"

/** Something that is to be released at the latest when the process ends. It must do so before it returns. */
export interface Owned {
  releaseNow(): void
}

const all = new Set<Owned>()
let listens = false
let handles = false

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const

/** From now on it is released when the process ends, or no longer. */
export function releasesAtEnd(owned: Owned, releases: boolean): void {
  if (!releases) return void all.delete(owned)
  all.add(owned)
  if (!listens) process.on("exit", releaseAll)
  listens = true
}

/** From now on a signal that ends this process ends it after a release. Others that listen for it decide for themselves. */
export function releaseOnSignals(): void {
  if (handles) return
  handles = true
  for (const signal of SIGNALS) {
    const end = (): void => {
      if (process.listenerCount(signal) > 1) return
      releaseAll()
      process.off(signal, end)
      process.kill(process.pid, signal)
    }
    process.on(signal, end)
  }
}

function releaseAll(): void {
  for (const owned of all) owned.releaseNow()
}

/**
 * What is still owned when a process ends is released then, on stores whose writes need no event loop: at the `exit` event,
 * and by a signal that nobody else decides on. Where somebody does, the exit that he decides on is what counts. Copies of
 * leasehold in one process have one will: each signal has one listener of theirs.
 *
 * Not promised: anything to work that outlives the process. An ownership that names process groups is left to them.
 */
import process from "node:process"
import { ofProcess } from "../runtime/of-process.ts"
import { endBy, type EndingSignal, onlyCleanersBeside } from "../runtime/signal-cleaners.ts"

/** Something that is to be released at the latest when the process ends. It must do so before it returns. */
export interface Owned {
  releaseNow(): void
}

/** What all copies share. */
interface Will {
  readonly owned: Set<Owned>
  /** Somebody listens for the exit. */
  listens: boolean
  /** Somebody listens for signals. */
  handles: boolean
}

const will = ofProcess<Will>("last will", () => ({ owned: new Set(), listens: false, handles: false }))

const SIGNALS: readonly EndingSignal[] = ["SIGTERM", "SIGINT", "SIGHUP"]

/** From now on it is released when the process ends, or no longer. */
export function releasesAtEnd(owned: Owned, releases: boolean): void {
  if (!releases) return void will.owned.delete(owned)
  will.owned.add(owned)
  if (!will.listens) process.on("exit", releaseAll)
  will.listens = true
}

/**
 * From now on a signal that ends this process ends it after a release. Others that listen for it decide for themselves,
 * unless they only clean up and send it again.
 */
export function releaseOnSignals(): void {
  if (will.handles) return
  will.handles = true
  for (const signal of SIGNALS) {
    const end = (): void => {
      if (onlyCleanersBeside(signal)) endBy(signal, end, releaseAll)
    }
    process.on(signal, end)
  }
}

function releaseAll(): void {
  for (const owned of will.owned) owned.releaseNow()
}

/**
 * The stops of one process that last: SIGSTOPs, a blocked event loop, its machine's sleep. Owns what several at once
 * come to: the process goes on when the last of them is over, and its machine sleeps as long as one of them is a sleep.
 */
import type { VirtualHost } from "../../../runtime/time/virtual-host.ts"

/** One stop: the machine's sleep, or of the process alone. */
interface Stop {
  readonly asleep: boolean
}

/** Of one life of a process. */
export class Stops {
  readonly #host: VirtualHost
  readonly #lasting = new Set<Stop>()

  /** None yet. */
  constructor(host: VirtualHost) {
    this.#host = host
  }

  /** Begins one; `asleep`: its machine sleeps. What it returns ends it, once, and says whether that was the last. */
  begin(asleep: boolean): () => boolean {
    const stop = { asleep }
    this.#lasting.add(stop)
    this.#apply()
    return () => {
      if (!this.#lasting.delete(stop)) return false
      this.#apply()
      return this.#lasting.size === 0
    }
  }

  /** Ends all. */
  clear(): void {
    this.#lasting.clear()
    this.#apply()
  }

  /** What was held by a stop is held by the next. */
  #apply(): void {
    this.#host.resume()
    if ([...this.#lasting].some(({ asleep }) => asleep)) this.#host.sleep()
    else if (this.#lasting.size > 0) this.#host.pause()
  }
}

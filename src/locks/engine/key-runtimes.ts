/**
 * The runtimes of this process: one for each (store, incarnation, key). Two locks of one key in one process share it,
 * and so take turns instead of contending.
 *
 * A runtime is forgotten when it is at rest, nobody observes it, and many others came to rest after it. That depends on
 * use alone, never on the garbage collector: else no run could be replayed. What it had observed of other processes
 * goes with it, which is safe: observing begins anew.
 */
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { type Counting, noCounts } from "../api/counts.ts"
import { storeNow } from "../protocol/rules/time.ts"
import type { LeaseStore } from "../stores/port.ts"
import { KeyRuntime, type KeyRuntimesParts } from "./key-runtime.ts"
import { otherClock } from "./refusals.ts"
import { RequestTaps } from "./request-taps.ts"

/** How many runtimes at rest an incarnation remembers on a store. */
const REMEMBERED = 1000

/** The runtimes of one incarnation on one store. */
export class KeyRuntimes implements KeyRuntimesParts {
  readonly store: LeaseStore
  readonly clock: Clock
  /** Tells these runtimes from those of another process, or store object, that goes by the same incarnation. */
  readonly life: string
  /** What happened to all its keys. */
  readonly counts: Counting = noCounts()
  /** The listeners to the requests of all its keys. */
  readonly taps: RequestTaps = new RequestTaps()
  readonly #all = new Map<string, KeyRuntime>()
  /** Those at rest, in the order in which they came to it. */
  readonly #resting = new Set<KeyRuntime>()
  /** Those at work. */
  readonly #busy = new Set<KeyRuntime>()
  readonly #whenRested: (() => void)[] = []

  constructor(store: LeaseStore, clock: Clock) {
    this.store = store
    this.clock = clock
    this.life = clock.id()
  }

  /**
   * The runtime of a key. Ask for it at each use, as it may have been forgotten. Its errors go to the `onError` of its
   * first use.
   */
  of(key: string, onError: OnError | undefined): KeyRuntime {
    const known = this.#all.get(key)
    if (known !== undefined) return known
    const runtime = new KeyRuntime(key, this, onError)
    this.#all.set(key, runtime)
    this.#rests(runtime)
    return runtime
  }

  /** The runtime of a key, if it is remembered. Makes none. */
  known(key: string): KeyRuntime | undefined {
    return this.#all.get(key)
  }

  /**
   * By how much the wall clock is ahead of the store's time, in milliseconds, by the answers to a key that is at work.
   * Undefined where no answer told it of late. A store that tells whole seconds may make it wrong by a second.
   */
  get clockOffset(): number | undefined {
    const now = { ...this.clock.read(), fresh: "", draw: 0 }
    for (const { sense } of this.#busy) {
      const time = sense && storeNow(sense, now, 0)
      if (time !== undefined) return Math.round(now.wall - time)
    }
    return undefined
  }

  /**
   * Settles once nothing of any key is under way in this process: no wait, no lease, no clearing behind a caller whose
   * wait has ended. Keeps no process alive.
   */
  async rested(): Promise<void> {
    while (this.#busy.size > 0) await this.#nextRest()
  }

  /**
   * Settles once nothing is cleared behind a caller whose wait has ended. Waits and leases may go on. Keeps no process
   * alive.
   */
  async cleared(): Promise<void> {
    while ([...this.#busy].some(({ isClearing }) => isClearing)) await this.#nextRest()
  }

  /** Settles when a key comes to rest, even if its next turn begins at once. */
  #nextRest(): Promise<void> {
    return new Promise((resolve) => void this.#whenRested.push(resolve))
  }

  /** @internal A key has left its rest, or come to it again. */
  onBusy(runtime: KeyRuntime, busy: boolean): void {
    if (busy) this.#works(runtime)
    else this.#rests(runtime)
  }

  #works(runtime: KeyRuntime): void {
    this.#resting.delete(runtime)
    this.#busy.add(runtime)
  }

  #rests(runtime: KeyRuntime): void {
    this.#busy.delete(runtime)
    for (const resolve of this.#whenRested.splice(0)) resolve()
    this.#resting.add(runtime)
    const [oldest] = this.#resting
    if (oldest === undefined || this.#resting.size <= REMEMBERED) return
    this.#resting.delete(oldest)
    if (oldest.observed) this.#resting.add(oldest)
    else {
      this.#all.delete(oldest.key)
      oldest.forget()
    }
  }
}

const ofStore = new WeakMap<LeaseStore, Map<string, KeyRuntimes>>()

/**
 * The runtimes of an incarnation on a store. Throws InvalidConfigError for a second clock; `key` is for its message.
 */
export function keyRuntimesOf(store: LeaseStore, id: string, clock: Clock, key: string): KeyRuntimes {
  let byIncarnation = ofStore.get(store)
  if (byIncarnation === undefined) ofStore.set(store, (byIncarnation = new Map()))
  let runtimes = byIncarnation.get(id)
  if (runtimes === undefined) byIncarnation.set(id, (runtimes = new KeyRuntimes(store, clock)))
  if (runtimes.clock !== clock) throw otherClock(key)
  return runtimes
}

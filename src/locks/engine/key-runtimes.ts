/**
 * The runtimes of this process: one for each (store, incarnation, key), so that two locks of one key in one process take
 * turns instead of contending. Which of them are remembered depends on their use alone, never on the garbage collector, or
 * no run could be replayed: one at rest that nobody observes is forgotten once many others came to rest. What it had
 * observed of other processes goes with it, which is safe: observing begins anew.
 */
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { type Counting, noCounts } from "../api/counts.ts"
import { storeNow } from "../protocol/rules/time.ts"
import type { LeaseStore } from "../stores/port.ts"
import { KeyRuntime } from "./key-runtime.ts"
import { otherClock } from "./refusals.ts"
import { RequestTaps } from "./request-taps.ts"

/** How many runtimes at rest an incarnation remembers on a store. */
const REMEMBERED = 1000

/** The runtimes of one incarnation on one store. */
export class KeyRuntimes {
  readonly clock: Clock
  /** Tells these from the runtimes of any other process, or store object, under the same incarnation. */
  readonly life: string
  /** What happened to all its keys. */
  readonly counts: Counting = noCounts()
  /** Who is told of the requests of all its keys. */
  readonly taps: RequestTaps = new RequestTaps()
  readonly #store: LeaseStore
  readonly #all = new Map<string, KeyRuntime>()
  /** In the order in which they came to rest. */
  readonly #resting = new Set<KeyRuntime>()
  /** Those that aren't. */
  readonly #busy = new Set<KeyRuntime>()
  readonly #whenRested: (() => void)[] = []

  constructor(store: LeaseStore, clock: Clock) {
    this.#store = store
    this.clock = clock
    this.life = clock.id()
  }

  /** The runtime of a key, to be asked for at each use. Errors of its own go to the onError of whoever used it first. */
  of(key: string, onError: OnError | undefined): KeyRuntime {
    const known = this.#all.get(key)
    if (known !== undefined) return known
    const runtime: KeyRuntime = new KeyRuntime(key, this.#store, {
      ...{ clock: this.clock, onError, counts: this.counts, taps: this.taps },
      onBusy: (busy) => {
        if (busy) this.#works(runtime)
        else this.#rests(runtime)
      },
    })
    this.#all.set(key, runtime)
    this.#rests(runtime)
    return runtime
  }

  /** The runtime of a key that is remembered: for who only looks. */
  known(key: string): KeyRuntime | undefined {
    return this.#all.get(key)
  }

  /**
   * By how much the wall clock is ahead of the store's time, as the answers to some key tell that is at work; undefined where none
   * told it of late. In milliseconds: of a store that tells whole seconds it may be off by one.
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
   * Settles once nothing of any key is under way in this process: no wait, no lease, and nothing that is cleared behind a
   * caller whose wait has ended. Keeps no process alive.
   */
  async rested(): Promise<void> {
    while (this.#busy.size > 0) await this.#nextRest()
  }

  /** Settles once nothing is taken back behind a caller whose wait has ended, whatever else is under way. Keeps no process alive. */
  async cleared(): Promise<void> {
    while ([...this.#busy].some(({ isClearing }) => isClearing)) await this.#nextRest()
  }

  /** Settles when a key comes to rest, if only for its next turn. */
  #nextRest(): Promise<void> {
    return new Promise((resolve) => void this.#whenRested.push(resolve))
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

/** The runtimes of an incarnation on a store. Throws InvalidConfigError for a second clock; `key` is for its message. */
export function keyRuntimesOf(store: LeaseStore, id: string, clock: Clock, key: string): KeyRuntimes {
  let byIncarnation = ofStore.get(store)
  if (byIncarnation === undefined) ofStore.set(store, (byIncarnation = new Map()))
  let runtimes = byIncarnation.get(id)
  if (runtimes === undefined) byIncarnation.set(id, (runtimes = new KeyRuntimes(store, clock)))
  if (runtimes.clock !== clock) throw otherClock(key)
  return runtimes
}

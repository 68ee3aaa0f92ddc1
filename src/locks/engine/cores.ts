/**
 * The cores of this process: one for each (store, incarnation, key), so that two locks of one key in one process take
 * turns instead of contending. Which of them are remembered depends on their use alone, never on the garbage collector, or
 * no run could be replayed: one at rest that nobody observes is forgotten once many others came to rest. What it had
 * observed of other processes goes with it, which is safe: observing begins anew.
 */
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { type Counting, noCounts } from "../api/counts.ts"
import { storeNow } from "../protocol/rules/time.ts"
import type { LeaseStore } from "../stores/port.ts"
import { KeyCore } from "./core.ts"
import { otherClock } from "./refusals.ts"
import { RequestTaps } from "./request-taps.ts"

/** How many cores at rest an incarnation remembers on a store. */
const REMEMBERED = 1000

/** The cores of one incarnation on one store. */
export class Cores {
  readonly clock: Clock
  /** Tells these from the cores of any other process, or store object, under the same incarnation. */
  readonly life: string
  /** What happened to all its keys. */
  readonly counts: Counting = noCounts()
  /** Who is told of the requests of all its keys. */
  readonly taps: RequestTaps = new RequestTaps()
  readonly #store: LeaseStore
  readonly #all = new Map<string, KeyCore>()
  /** In the order in which they came to rest. */
  readonly #resting = new Set<KeyCore>()
  /** Those that aren't. */
  readonly #busy = new Set<KeyCore>()
  readonly #whenRested: (() => void)[] = []

  constructor(store: LeaseStore, clock: Clock) {
    this.#store = store
    this.clock = clock
    this.life = clock.id()
  }

  /** The core of a key, to be asked for at each use. Errors of its own go to the onError of whoever used it first. */
  of(key: string, onError: OnError | undefined): KeyCore {
    const known = this.#all.get(key)
    if (known !== undefined) return known
    const core: KeyCore = new KeyCore(key, this.#store, {
      ...{ clock: this.clock, onError, counts: this.counts, taps: this.taps },
      onBusy: (busy) => {
        if (busy) this.#works(core)
        else this.#rests(core)
      },
    })
    this.#all.set(key, core)
    this.#rests(core)
    return core
  }

  /** The core of a key that is remembered: for who only looks. */
  known(key: string): KeyCore | undefined {
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

  #works(core: KeyCore): void {
    this.#resting.delete(core)
    this.#busy.add(core)
  }

  #rests(core: KeyCore): void {
    this.#busy.delete(core)
    for (const resolve of this.#whenRested.splice(0)) resolve()
    this.#resting.add(core)
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

const ofStore = new WeakMap<LeaseStore, Map<string, Cores>>()

/** The cores of an incarnation on a store. Throws InvalidConfigError for a second clock; `key` is for its message. */
export function coresOf(store: LeaseStore, id: string, clock: Clock, key: string): Cores {
  let byIncarnation = ofStore.get(store)
  if (byIncarnation === undefined) ofStore.set(store, (byIncarnation = new Map()))
  let cores = byIncarnation.get(id)
  if (cores === undefined) byIncarnation.set(id, (cores = new Cores(store, clock)))
  if (cores.clock !== clock) throw otherClock(key)
  return cores
}

/**
 * The cores of this process: one for each (store, incarnation, key), so that two locks of one key in one process take
 * turns instead of contending. A busy core is kept; one at rest lives only as long as a lock that uses it, and what it
 * observed of others goes with it, which is safe: observing begins anew.
 */
import type { Clock } from "../runtime/clock.ts"
import type { OnError } from "../runtime/report.ts"
import { KeyCore } from "./core.ts"
import type { LeaseStore } from "./store.ts"

class Cores {
  readonly #known = new Map<string, WeakRef<KeyCore>>()
  readonly #busy = new Set<KeyCore>()
  readonly #forget = new FinalizationRegistry<string>((key) => {
    if (this.#known.get(key)?.deref() === undefined) this.#known.delete(key)
  })

  core(key: string, store: LeaseStore, clock: Clock, onError: OnError | undefined): KeyCore {
    const known = this.#known.get(key)?.deref()
    if (known !== undefined) return known
    const core: KeyCore = new KeyCore(key, store, clock, onError, (busy) => {
      if (busy) this.#busy.add(core)
      else this.#busy.delete(core)
    })
    this.#known.set(key, new WeakRef(core))
    this.#forget.register(core, key)
    return core
  }
}

const ofStore = new WeakMap<LeaseStore, Map<string, Cores>>()

/** What names a core. */
export interface CoreName {
  readonly key: string
  /** The incarnation. */
  readonly id: string
  readonly store: LeaseStore
}

/** The core of a key. Its first lock's clock and onError are all its locks'. */
export function coreOf({ key, id, store }: CoreName, clock: Clock, onError: OnError | undefined): KeyCore {
  let byIncarnation = ofStore.get(store)
  if (byIncarnation === undefined) ofStore.set(store, (byIncarnation = new Map()))
  let cores = byIncarnation.get(id)
  if (cores === undefined) byIncarnation.set(id, (cores = new Cores()))
  return cores.core(key, store, clock, onError)
}

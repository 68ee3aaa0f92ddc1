/**
 * The cores of this process: one for each (store, incarnation, key), so that two locks of one key in one process take
 * turns instead of contending. One at rest lives only as long as a lock or lease that uses it, and what it observed of
 * others goes with it, which is safe: observing begins anew.
 */
import type { Clock } from "../runtime/clock.ts"
import type { OnError } from "../runtime/report.ts"
import { KeyCore } from "./core.ts"
import { otherClock } from "./refusals.ts"
import type { LeaseStore } from "./store.ts"

type Cores = Map<string, WeakRef<KeyCore>>

const ofStore = new WeakMap<LeaseStore, Cores>()

const forget = new FinalizationRegistry<{ readonly cores: Cores; readonly name: string }>(({ cores, name }) => {
  if (cores.get(name)?.deref() === undefined) cores.delete(name)
})

/** What names a core. */
export interface CoreName {
  readonly key: string
  /** The incarnation. */
  readonly id: string
  readonly store: LeaseStore
}

/** The core of a key. Errors of its own go to its first lock's onError. Throws InvalidConfigError for a second clock. */
export function coreOf({ key, id, store }: CoreName, clock: Clock, onError: OnError | undefined): KeyCore {
  let cores = ofStore.get(store)
  if (cores === undefined) ofStore.set(store, (cores = new Map()))
  const name = `${id}/${key}` // an incarnation has no slash
  const known = cores.get(name)?.deref()
  if (known !== undefined) {
    if (known.clock !== clock) throw otherClock(key)
    return known
  }
  const core = new KeyCore(key, store, clock, onError)
  cores.set(name, new WeakRef(core))
  forget.register(core, { cores, name })
  return core
}

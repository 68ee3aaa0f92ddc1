/**
 * The stores that locks make for themselves: one for the same parts in a process, so that two locks of one key take turns
 * instead of contending. A store lives as long as something uses it.
 */
import type { LeaseStore } from "../store.ts"

interface Entry<S extends LeaseStore> {
  readonly parts: readonly unknown[]
  readonly store: WeakRef<S>
}

/** The stores of one kind. */
export class SharedStores<S extends LeaseStore> {
  #entries: readonly Entry<S>[] = []

  /** The store made of the same parts, compared one by one; `make` makes it where there is none. */
  get(parts: readonly unknown[], make: () => S): S {
    const known = this.#entries.find((entry) => entry.parts.every((part, index) => Object.is(part, parts[index])))
    const living = known?.store.deref()
    if (living !== undefined) return living
    const store = make()
    const others = this.#entries.filter((entry) => entry.store.deref() !== undefined)
    this.#entries = [...others, { parts, store: new WeakRef(store) }]
    return store
  }
}

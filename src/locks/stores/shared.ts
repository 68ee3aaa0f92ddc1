/**
 * The stores that locks make for themselves: one for the same parts in a process, so that two locks of one key take turns
 * instead of contending, and observers hear of all of them. They stay for the life of the process, as what is observed on
 * them may; who uses ever new places makes stores and gives them to `StoreLock`.
 */
import type { LeaseStore } from "./port.ts"

interface Entry<S extends LeaseStore> {
  readonly parts: readonly unknown[]
  readonly store: S
}

/** The stores of one kind. */
export class SharedStores<S extends LeaseStore> {
  readonly #entries: Entry<S>[] = []

  /** The store made of the same parts, compared one by one; `make` makes it where there is none. */
  get(parts: readonly unknown[], make: () => S): S {
    const known = this.#entries.find((entry) => entry.parts.every((part, index) => Object.is(part, parts[index])))
    if (known !== undefined) return known.store
    const store = make()
    this.#entries.push({ parts, store })
    return store
  }
}

/**
 * The stores that locks make for themselves: one in a process for each set of parts. Two locks of one key share it, and
 * so take turns instead of contending. They stay for the life of the process, as observers on them may. A program with
 * ever new places makes its own stores, and gives them to `StoreLock`.
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

/** Where calls went last: the addresses of owners, by lock key. A guess, which saves a read of the store. Bounded. */

/** So many keys are remembered: some hundred bytes each. The one that was used least recently goes first. */
const MOST = 10_000

export class Routes {
  readonly #addresses = new Map<string, string>()

  get(key: string): string | undefined {
    const address = this.#addresses.get(key)
    if (address !== undefined) this.set(key, address)
    return address
  }

  set(key: string, address: string): void {
    this.#addresses.delete(key)
    this.#addresses.set(key, address)
    if (this.#addresses.size > MOST) this.delete(this.#addresses.keys().next().value!)
  }

  delete(key: string): void {
    this.#addresses.delete(key)
  }
}

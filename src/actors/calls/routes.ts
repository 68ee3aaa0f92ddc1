/** Where calls went last, by lock key. A guess, which saves a read of the store. Bounded. */

/** So many keys are remembered: some hundred bytes each. The one that was used least recently goes first. */
const MOST = 10_000

export class Routes<Place> {
  readonly #places = new Map<string, Place>()

  get(key: string): Place | undefined {
    const place = this.#places.get(key)
    if (place !== undefined) this.set(key, place)
    return place
  }

  set(key: string, place: Place): void {
    this.#places.delete(key)
    this.#places.set(key, place)
    if (this.#places.size > MOST) this.delete(this.#places.keys().next().value!)
  }

  delete(key: string): void {
    this.#places.delete(key)
  }
}

/**
 * A binary heap whose items can be taken out again from anywhere, in O(log n). Owns the order of what waits for a time
 * (virtual timers, the buckets of the shared schedule); items that compare as equal come out in no promised order.
 */

/** What an item must carry: the heap notes here where it put the item; -1 while it is in no heap. */
export interface HeapItem {
  position: number
}

/** A heap of items in the order that its `before` gives. */
export class Heap<A extends HeapItem> {
  readonly #items: A[] = []
  readonly #before: (a: A, b: A) => boolean

  /** `before(a, b)` says that a comes out before b. */
  constructor(before: (a: A, b: A) => boolean) {
    this.#before = before
  }

  get size(): number {
    return this.#items.length
  }

  /** The item that comes out next. */
  peek(): A | undefined {
    return this.#items[0]
  }

  push(item: A): void {
    this.#items.push(item)
    this.#rise(item, this.#items.length - 1)
  }

  pop(): A | undefined {
    const first = this.#items[0]
    if (first !== undefined) this.remove(first)
    return first
  }

  /** Takes the item out, if it is in. */
  remove(item: A): void {
    const hole = item.position
    if (hole < 0) return
    item.position = -1
    const last = this.#items.pop()!
    if (last === item) return
    this.#sink(last, hole)
    this.#rise(last, last.position)
  }

  #rise(item: A, from: number): void {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = this.#items[parent]!
      if (!this.#before(item, above)) break
      this.#place(above, at)
      at = parent
    }
    this.#place(item, at)
  }

  #sink(item: A, from: number): void {
    let at = from
    for (let child = 2 * at + 1; child < this.#items.length; child = 2 * at + 1) {
      if (child + 1 < this.#items.length && this.#before(this.#items[child + 1]!, this.#items[child]!)) child++
      const below = this.#items[child]!
      if (!this.#before(below, item)) break
      this.#place(below, at)
      at = child
    }
    this.#place(item, at)
  }

  #place(item: A, at: number): void {
    this.#items[at] = item
    item.position = at
  }
}

import fc from "fast-check"
import { expect, it } from "vitest"
import { Heap, type HeapItem } from "../../../src/runtime/time/heap.ts"

interface Item extends HeapItem {
  readonly key: number
}

const item = (key: number): Item => ({ key, position: -1 })
const heapOf = (keys: readonly number[]): { heap: Heap<Item>; items: Item[] } => {
  const heap = new Heap<Item>((a, b) => a.key < b.key)
  const items = keys.map(item)
  for (const each of items) heap.push(each)
  return { heap, items }
}
const drain = (heap: Heap<Item>): number[] => {
  const keys: number[] = []
  for (let next = heap.pop(); next !== undefined; next = heap.pop()) keys.push(next.key)
  return keys
}
const sorted = (keys: readonly number[]): number[] => keys.toSorted((a, b) => a - b)

it("gives out what was put in, in order", () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (keys) => {
      expect(drain(heapOf(keys).heap)).toEqual(sorted(keys))
    }),
  )
})

it("gives up any item from anywhere and keeps the others in order", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer(), fc.boolean())), (entries) => {
      const { heap, items } = heapOf(entries.map(([key]) => key))
      entries.forEach(([, removed], index) => removed && heap.remove(items[index]!))
      expect(drain(heap)).toEqual(sorted(entries.filter(([, removed]) => !removed).map(([key]) => key)))
    }),
  )
})

it("removing an item that isn't in changes nothing", () => {
  const { heap, items } = heapOf([3, 1, 2])
  heap.remove(items[1]!)
  heap.remove(items[1]!)
  heap.remove(item(0))
  expect(heap.size).toBe(2)
  expect(heap.peek()?.key).toBe(2)
})

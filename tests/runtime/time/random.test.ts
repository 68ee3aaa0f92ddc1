import { expect, it } from "vitest"
import { SeededRandom } from "../../../src/runtime/time/random.ts"

const take = (seed: number, count: number): number[] => {
  const random = new SeededRandom(seed)
  return Array.from({ length: count }, () => random.next())
}

it("the same seed gives the same numbers on every runtime", () => {
  const random = new SeededRandom(42)
  expect([random.uint32(), random.uint32(), random.uint32(), random.id()]).toMatchInlineSnapshot(`
    [
      876062384,
      1664327330,
      517209512,
      "6jHz9OBNGBBuihC1",
    ]
  `)
})

it("seeds that differ anywhere in their 53 bits give different numbers", () => {
  const firsts = [0, 1, 2, 2 ** 32, 2 ** 32 + 1, 2 ** 52].map((seed) => take(seed, 1)[0])
  expect(new Set(firsts).size).toBe(firsts.length)
})

it("numbers are in [0, 1) and spread evenly", () => {
  const counts = Array.from({ length: 10 }, () => 0)
  const numbers = take(1, 100_000)
  expect(numbers.filter((number) => !(number >= 0 && number < 1))).toEqual([])
  for (const number of numbers) counts[Math.floor(number * 10)]!++
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500)
})

it("10,000 ids are distinct and of 16 characters that need no escaping", () => {
  const random = new SeededRandom(1)
  const ids = Array.from({ length: 10_000 }, () => random.id())
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.filter((id) => !/^[\w-]{16}$/.test(id))).toEqual([])
})

// The examples of docs/testing.md, "One sandbox in a test", word for word: tests/testing/page.test.ts compares them.

// --- example: what they import
import { defineSandbox, ManagerClosedError } from "leasehold"
import { testWorker } from "leasehold/testing"
import { expect, it } from "vitest"
import * as z from "zod"
// --- end

// --- example: a meter that bills by the minute
const meter = defineSandbox({
  name: "meter",
  schema: z.object({ minutes: z.number() }),
  restore: ({ checkpoint }) => ({ minutes: checkpoint?.minutes ?? 0 }),
  async run(state, { clock, turn }) {
    for (;;) {
      await clock.sleep("1 min")
      await turn(() => void state.minutes++)
    }
  },
  checkpoint: ({ minutes }) => ({ minutes }),
})

it("goes on counting where the last process stopped", async () => {
  await using worker = await testWorker(meter, { checkpoint: { minutes: 58 } })
  await worker.advance("2 min")
  const next = await worker.requestHandoff()
  expect(await next.saved()).toEqual({ minutes: 60 })
  await next.advance("1 min")
  expect(await next.use(({ minutes }) => minutes)).toBe(61)
})
// --- end

// --- example: an order that is paid once
const order = defineSandbox({
  name: "order",
  schema: z.object({ paid: z.array(z.string()) }),
  restore: ({ checkpoint }) => ({ paid: new Set(checkpoint?.paid) }),
  checkpoint: ({ paid }) => ({ paid: [...paid] }),
})

it("remembers a payment that was acknowledged, though the answer to its write was lost and the process died", async () => {
  await using worker = await testWorker(order)
  worker.fault("loseAnswer")
  await worker.use(({ paid }) => void paid.add("payment-1"), { durable: true })
  await worker.use(({ paid }) => void paid.add("payment-2")) // not durable: it may be lost
  const next = await worker.crash()
  expect(await next.saved()).toEqual({ paid: ["payment-1"] })
})
// --- end

// Tests processes: A worker under test can be crashed, stopped and handed over at any moment of a use.
// --- example: a planted bug
const basket = (save: (items: Map<string, number>) => [string, number][]) =>
  defineSandbox({
    name: "basket",
    schema: z.object({ items: z.array(z.tuple([z.string(), z.number()])) }),
    restore: ({ checkpoint }) => ({ items: new Map(checkpoint?.items) }),
    checkpoint: ({ items }) => ({ items: save(items) }),
  })

/** What anybody would test of any basket: it is the same before and after it moves. */
async function movesUnchanged(sandbox: ReturnType<typeof basket>): Promise<void> {
  await using worker = await testWorker(sandbox)
  const before = await worker.use(({ items }) => [...items.set("apple", 2).set("pear", 0)])
  const next = await worker.requestHandoff()
  expect(await next.use(({ items }) => [...items])).toEqual(before)
}

it("finds a basket that forgets what it has none of", async () => {
  await movesUnchanged(basket((items) => [...items]))
  const forgetful = basket((items) => [...items].filter(([, count]) => count > 0))
  await expect(movesUnchanged(forgetful)).rejects.toThrow(/pear/)
})
// --- end

// --- example: a use whose process dies
it("ends a use whose process dies in the middle of it", async () => {
  await using worker = await testWorker(order)
  const refused = worker.use((_, { clock }) => clock.sleep("10 s")).catch((error: unknown) => error)
  await worker.advance("4 s")
  const next = await worker.crash()
  expect(await refused).toBeInstanceOf(ManagerClosedError)
  expect(await next.saved()).toBeUndefined()
})
// --- end

// The published use case of lock providers: a payment is captured once, whoever asks, on a lock in memory and on a file
// store.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type LockProvider, memoryLockProvider, noLockProvider, storeLockProvider } from "leasehold"
import { fileStore } from "leasehold/file"
import { afterAll, describe, expect, it, vi } from "vitest"
import { booksInMemory } from "../../examples/capture-payment/books.ts"
import { type Books, capture } from "../../examples/capture-payment/payments.ts"

const directory = mkdtempSync(join(tmpdir(), "leasehold-payments-"))
const providers: Readonly<Record<string, () => LockProvider>> = {
  "in memory": () => memoryLockProvider(),
  "on a file store": () => storeLockProvider({ store: fileStore({ directory }) }),
}

afterAll(() => rmSync(directory, { recursive: true }))

const authorized = { id: "p-1", state: "authorized" } as const

describe.each(Object.entries(providers))("capturing a payment under a lock %s", (_name, make) => {
  // Tests providers: Sections of one key run in the order of the calls, and release the key however they end.
  it("twice at once with one idempotency key captures once, and both get the same answer", async () => {
    const books = booksInMemory(authorized)
    const locks = make()
    const answers = await Promise.all([capture(locks, books, "p-1", "r"), capture(locks, books, "p-1", "r")])
    expect(answers[0]).toMatchObject({ outcome: "captured", payment: { capturedBy: "r" } })
    expect(answers[1]).toEqual(answers[0])
    expect([books.charges, books.changes.length]).toEqual([1, 1])
  })

  it("at once with different idempotency keys: one wins, the other is told so, and the state changes once", async () => {
    const books = booksInMemory(authorized)
    const locks = make()
    const answers = await Promise.all([capture(locks, books, "p-1", "r-1"), capture(locks, books, "p-1", "r-2")])
    expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual(["already captured", "captured"])
    expect(answers[0].payment).toEqual(answers[1].payment)
    expect([books.charges, books.changes.length]).toEqual([1, 1])
  })

  it("releases the key when the charge fails: the next try captures", async () => {
    const books = booksInMemory(authorized)
    const locks = make()
    const broken: Books = {
      ...books,
      find: (id) => books.find(id),
      charge: () => Promise.reject(new Error("declined")),
    }
    await expect(capture(locks, broken, "p-1", "r")).rejects.toThrow("declined")
    expect(await capture(locks, books, "p-1", "r")).toMatchObject({ outcome: "captured" })
    expect([books.charges, books.changes.length]).toEqual([1, 1])
  })
})

it("without a lock the customer pays twice: the tests above would notice", async () => {
  const books = booksInMemory(authorized)
  const locks = noLockProvider()
  await Promise.all([capture(locks, books, "p-1", "r"), capture(locks, books, "p-1", "r")])
  expect(books.charges).toBe(2)
})

it("the example captures once what three requests ask for at once, and says so", async () => {
  const said: unknown[] = []
  const log = vi.spyOn(console, "log").mockImplementation((line) => void said.push(line))
  try {
    await import("../../examples/capture-payment/main.ts")
  } finally {
    log.mockRestore()
  }
  expect(said).toEqual(["captured, by r-1", "captured, by r-1", "already captured, by r-1", "charged 1 time"])
})

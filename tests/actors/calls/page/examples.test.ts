/** The examples of docs/calls.md, word for word: page.test.ts compares them. */
// --- example: a definition with calls
import { CallThrewError, defineSandbox, type SandboxManager } from "leasehold"
import { testWorker } from "leasehold/testing"
import { expect, it } from "vitest"
import * as z from "zod"

const amount = z.number().int().positive()

/** The balance of one customer. */
const account = defineSandbox({
  name: "account",
  schema: z.object({ cents: z.number() }),
  restore: ({ checkpoint }) => ({ cents: checkpoint?.cents ?? 0 }),
  checkpoint: ({ cents }) => ({ cents }),
  calls: {
    deposit: {
      durable: true,
      input: z.object({ cents: amount }),
      handle: (state, { cents }) => (state.cents += cents),
    },
    withdraw: {
      durable: true,
      input: z.object({ cents: amount }),
      output: z.object({ left: z.number() }),
      handle: (state, { cents }) => {
        if (cents > state.cents) throw Object.assign(new Error("too little is there"), { code: "TOO_LITTLE" })
        state.cents -= cents
        return { left: state.cents }
      },
    },
    balance: { readonly: true, handle: (state) => state.cents },
  },
})
// --- end

// --- example: calls that may come again
/** What a payment provider sends, again and again until it is answered. */
interface Payment {
  readonly id: string
  readonly customer: string
  readonly cents: number
  /** In Unix milliseconds. */
  readonly created: number
}

/** The balance by then. */
const onPayment = (manager: SandboxManager, { id, customer, cents, created }: Payment): Promise<number> =>
  manager.call(account, customer, "deposit", { cents }, { id, sentAt: created })

/** False where too little is there. */
async function withdraw(manager: SandboxManager, customer: string, cents: number): Promise<boolean> {
  try {
    await manager.call(account, customer, "withdraw", { cents })
    return true
  } catch (error) {
    if (error instanceof CallThrewError && error.thrown.code === "TOO_LITTLE") return false
    throw error
  }
}
// --- end

// --- example: the test
it("counts a payment once, however often it comes, and though the process is killed in between", async () => {
  const worker = await testWorker(account, { key: "ada" })
  const payment = { id: "pay_1", customer: "ada", cents: 500, created: worker.time.read().wall }
  expect(await worker.run(onPayment(worker.manager, payment))).toBe(500)
  await using next = await worker.crash()
  expect(await next.run(onPayment(next.manager, payment))).toBe(500)
  expect(await next.run(withdraw(next.manager, "ada", 501))).toBe(false)
  expect(await next.run(next.manager.call(account, "ada", "balance"))).toBe(500)
})
// --- end

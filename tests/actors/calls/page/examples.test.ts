/** The examples of docs/calls.md, word for word: page.test.ts compares them. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
// --- example: a definition with calls
import { CallThrewError, defineSandbox, SandboxManager } from "leasehold"
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

// --- example: workers that send calls to each other
import { fileStore } from "leasehold/file"
import { listen, serveWorker } from "leasehold/http"

/** One worker of a fleet. All share the directory, and the secret (by default that of LEASEHOLD_SECRET). */
async function startWorker(directory: string, secret: string) {
  const server = await listen({ port: 0 }) // answers 503 until there is a worker
  const store = fileStore({ directory })
  const manager = await SandboxManager.start({ store, sandboxes: [account], address: server.address })
  server.serve(serveWorker(manager, { secret }))
  return { manager, server }
}
// --- end

// --- example: a client
import { client } from "leasehold/client"
import { signedBy } from "leasehold/http"

/** In a web server that is no worker. */
function accountsAt(workers: readonly string[], secret: string) {
  const { call } = client([account], { workers, auth: signedBy(secret) })
  return { deposit: (customer: string, cents: number) => call(account, customer, "deposit", { cents }) }
}
// --- end

it("is answered by its owner, wherever it is called", async () => {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-calls-"))
  const secret = "a-secret-of-these-two-workers"
  try {
    await using stack = new AsyncDisposableStack()
    const workers = [await startWorker(directory, secret), await startWorker(directory, secret)]
    for (const { manager, server } of workers) {
      stack.use(server)
      stack.use(manager)
    }
    const [a, b] = workers.map(({ manager }) => manager)
    expect(await a!.call(account, "eve", "deposit", { cents: 5 })).toBe(5)
    expect(await b!.call(account, "eve", "deposit", { cents: 5 })).toBe(10)
    expect([b!.stats().owning, b!.stats().callsForwarded]).toEqual([0, 1])
    const { deposit } = accountsAt([workers[1]!.server.address], secret)
    expect(await deposit("eve", 5)).toBe(15)
  } finally {
    await rm(directory, { recursive: true })
  }
})

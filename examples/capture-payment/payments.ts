/**
 * Captures payments, each once: a payment is authorized, and then captured by one request, however many arrive at once
 * and however often one is sent again. All of it happens in a section on the payment's key, so that what is looked up
 * is still true when it is acted on.
 */
import type { LockProvider } from "leasehold"

/** A payment as the books have it. */
export interface Payment {
  readonly id: string
  readonly state: "authorized" | "captured"
  /** Unix milliseconds. */
  readonly capturedAt?: number
  /** Of the request that captured it: sent again, it gets the same answer again. */
  readonly capturedBy?: string
}

/** What a request to capture gets. */
export type Answer =
  | { readonly outcome: "captured"; readonly payment: Payment }
  | { readonly outcome: "already captured"; readonly payment: Payment }

/** Where payments are kept, and who takes the money. */
export interface Books {
  find(id: string): Promise<Payment | undefined>
  /** A change of state. It is kept for good, for people to read. */
  change(payment: Payment): Promise<void>
  /** Moves the money. Costs it, if called twice. */
  charge(payment: Payment): Promise<void>
}

/** Captures a payment. `idempotencyKey` names the request: whoever sends it again uses the same one. */
export async function capture(locks: LockProvider, books: Books, id: string, idempotencyKey: string): Promise<Answer> {
  return locks.withLock(`payments/${id}`, async ({ clock }) => {
    const payment = await books.find(id)
    if (payment === undefined) throw new Error(`there is no payment ${id}`)
    if (payment.state === "captured")
      return { outcome: payment.capturedBy === idempotencyKey ? "captured" : "already captured", payment }
    await books.charge(payment)
    // The time is read in here: no other capture of this payment lies between it and what it stands for.
    const captured: Payment = { ...payment, state: "captured", capturedAt: clock.now(), capturedBy: idempotencyKey }
    await books.change(captured)
    return { outcome: "captured", payment: captured }
  })
}

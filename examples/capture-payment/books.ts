/** Books in memory, which take their time as a database does, and count what a payment service would charge for. */
import type { Books, Payment } from "./payments.ts"

/** Books with a history. */
export interface BooksInMemory extends Books {
  /** How often money was moved. */
  readonly charges: number
  /** Every change of state, in order. */
  readonly changes: readonly Payment[]
}

/** The books, with these payments in them. Each look, change and charge takes a turn in which others come between. */
export function booksInMemory(...payments: readonly Payment[]): BooksInMemory {
  const known = new Map(payments.map((payment) => [payment.id, payment]))
  const changes: Payment[] = []
  let charges = 0
  const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
  return {
    get charges() {
      return charges
    },
    changes,
    async find(id) {
      await turn()
      return known.get(id)
    },
    async change(payment) {
      await turn()
      changes.push(payment)
      known.set(payment.id, payment)
    },
    async charge() {
      await turn()
      charges++
    },
  }
}

// Three requests to capture one payment arrive at once; the customer pays once.
//     node --conditions=leasehold-source examples/capture-payment/main.ts
import { memoryLockProvider } from "leasehold"
import { booksInMemory } from "./books.ts"
import { capture } from "./payments.ts"

const locks = memoryLockProvider() // between processes: storeLockProvider({ store: fileStore({ directory }) })
const books = booksInMemory({ id: "p-1", state: "authorized" })
const answers = await Promise.all(["r-1", "r-1", "r-2"].map((request) => capture(locks, books, "p-1", request)))
for (const { outcome, payment } of answers) console.log(`${outcome}, by ${payment.capturedBy}`)
console.log(`charged ${books.charges} time`)

/** `leasehold status <key>`: who owns it, by one read of its record once the store can be read (session.ts). */
import { checkKey } from "../locks/keys.ts"
import { EXIT } from "./exit-codes.ts"
import { described, readKey } from "./records.ts"
import { readSession } from "./session.ts"
import { shown } from "./show.ts"
import type { Action } from "./syntax.ts"

export const status: Action = async (call) => {
  const [key = ""] = call.operands
  checkKey(key)
  await using session = await readSession(call)
  const reading = await readKey(session.store, key)
  call.output.result({ store: session.store.name, ...described(reading) }, (styles) => shown(reading, styles))
  return EXIT.ok
}

/** `leasehold status <key>`: who owns it, by one read of its record once the store can be read (session.ts). */
import { checkKey } from "../../locks/api/keys.ts"
import { EXIT } from "../errors/exit-codes.ts"
import type { CommandAction } from "../frame/syntax.ts"
import { described, readKey } from "../stores/records.ts"
import { readSession } from "../stores/session.ts"
import { shown } from "../stores/show.ts"

export const status: CommandAction = async (call) => {
  const [key = ""] = call.operands
  checkKey(key)
  await using session = await readSession(call)
  const reading = await readKey(session.store, key)
  call.output.result({ store: session.store.name, ...described(reading) }, (styles) => shown(reading, styles))
  return EXIT.ok
}

/** `leasehold ls [prefix]`: the keys of a store, and who owns them. */
import { printable } from "../../locks/printable.ts"
import { named, ownerOf } from "../../locks/record.ts"
import { EXIT } from "../errors/exit-codes.ts"
import { span } from "../frame/moments.ts"
import { type Styles, table } from "../frame/output.ts"
import type { CommandAction } from "../frame/syntax.ts"
import { described, type KeyReading, readAll, type Unreadable } from "../stores/records.ts"
import { readSession } from "../stores/session.ts"

export const ls: CommandAction = async (call) => {
  const [prefix = ""] = call.operands
  const owned = call.options["owned"] === true
  await using session = await readSession(call)
  const keys: KeyReading[] = []
  const unreadable: Unreadable[] = []
  for await (const read of readAll(session.store, prefix)) {
    if ("problem" in read) unreadable.push(read)
    else if (!owned || read.state === "owned" || read.state === "expired") keys.push(read)
  }
  const result = {
    store: session.store.name,
    keys: keys.map(described),
    unreadable: unreadable.map(({ name, generation, problem }) => ({ name, generation, problem: problem.message })),
  }
  call.output.result(result, (styles) => listed(keys, unreadable, styles))
  return unreadable.length > 0 ? EXIT.corrupt : EXIT.ok
}

function listed(keys: readonly KeyReading[], unreadable: readonly Unreadable[], { dim, red }: Styles): string {
  if (keys.length + unreadable.length === 0) return dim("No keys.")
  const rows = keys.map((reading) => [printable(reading.key), reading.state, ...columns(reading)])
  const broken = unreadable.map(({ name, problem }) => red(printable(`${name}: ${problem.message}`)))
  return [...(rows.length === 0 ? [] : [table([["KEY", "STATE", "ENDS IN", "OWNER"], ...rows])]), ...broken].join("\n")
}

function columns({ record, storeTime }: KeyReading): [string, string] {
  const owner = ownerOf(record)
  if (owner === undefined) return ["-", "-"]
  const left = storeTime === undefined ? "?" : owner.expiresAt < storeTime ? "over" : span(owner.expiresAt - storeTime)
  return [left, named(owner)]
}

/** A key's record in words. */
import { printable } from "../../locks/printable.ts"
import { named, ownerOf } from "../../locks/record.ts"
import { moment } from "../frame/moments.ts"
import type { Styles } from "../frame/output.ts"
import { table } from "../frame/output.ts"
import { groupsOf, type KeyReading, type KeyState } from "./records.ts"

/** What a state means. */
const meanings: Readonly<Record<KeyState, string>> = {
  owned: "owned",
  expired: "owned by one whose lease is over; the next who wants it takes it",
  reserved: "free, for its waiter alone",
  released: "free",
  absent: "free; it has no record",
}

/** The meaning of a state. A process group that still works keeps an expired key on its machine. */
function meaning({ state, record }: KeyReading): string {
  const works = state === "expired" && groupsOf(record).length > 0
  return works ? `${meanings.expired}, on its machine once what works there has ended` : meanings[state]
}

/** All of it, a line each. */
export function shown(reading: KeyReading, { bold, dim }: Styles): string {
  const facts = factsOf(reading).map(([name, value]) => [`  ${dim(name)}`, printable(value)])
  return `${bold(printable(reading.key))}  ${meaning(reading)}\n${table(facts)}`
}

function factsOf({ record, generation, storeTime }: KeyReading): [string, string][] {
  const owner = ownerOf(record)
  const facts: [string, string][] = []
  if (owner !== undefined) {
    facts.push(["owner", named(owner)])
    if (owner.address !== undefined) facts.push(["address", owner.address])
    if (owner.since !== undefined) facts.push(["since", moment(owner.since, storeTime)])
    facts.push(["until", `${moment(owner.expiresAt, storeTime)}, unless it is renewed`])
    facts.push(["token", owner.token === 0 ? "none: its owner publishes none" : String(owner.token)])
    const groups = groupsOf(record)
    if (groups.length > 0)
      facts.push(["at work", `process ${groups.length === 1 ? "group" : "groups"} ${groups.join(", ")}`])
  }
  if (record != null && record.waitingOwnerId !== null) facts.push(["waiter", JSON.stringify(record.waitingOwnerId)])
  if (record?.lastRelease !== undefined)
    facts.push(["ended", `token ${record.lastRelease.token}, by ${record.lastRelease.how}`])
  facts.push(["generation", generation])
  return facts
}

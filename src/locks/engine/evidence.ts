/**
 * Adds to a read what this machine knows of the processes that the record names. The protocol judges the record with
 * it; nothing is judged here.
 */
import type { Evidence, Input, View } from "../protocol/rules/state.ts"
import { type LeaseRecord, parseRecord } from "../record.ts"
import type { ProcessOracle } from "../stores/port.ts"

type Read = Extract<Input, { type: "read" }>

/** Where a read was made, and what was read before. */
interface ReadContext {
  readonly key: string
  /** The boot to which the store's time belongs; null: it means the same everywhere. */
  readonly bootId: string | null
  readonly view: View | undefined
}

/** The answer to a read, with what the oracle knows of the processes that it shows. */
export function examined(oracle: ProcessOracle, read: Read, { key, bootId, view }: ReadContext): Read {
  const { answer } = read
  const shown = shownBy(key, answer, view)
  if (shown === undefined) return read
  const evidence = evidenceOf(oracle, shown, (record) => stands(record, answer.storeTime, bootId))
  const known = { ...answer, ...(evidence !== undefined && { evidence }) }
  return { ...read, answer: known.kind === "found" ? { ...known, record: shown } : known }
}

function evidenceOf(
  oracle: ProcessOracle,
  record: LeaseRecord,
  isStanding: (record: LeaseRecord) => boolean,
): Evidence | undefined {
  const hosts = { owner: record.owner?.host, waiter: record.waiter?.host }
  const owner = hosts.owner == null ? undefined : oracle.livenessOf(hosts.owner, isStanding(record))
  const waiter = hosts.waiter == null ? undefined : oracle.livenessOf(hosts.waiter)
  return owner === undefined && waiter === undefined ? undefined : { owner, waiter }
}

/**
 * Whether the owner's lease isn't over by the date in the answer. A lease with an end further away than twice its
 * length doesn't count. Neither does one that another boot or another clock stamped: that one is judged by observation.
 */
function stands({ expiresAt, owner }: LeaseRecord, date: number | undefined, bootId: string | null): boolean {
  if (date === undefined || owner === undefined || (owner.host?.bootId ?? null) !== bootId) return false
  return expiresAt > date && expiresAt - date <= 2 * owner.ttlMs
}

/** The record that a read shows. Undefined where it can't be parsed, of which the protocol makes an error. */
function shownBy(key: string, answer: Read["answer"], view: View | undefined): LeaseRecord | undefined {
  if (answer.kind === "unchanged") return view?.generation === answer.generation ? view.record : undefined
  if (answer.kind !== "found") return undefined
  try {
    return parseRecord(key, answer.text)
  } catch {
    return undefined
  }
}

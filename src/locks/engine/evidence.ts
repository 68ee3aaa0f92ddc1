/**
 * What this machine says of the processes in a record, gathered whenever a read shows it: the protocol judges the one with
 * the other. Owns no judgement.
 */
import type { Evidence, Input, View } from "../protocol/rules/state.ts"
import { type LeaseRecord, parseRecord } from "../record.ts"
import type { ProcessOracle } from "../stores/port.ts"

type Read = Extract<Input, { type: "read" }>

/** Who reads, and what it has read before. */
interface ReadContext {
  readonly key: string
  /** The boot in which its store's time means something; null: everywhere. */
  readonly bootId: string | null
  readonly view: View | undefined
}

/** The answer to a read, with what the oracle knows of the processes that it shows. */
export function examined(oracle: ProcessOracle, read: Read, { key, bootId, view }: ReadContext): Read {
  const { storeTime } = read.answer
  const evidence = evidenceOf(oracle, shown(key, read, view), (record) => stands(record, storeTime, bootId))
  return evidence === undefined ? read : { ...read, answer: { ...read.answer, evidence } }
}

function evidenceOf(
  oracle: ProcessOracle,
  record: LeaseRecord | undefined,
  isStanding: (record: LeaseRecord) => boolean,
): Evidence | undefined {
  const hosts = { owner: record?.owner?.host, waiter: record?.waiter?.host }
  const owner = hosts.owner == null ? undefined : oracle.livenessOf(hosts.owner, isStanding(record!))
  const waiter = hosts.waiter == null ? undefined : oracle.livenessOf(hosts.waiter)
  return owner === undefined && waiter === undefined ? undefined : { owner, waiter }
}

/**
 * Whether the owner's lease is one of its length that isn't over by the date in the answer. Another boot's, or one that another
 * clock of this one stamped, is judged by observation: its groups matter whatever its date is.
 */
function stands({ expiresAt, owner }: LeaseRecord, date: number | undefined, bootId: string | null): boolean {
  if (date === undefined || owner === undefined || (owner.host?.bootId ?? null) !== bootId) return false
  return expiresAt > date && expiresAt - date <= 2 * owner.ttlMs
}

/** Nothing, where it can't be read: the protocol will say so. */
function shown(key: string, { answer }: Read, view: View | undefined): LeaseRecord | undefined {
  if (answer.kind === "unchanged") return view?.generation === answer.generation ? view.record : undefined
  if (answer.kind !== "found") return undefined
  try {
    return parseRecord(key, answer.text)
  } catch {
    return undefined
  }
}

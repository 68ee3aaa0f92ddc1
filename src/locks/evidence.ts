/**
 * What this machine says of the processes in a record, gathered whenever a read shows it: the protocol judges the one with
 * the other. Owns no judgement.
 */
import type { Evidence, Input, View } from "./protocol/state.ts"
import { type LeaseRecord, parseRecord } from "./record.ts"
import type { Witness } from "./store.ts"

type Read = Extract<Input, { type: "read" }>

/** The answer to a read, with what the witness knows of the processes that it shows. `view`: what was read before. */
export function examined(witness: Witness, key: string, read: Read, view: View | undefined): Read {
  const evidence = evidenceOf(witness, shown(key, read, view))
  return evidence === undefined ? read : { ...read, answer: { ...read.answer, evidence } }
}

function evidenceOf(witness: Witness, record: LeaseRecord | undefined): Evidence | undefined {
  const [owner, waiter] = [record?.owner?.host, record?.waiter?.host].map((host) =>
    host == null ? undefined : witness.testify(host),
  )
  return owner === undefined && waiter === undefined ? undefined : { owner, waiter }
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

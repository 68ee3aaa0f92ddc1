/** What the store says of a sandbox beside what its worker believes. Pure. */
import type { Fleet } from "../../live/model/fleet.ts"
import { partsOf } from "../../live/model/states.ts"
import type { SandboxDetail, SandboxRow } from "../../live/model/wire.ts"

/** One fact, twice. */
export interface Comparison {
  readonly name: string
  readonly worker: string | null
  readonly store: string | null
  /** They say different things of the same: `differs`. `unknown` where one says nothing. */
  readonly verdict: "same" | "differs" | "unknown"
}

/** What a record says, where there is one that can be read. */
export type StoreRecord = Exclude<SandboxDetail["store"], null | { readonly error: string }>

/**
 * In milliseconds: a record may be older than what its worker believes by a renewal that is under way, and by how far
 * the two clocks are apart where no offset is known.
 */
const SAME_MOMENT = 2000

/** The facts that both may know. `record` is null where the store has none. */
export function comparisonsOf(row: SandboxRow, record: StoreRecord | null, fleet: Fleet): readonly Comparison[] {
  const worker = fleet.workers.get(row.worker)
  const { top } = partsOf(row.value)
  const isHolder = top === "owning" || top === "handingOff"
  const nameOf = (id: string | null): string | null => (id === null ? null : (fleet.nameOf(id) ?? id))
  const believed = isHolder ? worker?.ownerId || null : (row.owner?.ownerId ?? null)
  const stored = record?.ownerId ?? null
  const isKnown = isHolder || top === "waiting"
  const expiry =
    row.deadline === null || worker?.guard == null ? null : row.deadline + worker.guard - (worker.clockOffset ?? 0)
  return [
    fact(
      "owner",
      isKnown ? (nameOf(believed) ?? (isHolder ? row.worker : null)) : null,
      nameOf(stored) ?? "nobody",
      isKnown,
    ),
    fact("token", isHolder ? text(row.token) : null, text(record?.token ?? null), isHolder),
    moment(expiry, record?.expiresAt ?? null),
    fact(
      "waiter",
      isHolder ? (nameOf(row.waiterId) ?? "nobody") : null,
      nameOf(record?.waiterId ?? null) ?? "nobody",
      isHolder,
    ),
  ]
}

const text = (value: number | null): string | null => (value === null ? null : String(value))

function fact(name: string, worker: string | null, store: string | null, isComparable: boolean): Comparison {
  const isKnown = isComparable && worker !== null
  return { name, worker, store, verdict: !isKnown ? "unknown" : worker === store ? "same" : "differs" }
}

function moment(worker: number | null, store: number | null): Comparison {
  const [mine, theirs] = [worker, store === 0 ? null : store]
  const isKnown = mine !== null && theirs !== null
  const verdict = !isKnown ? "unknown" : Math.abs(mine - theirs) <= SAME_MOMENT ? "same" : "differs"
  return { name: "expires", worker: text(mine), store: text(theirs), verdict }
}

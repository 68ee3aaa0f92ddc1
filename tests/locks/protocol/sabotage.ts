/**
 * Ways to break what the protocol rests on, or to make it do what a careless one would, without touching its source: by
 * configuration, by clocks, and by answers changed on their way. They show that the tests would notice.
 */
import type { LockConfig } from "../../../src/locks/protocol/rules/state.ts"
import type { ProcessModel } from "./process-model.ts"
import type { StoreModel } from "./store-model.ts"
import type { Result, WorldOptions } from "./world.ts"

export interface Sabotage {
  readonly config?: Partial<LockConfig>
  /** How far the dates disagree that two processes get, in milliseconds. */
  readonly disagreement?: number
  /** The boot clock doesn't count suspend, and nobody can tell. */
  readonly sleepUnnoticed?: boolean
  /** What should be fresh at every step of a process is always the same. */
  readonly stale?: boolean
  /** An owner takes a refused write for the loss of its lease. */
  readonly refusedIsLost?: boolean
  /** A stranger's pair seems to change with every generation of the record. */
  readonly generationIsPair?: boolean
}

/** Changes answers as the sabotage has it. */
export function saboteur(sabotage: Sabotage): NonNullable<WorldOptions["twist"]> {
  const misled = new WeakSet<ProcessModel>()
  return ({ process }, result, store) => {
    if (sabotage.refusedIsLost && result.kind === "refused" && process.phase === "owning") misled.add(process)
    else if (isRead(result) && misled.delete(process)) return { kind: "absent", storeTime: result.storeTime! }
    return sabotage.generationIsPair && isRead(result) ? perturbed(result, store) : result
  }
}

const isRead = ({ kind }: Result): boolean => kind === "found" || kind === "unchanged" || kind === "absent"

/** A stranger's expiry grows by a millisecond with every generation, in the eyes of who reads it. */
function perturbed(result: Result, store: StoreModel): Result {
  const { text, generation } = store
  if (text === undefined) return result
  const body = store.body as { ownerId: string | null; expiresAt: number; owner?: { for?: string } | null }
  if (body.ownerId === null || body.owner?.for === body.ownerId) return result
  const expiresAt = body.expiresAt + Number(generation.slice(1)) / 1000
  return { kind: "found", generation, text: JSON.stringify({ ...body, expiresAt }), storeTime: result.storeTime! }
}

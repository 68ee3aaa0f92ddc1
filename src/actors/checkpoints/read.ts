/**
 * Saved state read without a lease: one head, and the bytes it leads to.
 *
 * Not promised: that it is current. An owner may write while it is read, and may have written much that isn't saved
 * yet.
 */
import { ABSENT, type CheckpointStore, type ObjectStore } from "../../locks/stores/port.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { fetchContent, type Fetched } from "./content/content.ts"
import { type Head, HEAD_LIMIT, HEAD_REQUEST_MS, inlineBytes, parseHead } from "./head/head.ts"
import type { Seen } from "./head/types.ts"
import { headRef } from "./objects/names.ts"
import { parted, type SavedParts } from "./objects/parts.ts"
import { Again, insist, type Patience } from "./objects/patience.ts"
import { corruptContent, corruptHead, orFail, type StatePlace } from "./objects/problems.ts"

/** Where to read, and for how long. */
export interface ReadFrom {
  readonly store: CheckpointStore
  readonly clock: Clock
  /** In milliseconds. */
  readonly budget: number
  readonly signal?: AbortSignal | undefined
}

/** Whose head. */
export interface HeadOf {
  readonly lockKey: string
  /** The definition's name; without one, any is taken. */
  readonly type?: string
}

/** Saved state with the version of the definition that saved it. */
export interface SavedBytes {
  /** Of the state alone. */
  readonly bytes: Uint8Array
  readonly version: number
}

/**
 * One head, or undefined where there is none. Rejects with CorruptCheckpointError, FormatVersionError,
 * StoreUnavailableError, StoreMisconfiguredError or, when the signal aborts, LockCancelledError.
 */
export async function readHead(from: ReadFrom, of: HeadOf): Promise<Head | undefined> {
  return (await readSeen(from.store, placeOf(from, of), patienceOf(from))).head ?? undefined
}

/** The saved state, or undefined where nothing is saved or it was removed. Rejects as `readHead` does. */
export async function readCheckpointBytes(from: ReadFrom, of: HeadOf): Promise<SavedBytes | undefined> {
  const place = placeOf(from, of)
  const patience = patienceOf(from)
  for (let isAgain = false; ; isAgain = true) {
    const seen = await readSeen(from.store, place, patience, isAgain)
    const saved = await savedParts(from.store, place, seen, patience)
    if (saved === undefined) return undefined
    if (saved !== "moved") return { bytes: saved.state, version: seen.head!.version }
  }
}

/** One version of the head; `byStore`: not one that a cache kept. Rejects as `readHead` does. */
async function readSeen(store: ObjectStore, place: StatePlace, patience: Patience, byStore = false): Promise<Seen> {
  const seen = await insist<Seen>(patience, HEAD_REQUEST_MS, async (request) => {
    const answer = await store.read(headRef(place.lockKey), { ...request, limit: HEAD_LIMIT })
    switch (answer.kind) {
      case "found": {
        const mayBeCached = answer.storeTime === undefined && store.capabilities.clock !== "none"
        if (byStore && mayBeCached) return new Again()
        return { generation: answer.generation, head: parseHead(answer.body, place) }
      }
      case "absent":
        return { generation: ABSENT, head: null }
      case "tooLarge":
        throw corruptHead(place, `is over ${HEAD_LIMIT} bytes`)
      case "unchanged":
        return new Again()
      case "failed":
        if (!answer.error.retryable) throw answer.error
        return new Again(answer.error)
    }
  })
  return seen instanceof Again ? orFail(seen, place, "Reading the head", patience.signal) : seen
}

/**
 * What a head holds; undefined where it holds none. `moved`: its content isn't there because the head has
 * been written since. CorruptCheckpointError where it hasn't. `fetched` is a download that was begun before.
 */
export async function savedParts(
  store: ObjectStore,
  place: StatePlace,
  { head, generation }: Seen,
  patience: Patience,
  fetched?: Promise<Fetched>,
): Promise<SavedParts | undefined | "moved"> {
  if (head === null || head.saved.state === "none" || head.saved.state === "removed") return undefined
  if (head.saved.state === "inline") return parted(inlineBytes(head.saved, place), head.saved.calls)
  const result = await (fetched ?? fetchContent(store, place, head.saved, patience))
  if (result.kind === "bytes") return parted(result.bytes, head.saved.calls)
  const again = await readSeen(store, place, patience, true)
  if (again.generation !== generation) return "moved"
  const why = result.kind === "missing" ? "isn't there" : "doesn't match its checksum"
  throw corruptContent(place, head.saved.content, why)
}

const placeOf = ({ store }: ReadFrom, of: HeadOf): StatePlace => ({ store: store.name, ...of })

/** The budget from now on. */
export const patienceOf = ({ clock, store, budget, signal }: ReadFrom): Patience => ({
  clock,
  store,
  until: clock.read().mono + budget,
  signal,
})

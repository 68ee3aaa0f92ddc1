/**
 * Which sandboxes of a definition have saved state, read from the names of the heads and from the heads themselves.
 * Only a head says that its sandbox was removed, and what the key of a long name is.
 *
 * Not promised: one moment in time. What is made or removed while the listing goes on may be there or not.
 */
import { CorruptCheckpointError, FormatVersionError } from "../../locks/api/errors.ts"
import { decodeName, encodeName, namePrefix, sandboxLockKey, splitSandboxLockKey } from "../../locks/api/keys.ts"
import type { ObjectRef, ReadAnswer } from "../../locks/stores/port.ts"
import { HEAD_LIMIT, HEAD_REQUEST_MS, keyOfHead, parseHead } from "./head/head.ts"
import { headOwnerName } from "./objects/names.ts"
import { pagesOf } from "./objects/pages.ts"
import { Again, insist } from "./objects/patience.ts"
import { orFail } from "./objects/problems.ts"
import { patienceOf, type ReadFrom } from "./read.ts"

/** Heads that are read at a time. */
const atOnce = 16

/**
 * The keys of all sandboxes of a definition that have a head, removed ones left out, in no particular order. A damaged
 * head is listed too, by its name: reading it says what is wrong with it. The budget counts anew for each request.
 *
 * Rejects with StoreUnavailableError, StoreMisconfiguredError, LockCancelledError, or CorruptCheckpointError where a
 * damaged head has a name so long that only the head could tell the key.
 */
export async function* listHeads(from: ReadFrom, definition: string): AsyncGenerator<string> {
  const { store } = from
  const prefix = namePrefix(sandboxLockKey(definition, ""))
  const place = { store: store.name, lockKey: definition }
  for await (const items of pagesOf(store, prefix, place, () => patienceOf(from))) {
    const refs = items.map(({ name }): ObjectRef => ({ area: "state", name }))
    const heads = refs.filter(({ name }) => headOwnerName(name) !== undefined)
    for (let first = 0; first < heads.length; first += atOnce) {
      const read = heads.slice(first, first + atOnce).map((ref) => lockKeyOf(from, ref))
      for (const lockKey of await Promise.all(read)) {
        const parts = lockKey === undefined ? undefined : splitSandboxLockKey(lockKey)
        if (parts?.definition === definition) yield parts.key
      }
    }
  }
}

/** The lock key of a head; undefined where it is gone, removed, or not a head of ours at all. */
async function lockKeyOf(from: ReadFrom, ref: ObjectRef): Promise<string | undefined> {
  const name = headOwnerName(ref.name)!
  const answer = await readBody(from, ref)
  if (answer.kind === "absent") return undefined
  const body = answer.kind === "found" ? answer.body : undefined
  const lockKey = decodeName(name) ?? (body && keyOfHead(body))
  if (lockKey === undefined) throw nameless(from, ref)
  if (encodeName(lockKey) !== name) return undefined
  return body !== undefined && isRemoved(body, from, lockKey) ? undefined : lockKey
}

type KnownAnswer = Exclude<ReadAnswer, { readonly kind: "failed" }>

async function readBody(from: ReadFrom, ref: ObjectRef): Promise<KnownAnswer> {
  const { store, signal } = from
  const answer = await insist<KnownAnswer>(patienceOf(from), HEAD_REQUEST_MS, async (request) => {
    const read = await store.read(ref, { ...request, limit: HEAD_LIMIT })
    if (read.kind !== "failed") return read
    if (!read.error.retryable) throw read.error
    return new Again(read.error)
  })
  const place = { store: store.name, lockKey: ref.name }
  return answer instanceof Again ? orFail(answer, place, "Reading the head", signal) : answer
}

function isRemoved(body: Uint8Array, { store }: ReadFrom, lockKey: string): boolean {
  try {
    return parseHead(body, { store: store.name, lockKey }).saved.state === "removed"
  } catch (error) {
    if (error instanceof CorruptCheckpointError || error instanceof FormatVersionError) return false
    throw error
  }
}

const nameless = ({ store }: ReadFrom, { name }: ObjectRef): CorruptCheckpointError =>
  new CorruptCheckpointError({
    message: `The head in ${store.name}, state/${name}, is damaged, and its key is too long to be in its name`,
    next: "Put a good copy of that object back, or delete it by hand",
  })

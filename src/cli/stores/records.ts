/**
 * Lease records as an operator sees them: read once, with the generation under which they may be changed. A lease is
 * judged here by its record and the store's time alone. The locks judge more carefully
 * (src/locks/protocol/rules/expiry.ts).
 */
import { LockError } from "../../locks/api/errors.ts"
import { decodeName, encodeName, namePrefix } from "../../locks/api/keys.ts"
import { corruptError, type LeaseRecord, ownerOf, parseRecord, RECORD_LIMIT } from "../../locks/record.ts"
import { ABSENT, type Generation, type LeaseStore } from "../../locks/stores/port.ts"

/** What one request may take, in milliseconds. */
export const REQUEST_MS = 10_000
/** Records are read that many at a time. */
const AT_ONCE = 16

/**
 * - `owned`: its owner's time isn't over.
 * - `expired`: its owner's time is over. The next may take it over, unless a process group that it names lives.
 * - `reserved`: free for its waiter alone.
 * - `released`: free.
 * - `absent`: there is no record.
 */
export type KeyState = "owned" | "expired" | "reserved" | "released" | "absent"

/** A key's record as it was read. */
export interface KeyReading {
  readonly key: string
  readonly state: KeyState
  readonly generation: Generation
  /** Undefined where it is absent. */
  readonly record: LeaseRecord | undefined
  /** In Unix milliseconds; undefined if the store's time can't be compared with this record's. */
  readonly storeTime: number | undefined
}

/** A name under which there is no readable record of a key. */
export interface Unreadable {
  readonly name: string
  readonly generation: Generation
  readonly problem: LockError
}

/** Reads a key. Rejects with CorruptRecordError, StoreUnavailableError or StoreMisconfiguredError. */
export async function readKey(store: LeaseStore, key: string): Promise<KeyReading> {
  const read = await readName(store, encodeName(key), key)
  if ("problem" in read) throw read.problem
  return read
}

/** Reads all keys that begin with a prefix, in the store's order. */
export async function* readAll(store: LeaseStore, prefix: string): AsyncGenerator<KeyReading | Unreadable> {
  let after: string | undefined
  do {
    const options = { prefix: namePrefix(prefix), deadline: REQUEST_MS, ...(after !== undefined && { after }) }
    const page = await store.list("leases", options)
    for (let from = 0; from < page.items.length; from += AT_ONCE) {
      const names = page.items.slice(from, from + AT_ONCE).map(({ name }) => name)
      for (const read of await Promise.all(names.map((name) => readName(store, name, decodeName(name))))) {
        if ("problem" in read || (read.state !== "absent" && read.key.startsWith(prefix))) yield read
      }
    }
    after = page.next
  } while (after !== undefined)
}

async function readName(store: LeaseStore, name: string, key: string | undefined): Promise<KeyReading | Unreadable> {
  const answer = await store.read({ area: "leases", name }, { limit: RECORD_LIMIT, deadline: REQUEST_MS })
  switch (answer.kind) {
    case "failed":
      throw answer.error
    case "absent":
    case "unchanged":
      return { key: key ?? name, state: "absent", generation: ABSENT, record: undefined, storeTime: answer.storeTime }
    case "tooLarge":
      return { name, generation: answer.generation, problem: corruptError(key ?? name, "it is larger than 64 KiB") }
    case "found":
  }
  const { generation } = answer
  try {
    const text = new TextDecoder().decode(answer.body)
    const named = key ?? keyIn(text) ?? name
    const record = parseRecord(named, text)
    const bootId = store.capabilities.bootId
    const storeTime = bootId === undefined || record.owner?.host?.bootId === bootId ? answer.storeTime : undefined
    return { key: named, state: stateOf(record, storeTime), generation, record, storeTime }
  } catch (error) {
    if (error instanceof LockError) return { name, generation, problem: error }
    throw error
  }
}

/** The key, for a name that is too long to hold it. */
function keyIn(text: string): string | undefined {
  try {
    const { key } = JSON.parse(text) as { key?: unknown }
    return typeof key === "string" ? key : undefined
  } catch {
    return undefined
  }
}

function stateOf(record: LeaseRecord, storeTime: number | undefined): KeyState {
  if (record.ownerId !== null) return storeTime !== undefined && record.expiresAt < storeTime ? "expired" : "owned"
  const reserved =
    record.waitingOwnerId !== null && (storeTime === undefined || (record.waiterExpiresAt ?? Infinity) > storeTime)
  return reserved ? "reserved" : "released"
}

/** The same as JSON. Times are Unix milliseconds of the store's time. */
export function described({ key, state, generation, record, storeTime }: KeyReading): object {
  const waiter = record?.waitingOwnerId ?? null
  return {
    key,
    state,
    generation,
    owner: ownerOf(record) ?? null,
    groups: groupsOf(record),
    waiter: waiter === null ? null : { waiterId: waiter, expiresAt: record?.waiterExpiresAt ?? null },
    ended: record?.lastRelease ?? null,
    storeTime: storeTime ?? null,
  }
}

/** The process groups that it names, which may be at work under it. */
export function groupsOf(record: LeaseRecord | undefined): readonly number[] {
  const groups: unknown = record?.owner?.host?.groups
  return Array.isArray(groups) ? groups : []
}

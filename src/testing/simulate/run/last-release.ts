/**
 * A process of the release that was published last, as far as the store tells it from one of this: it neither sees nor
 * writes what the record's format has come to have since. What it wrote lacks that, and so does what it carries over.
 *
 * Not promised: that it goes by that release's rules. It runs those of this one, on a record in which nothing newer
 * ever stands; the other way round, processes of this release meet records of that one. Where it would stand in the
 * line it asks by looking again: its one write that joins changes nothing, and it alone sees itself there from then on.
 */
import type { CheckpointStore, LeaseStore, ObjectRef } from "../../../locks/stores/port.ts"

/** The fields of a record of 0.1.0, and of its halves. */
const fields: ReadonlySet<string> = new Set([
  ...["ownerId", "expiresAt", "waitingOwnerId", "waiterExpiresAt", "v", "needs", "key"],
  ...["owner", "waiter", "ended", "began", "writtenAt"],
])
const halves: Readonly<Record<string, ReadonlySet<string>>> = {
  owner: new Set([
    ...["for", "expiresAt", "token", "ttlMs", "nonce", "opId", "address", "stateVersion", "process", "host"],
    ...["since", "deletes"],
  ]),
  waiter: new Set(["for", "expiresAt", "nonce", "accepts", "opId", "bootId", "host", "stateVersion"]),
  ended: new Set(["token", "by", "how", "note"]),
}

/** The store as such a process uses it. */
export function asLastRelease(store: LeaseStore & CheckpointStore): LeaseStore & CheckpointStore {
  const places = new Map<string, unknown>()
  return {
    ...{ leases: true, checkpoints: true, name: store.name },
    get capabilities() {
      return store.capabilities
    },
    start: (options) => store.start(options),
    async read(ref, options) {
      const answer = await store.read(ref, options)
      return answer.kind === "found" ? { ...answer, body: withoutNews(ref, answer.body, places.get(ref.name)) } : answer
    },
    async put(ref, expected, body, options) {
      const answer = await store.put(ref, expected, withoutNews(ref, body), options)
      if (ref.area === "leases" && answer.kind === "applied") places.set(ref.name, recordIn(body)?.["line"])
      return answer
    },
    remove: (ref, expected, options) => store.remove(ref, expected, options),
    list: (area, options) => store.list(area, options),
    close: () => store.close(),
  }
}

/** What isn't the record of a lease stays as it is. `line`: what the reader believes of it. */
function withoutNews({ area }: ObjectRef, body: Uint8Array, line?: unknown): Uint8Array {
  const record = area === "leases" ? recordIn(body) : undefined
  if (record === undefined) return body
  const kept = only(record, fields)
  for (const [name, known] of Object.entries(halves)) if (isObject(kept[name])) kept[name] = only(kept[name], known)
  const text = JSON.stringify({ ...kept, line })
  return text === JSON.stringify(record) ? body : new TextEncoder().encode(text)
}

function recordIn(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    return isObject(value) && "ownerId" in value ? value : undefined
  } catch {
    return undefined
  }
}

const only = (value: Readonly<Record<string, unknown>>, known: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([name]) => known.has(name)))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

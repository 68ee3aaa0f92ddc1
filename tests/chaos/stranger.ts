/**
 * A process that knows only the four published fields of a record: it takes keys that are free or over, waits where
 * somebody owns, and gives up what it has after a moment. It keeps, or drops, what it doesn't know.
 */
import { encodeName } from "../../src/locks/api/keys.ts"
import type { LeaseStore } from "../../src/locks/stores/port.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import type { SeededRandom } from "../../src/runtime/time/random.ts"
import { appliedWrite } from "../../src/trace/applied.ts"
import type { Log } from "./log.ts"
import type { RunTrace } from "./traces.ts"

type Fields = Readonly<Record<string, unknown>>

/** Whoever it is to strangers. */
const id = "stranger"
const leaseSeconds = 5

/** What a stranger needs. */
export interface StrangerParts {
  readonly store: LeaseStore
  readonly log: Log
  readonly trace: RunTrace
  readonly random: SeededRandom
}

/** One visit to a key. Settles when nothing of it is left there, as far as it can tell. */
export async function visit(key: string, { store, log, trace, random }: StrangerParts): Promise<void> {
  const ref = { area: "leases", name: encodeName(`chaos/${key}`) } as const
  const keeps = random.next() < 0.5
  for (let turn = 0; turn < 12; turn++) {
    const answer = await store.read(ref, { deadline: 3000, limit: 65_536 })
    if (answer.kind !== "found" || answer.storeTime === undefined) return
    const record = JSON.parse(new TextDecoder().decode(answer.body)) as Fields
    const now = answer.storeTime / 1000
    const change = changeOf(record, now)
    if (change !== undefined) {
      const body = bytesOf({ ...(keeps ? record : {}), ...published(record), ...change })
      const at = liveClock.read().wall
      trace.recorder.fault("stranger", { detail: { key } })
      const written = await store.put(ref, answer.generation, body, { deadline: 3000 })
      if (written.kind === "applied") {
        const { generation } = written
        const write = appliedWrite({ worker: null, ...ref, before: answer.generation, generation, body })
        trace.add({ kind: "applied", at, ...write })
      }
      if (written.kind === "applied" && change["ownerId"] === id)
        log.write({ what: "fault", process: null, fault: `a stranger owns ${key}` })
      if (written.kind === "applied" && change["ownerId"] === null) return
    }
    await new Promise<void>((settle) => void liveClock.after(1100 + 400 * random.next(), settle))
  }
}

/** What it makes of a record. Undefined: it only looks. */
function changeOf(record: Fields, now: number): Fields | undefined {
  const { ownerId = null, expiresAt = 0, waitingOwnerId = null, waiterExpiresAt = 0 } = record
  const free = { ownerId: null, expiresAt: 0 }
  if (ownerId === id) return { ...free, ...(waitingOwnerId === id ? nobodyWaits : {}) }
  const isTaken = ownerId !== null && Number(expiresAt) + 10 > now
  const isReserved = waitingOwnerId !== null && waitingOwnerId !== id && Number(waiterExpiresAt) + 1 > now
  if (isReserved) return undefined
  if (!isTaken && ownerId === null) return { ownerId: id, expiresAt: now + leaseSeconds, ...nobodyWaits }
  return waitingOwnerId === id ? undefined : { waitingOwnerId: id, waiterExpiresAt: now + 12 }
}

const bytesOf = (fields: Fields): Uint8Array => new TextEncoder().encode(JSON.stringify(fields))

const nobodyWaits = { waitingOwnerId: null, waiterExpiresAt: null }

const published = ({
  ownerId = null,
  expiresAt = 0,
  waitingOwnerId = null,
  waiterExpiresAt = null,
}: Fields): Fields => ({
  ownerId,
  expiresAt,
  waitingOwnerId,
  waiterExpiresAt,
})

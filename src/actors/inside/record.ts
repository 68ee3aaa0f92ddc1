/** One look at the lease record of a key, for people. It tells more of it than `Lock.peek` does. */
import type { Owner } from "../../locks/api/errors.ts"
import { checkKey } from "../../locks/api/keys.ts"
import { KeyRequests } from "../../locks/engine/key-requests.ts"
import { requestDeadline } from "../../locks/engine/options.ts"
import { RequestTaps } from "../../locks/engine/request-taps.ts"
import { corruptError, type LeaseRecord, ownerOf, parseRecord } from "../../locks/record.ts"
import type { LeaseStore } from "../../locks/stores/port.ts"
import type { ManagerSettings } from "../registry/options.ts"

/** What a lease record says. Every text in it was written by others. */
export interface RecordInside {
  /** Who owns the key; undefined: nobody. */
  readonly owner: Owner | undefined
  /** Who waits for it first; undefined: nobody. */
  readonly waiterId: string | undefined
  /** Who asks for it behind that one, in order. */
  readonly line: readonly string[]
  /** Who only waits, behind them all, in order. */
  readonly quiet: readonly string[]
  /** The version of the object; undefined for locks of a `lockFactory`, which don't tell it. */
  readonly generation: string | undefined
  /** The store's time of the answer, in Unix milliseconds; undefined where it told none. */
  readonly storeTime: number | undefined
  /** When the answer was here, in Unix milliseconds of this process. */
  readonly at: number
}

/**
 * Reads the record of a lock key. Undefined where there is none. Rejects as `Lock.peek` does, and with InvalidKeyError.
 */
export async function readRecord(settings: ManagerSettings, lockKey: string): Promise<RecordInside | undefined> {
  checkKey(lockKey)
  return settings.store === undefined ? peeked(settings, lockKey) : looked(settings, settings.store, lockKey)
}

async function looked(
  { clock, ttl, report }: ManagerSettings,
  store: LeaseStore,
  lockKey: string,
): Promise<RecordInside | undefined> {
  const requests = new KeyRequests({ key: lockKey, store, clock, onError: report, taps: new RequestTaps() })
  const answer = await requests.look(requestDeadline(ttl))
  switch (answer.kind) {
    case "found": {
      const { generation, storeTime, text } = answer
      return { ...saidBy(parseRecord(lockKey, text)), generation, storeTime, at: clock.read().wall }
    }
    case "failed":
      throw answer.error
    case "tooLarge":
      throw corruptError(lockKey, "it is larger than 64 KiB")
    case "absent":
    case "unchanged":
      return undefined
  }
}

function saidBy(record: LeaseRecord): Pick<RecordInside, "owner" | "waiterId" | "line" | "quiet"> {
  const named = (isQuiet: boolean): string[] =>
    record.line.filter(({ quiet = false }) => quiet === isQuiet).map((entry) => entry.for)
  return {
    owner: ownerOf(record),
    waiterId: record.waitingOwnerId ?? undefined,
    line: named(false),
    quiet: named(true),
  }
}

/** What `Lock.peek` tells, for a lock that was made elsewhere. */
async function peeked({ makeLock, clock }: ManagerSettings, lockKey: string): Promise<RecordInside | undefined> {
  const owner = await makeLock(lockKey).peek()
  if (owner === undefined) return undefined
  const none = { line: [], quiet: [], generation: undefined, storeTime: undefined }
  return { owner, waiterId: owner.waiterId, ...none, at: clock.read().wall }
}

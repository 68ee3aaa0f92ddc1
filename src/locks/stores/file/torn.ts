/**
 * Half a lease record. Lease records aren't synced: a power cut can leave half of one. It doesn't say whose it was. In
 * a shared directory it may be another machine's, whose owner lives on.
 *
 * Half a record from before this boot is read as one of an unknown owner, like a stranger's: the key is free once it
 * was seen unchanged for `strangerTtl`, as a live owner writes it anew. Any other half was made by hand or by a failing
 * disk. It is passed on as it is, and the record's parser refuses it.
 */
import type { StoreTime } from "./time.ts"

/** The owner by half a record. */
const UNKNOWN = "unknown (half a record, from before this machine started)"

/** The body, or that of an unknown owner's record in place of half a body from before this boot. */
export function wholeOrUnknown(
  { body, modified }: { readonly body: Uint8Array; readonly modified: number },
  time: StoreTime | undefined,
): Uint8Array {
  if (time === undefined || modified >= time.bootedAt() || isJson(body)) return body
  const expiresAt = Math.round(modified) / 1000 // past, and another with each version
  const record = { ownerId: UNKNOWN, expiresAt, waitingOwnerId: null, waiterExpiresAt: null }
  return new TextEncoder().encode(JSON.stringify(record))
}

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
    return true
  } catch {
    return false
  }
}

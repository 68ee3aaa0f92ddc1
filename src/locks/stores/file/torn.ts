/**
 * Lease records aren't synced, so a power cut can leave half of one. It doesn't say whose it is: in a shared directory it may
 * be another machine's, whose owner lives on. So half a record from before this boot is one of an unknown owner, as a
 * stranger's is: the key is free once that half was seen unchanged for `strangerTtl`, since a live owner writes it anew. Any
 * other half was made by hand or by a failing disk, and stays what it is for the record's parser to refuse.
 */
import type { StoreTime } from "./time.ts"

/** Who owns a key by half a record. */
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

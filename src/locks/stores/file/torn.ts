/**
 * Lease records aren't synced, so a power cut can leave half of one. Its owner died with the machine: where the file is
 * older than this boot, half a record is a released one. Any other half was made by hand or by a failing disk, and
 * stays what it is for the record's parser to refuse.
 */
import type { StoreTime } from "./time.ts"

const released = '{"ownerId":null,"expiresAt":0,"waitingOwnerId":null,"waiterExpiresAt":null}'

/** The body, or that of a released record in place of half a body from before this boot. */
export function wholeOrReleased(
  { body, modified }: { readonly body: Uint8Array; readonly modified: number },
  time: StoreTime | undefined,
): Uint8Array {
  if (time === undefined || modified >= time.bootedAt() || isJson(body)) return body
  return new TextEncoder().encode(released)
}

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
    return true
  } catch {
    return false
  }
}

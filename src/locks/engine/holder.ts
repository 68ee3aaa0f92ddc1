/** Who owns a key that is waited for, and since when. For people to read: nothing is decided by it. */
import type { Owner } from "../api/errors.ts"
import type { LockState } from "../protocol/rules/state.ts"
import { elapsed, type Instant } from "../protocol/rules/time.ts"
import { ownerOf } from "../record.ts"

/** An owner, and for how long it has owned. */
export interface Holder {
  readonly holder: Owner
  /** In milliseconds; undefined where the record doesn't tell. */
  readonly heldMs?: number
}

/**
 * The owner by the last known version of the record. Where that doesn't say since when, its token does: a token is the
 * store's time at which its owner came, or more.
 */
export function holderOf(state: LockState | undefined, now: Instant): Holder | undefined {
  const { view, config } = state ?? {}
  const holder = ownerOf(view?.record)
  if (holder === undefined || view === undefined) return undefined
  const since = holder.since ?? holder.token
  const boot = view.record?.owner?.host?.bootId ?? null
  const comparable = config?.clock !== "none" && (config?.bootId === null || config?.bootId === boot)
  if (!comparable || view.storeTime === undefined || since === 0) return { holder }
  const heldMs = view.storeTime + elapsed(view.sentAt, now) - since
  return heldMs < 0 ? { holder } : { holder, heldMs }
}

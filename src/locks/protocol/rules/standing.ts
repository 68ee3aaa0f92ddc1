/**
 * What a record says about me (rule 2): identity is (id, life, nonce). A nonce begins with the life of the process that
 * made it. A half under my id but of another life, an earlier one or one beside mine, is judged as any other process's.
 * One exception: a published pair with my id whose half a stranger dropped is mine, where this life is known to stand
 * there.
 */
import type { LeaseRecord } from "../../record.ts"
import type { Draft, LockConfig, LockState } from "./state.ts"

/**
 * The owner half: `mine`; `stripped`: mine but for the half; `dead`: left by an attempt of this life that is over;
 * `twin`: of another life under my id; `other`: another's.
 */
export type OwnerStanding = "absent" | "free" | "mine" | "stripped" | "dead" | "twin" | "other"
/** The waiter half, likewise. A half left by an attempt of this life that is over counts as none. */
export type WaiterStanding = "none" | "mine" | "stripped" | "other"

/** What judging takes: who I am, and whether my id in the record is known to mean me. */
export type Me = Pick<LockState, "config" | "named">

/**
 * A half that was seen to be rewritten so often is written by a process that lives. The last write of a dead one may
 * come late, but no second one after it: that would have to name the generation which the first one made.
 */
export const SIGNS_OF_LIFE = 2

/** A nonce that no other life makes. */
export const nonceOf = ({ life }: LockConfig, fresh: string): string => `${life}.${fresh}.n`

/** Where I stand as owner. */
export function ownerStanding(record: LeaseRecord | undefined, me: Me, nonce: string): OwnerStanding {
  if (record === undefined) return "absent"
  if (record.ownerId === null) return "free"
  if (record.ownerId !== me.config.id) return "other"
  if (record.owner === undefined) return me.named ? "stripped" : "other"
  if (record.owner.nonce === nonce) return "mine"
  return isOfThisLife(me, record.owner) ? "dead" : "twin"
}

/** Where I stand as waiter. */
export function waiterStanding(record: LeaseRecord | undefined, me: Me, nonce: string): WaiterStanding {
  if (record === undefined || record.waitingOwnerId === null) return "none"
  if (!isMyWaiter(record, me)) return "other"
  if (record.waiter === undefined) return "stripped"
  return record.waiter.nonce === nonce ? "mine" : "none"
}

/** Whether the waiter in the record is an attempt of this life, over or not. */
export function isMyWaiter({ waitingOwnerId, waiter }: LeaseRecord, me: Me): boolean {
  return waitingOwnerId === me.config.id && (waiter === undefined ? me.named : isOfThisLife(me, waiter))
}

/** Whether the owner in the record is an attempt of this life, over or not. */
export function isMyOwner({ ownerId, owner }: LeaseRecord, me: Me): boolean {
  return ownerId === me.config.id && (owner === undefined ? me.named : isOfThisLife(me, owner))
}

/** Whether a half under some id, or an entry of the line, is of an attempt of this life, over or not. */
export const isMine = (
  half: { readonly for: string; readonly nonce: string },
  me: Pick<LockState, "config">,
): boolean => half.for === me.config.id && isOfThisLife(me, half)

/** Whether my id in this version means me, given that it did or didn't in the one before. */
export function isNamed(record: LeaseRecord, me: Me, mayLand: boolean): boolean {
  const { id } = me.config
  const { ownerId, owner, waitingOwnerId, waiter } = record
  const [isOwner, isWaiter] = [ownerId === id, waitingOwnerId === id]
  const mine = [isOwner && owner, isWaiter && waiter].filter((half) => half !== undefined && half !== false)
  if (mine.some((half) => !isOfThisLife(me, half))) return false
  return mine.length > 0 || (me.named && (isOwner || isWaiter || mayLand))
}

/** The half of another process that has my id and is seen to be alive, if there is one. */
export function livingTwin(draft: Draft): "owner" | "waiter" | undefined {
  const { view, observedOwner, observedWaiter } = draft
  const { owner, waiter } = view?.record ?? {}
  const lives = (half: { readonly for: string; readonly nonce: string } | undefined, rewrites = 0, seen?: string) =>
    half !== undefined &&
    isTwin(draft, { id: half.for, nonce: half.nonce }) &&
    (seen === "alive" || rewrites >= SIGNS_OF_LIFE)
  if (lives(owner, observedOwner?.rewrites, view?.evidence?.owner)) return "owner"
  return lives(waiter, observedWaiter?.rewrites, view?.evidence?.waiter) ? "waiter" : undefined
}

/** Whether a half is of another life under my id. */
export const isTwin = (me: Pick<LockState, "config">, half: { readonly id: string; readonly nonce: string }): boolean =>
  half.id === me.config.id && !isOfThisLife(me, half)

const isOfThisLife = ({ config }: Pick<LockState, "config">, { nonce }: { readonly nonce: string }): boolean =>
  nonce.startsWith(`${config.life}.`)

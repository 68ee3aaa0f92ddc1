/**
 * An operator who deletes the record by hand.
 *
 * With a head the record may go at any time: the head keeps the owners apart. It may go also while a create of it is
 * under way, which brings back the old record.
 *
 * A lock alone promises less. Its record goes only if no request to it is under way, and one of these holds: nobody
 * owns the key, or every other process has seen the owner's last write.
 */
import { parseRecord } from "../../../locks/record.ts"
import { ABSENT } from "../../../locks/stores/port.ts"
import { EPOCH, may, noStranger, type Rules, without, type World } from "../world/world.ts"
import type { Move } from "./move.ts"

/** What an operator may do now. */
export function operatorMoves(world: World, { commits }: Rules): readonly Move[] {
  const { lease } = world
  if (!may(world, "deletions") || lease.text === undefined) return []
  if (commits === 0 && !isHarmless(world, lease.text)) return []
  const gone = { ...lease, text: undefined, generation: ABSENT }
  // A stranger has nothing but the record to keep others out.
  const after = { lease: gone, stranger: noStranger }
  return [{ what: "an operator deletes the record", make: () => [{ ...without(world, "deletions"), ...after }] }]
}

function isHarmless({ at, topToken, mail, processes }: World, text: string): boolean {
  // A token is the store's time, in milliseconds: nobody acquires twice within one.
  if (Math.floor(EPOCH + at) <= topToken || mail.some(({ of }) => of === "lease")) return false
  const { ownerId, owner } = parseRecord("k", text)
  if (ownerId === null) return true
  return processes.every(({ id, lock }) => id === ownerId || lock.view?.record?.owner?.opId === owner?.opId)
}

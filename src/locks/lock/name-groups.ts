/**
 * Names the process groups that run under a lease, so that others don't take the key over meanwhile: `host.groups` of
 * the record.
 */
import { InvalidConfigError } from "../api/errors.ts"
import type { Lease } from "../api/lock.ts"
import { StoreLease } from "./store-lease.ts"

/**
 * Settles once the record of the lease names these process groups, in place of those before. From then on no process of
 * this machine takes the key over while one of them lives, even where the lease is over or its owner dead. Name a group
 * before it begins to work.
 *
 * On a store that knows no processes it is a renewal, which shows that the key is owned.
 *
 * Rejects with LockLostError or LockNotHeldError where the lease ends first, and with InvalidConfigError.
 */
export async function nameGroups(lease: Lease, groups: readonly number[]): Promise<void> {
  const wrong = groups.find((group) => !Number.isSafeInteger(group) || group <= 1)
  if (wrong !== undefined) {
    throw new InvalidConfigError({
      message: `${wrong} is no process group's id`,
      next: "Give the ids of process groups: whole numbers, 2 or more",
    })
  }
  if (lease instanceof StoreLease) return lease.nameGroups([...groups])
  throw new InvalidConfigError({ message: "The lease is of another kind of lock", next: "Acquire it with a StoreLock" })
}

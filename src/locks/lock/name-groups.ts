/** How what runs child processes under a lease tells others of them: see `host.groups` of the record. */
import { InvalidConfigError } from "../api/errors.ts"
import type { Lease } from "../api/lock.ts"
import { StoreLease } from "./store-lease.ts"

/**
 * Settles once the record of the lease names these process groups, in place of those before: from then on no process of this
 * machine takes the key over while one of them lives, be the lease over or its owner dead. On a store that knows no
 * processes it is a renewal, which shows that the key is owned. Name a group before it begins to work: it may wait for this.
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

/**
 * LEASEHOLD_LEASE_FILE: the lease of a run, for its command to read at any time. It is replaced whole at each renewal,
 * and removed when the command has ended. Only its user can read its folder.
 */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { InvalidConfigError } from "../../locks/api/errors.ts"
import type { Lease } from "../../locks/api/lock.ts"
import { lookAt, type PathStranger } from "../process/strangers.ts"

/** The lease file of one run. */
export class LeaseFile implements Disposable {
  readonly folder: string
  readonly path: string

  /** Throws InvalidConfigError. */
  constructor() {
    this.folder = ownFolder()
    this.path = join(this.folder, "lease.json")
  }

  /** Writes the leases as they are now. `deadline`s are Unix milliseconds. Throws the file system's errors. */
  write(leases: readonly Lease[], owner: string): void {
    const keys = leases.map((lease) => ({
      key: lease.key,
      token: lease.token,
      deadline: lease.deadline,
      held: lease.isHeld(),
    }))
    const deadline = Math.min(...keys.map((each) => each.deadline))
    const text = JSON.stringify({ owner, deadline, held: keys.every(({ held }) => held), keys }, null, 2)
    const draft = `${this.path}.new`
    rmSync(draft, { force: true }) // of a write that failed
    writeFileSync(draft, `${text}\n`, { flag: "wx" })
    renameSync(draft, this.path)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function ownFolder(): string {
  const folder = resolve(tmpdir()) // TMPDIR may be relative, and a command may go elsewhere
  try {
    const path = join(folder, "leasehold-run-")
    const { stranger } = lookAt(path, "owner")
    if (stranger !== undefined) throw foreign(folder, stranger)
    return mkdtempSync(path)
  } catch (cause) {
    if (cause instanceof InvalidConfigError) throw cause
    throw new InvalidConfigError({
      message: `There is no room for the lease file in ${folder} (${String((cause as { code?: unknown }).code ?? cause)})`,
      next: "Make room there, or name another folder by TMPDIR",
      cause,
    })
  }
}

/**
 * The folder's owner could replace by a link what is made in it. Write permission of others is not judged: a
 * container's /tmp may have it.
 */
function foreign(folder: string, { at, why }: PathStranger): InvalidConfigError {
  return new InvalidConfigError({
    message: `The folder ${folder} for the lease file could be another user's (${at}: ${why})`,
    next: "Name another folder by TMPDIR, such as /tmp",
  })
}

/**
 * LEASEHOLD_LEASE_FILE: what a command can read of its lease at any time. A file in a folder that only its user can read,
 * replaced whole at each renewal, and gone when the command has ended.
 */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { InvalidConfigError } from "../../locks/errors.ts"
import type { Lease } from "../../locks/lock.ts"

/** The file of one run. */
export class LeaseFile implements Disposable {
  readonly folder: string
  readonly path: string

  /** Throws InvalidConfigError. */
  constructor() {
    this.folder = ownFolder()
    this.path = join(this.folder, "lease.json")
  }

  /** Says what is held now. `deadline`s are Unix milliseconds. Throws what the file system says. */
  write(leases: readonly Lease[], owner: string): void {
    const keys = leases.map((lease) => ({
      key: lease.key,
      token: lease.token,
      deadline: lease.deadline,
      held: lease.isHeld(),
    }))
    const deadline = Math.min(...keys.map((each) => each.deadline))
    const text = JSON.stringify({ owner, deadline, held: keys.every(({ held }) => held), keys }, null, 2)
    writeFileSync(`${this.path}.new`, `${text}\n`)
    renameSync(`${this.path}.new`, this.path)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function ownFolder(): string {
  try {
    return mkdtempSync(resolve(tmpdir(), "leasehold-run-")) // TMPDIR may be relative, and a command may go elsewhere
  } catch (cause) {
    throw new InvalidConfigError({
      message: `There is no room for the lease file in ${tmpdir()} (${String((cause as { code?: unknown }).code ?? cause)})`,
      next: "Make room there, or name another folder by TMPDIR",
      cause,
    })
  }
}

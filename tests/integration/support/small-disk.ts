/**
 * Small file systems that are really full, for tests of who writes there. Only root may mount one, and not in every
 * container.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"

/**
 * Whether `directory` is now a file system of its own, of `size` as mount(8) has it. It stays until it is unmounted.
 */
const isMounted = (directory: string, size: string): boolean =>
  spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory]).status === 0

const unmount = (directory: string): void => void spawnSync("umount", [directory])

/** The same until the test has ended. */
export function mountSmall(directory: string, size: string): boolean {
  const mounted = isMounted(directory, size)
  if (mounted) onTestFinished(() => unmount(directory))
  return mounted
}

/** Whether this process may mount one, by a try. */
export function canMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), "leasehold-mount-"))
  const mounted = isMounted(directory, "64k")
  if (mounted) unmount(directory)
  rmSync(directory, { recursive: true })
  return mounted
}

/** One that can be filled, until the test has ended. */
export class SmallDisk {
  readonly directory: string = mkdtempSync(join(tmpdir(), "leasehold-full-"))

  /** Throws where it can't be mounted: what would be filled then is the machine's own disk. */
  constructor() {
    onTestFinished(() => rmSync(this.directory, { recursive: true }))
    if (!mountSmall(this.directory, "512k")) throw new Error(`nothing can be mounted at ${this.directory}`)
  }

  fill(): void {
    const { bavail, bsize } = statfsSync(this.directory)
    writeFileSync(join(this.directory, "filling"), new Uint8Array(bavail * bsize))
  }

  empty(): void {
    rmSync(join(this.directory, "filling"))
  }
}

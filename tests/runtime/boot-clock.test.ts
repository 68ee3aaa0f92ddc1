import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { BootClock } from "../../src/runtime/boot-clock.ts"

const WALL = 1_700_000_000_000
const directories: string[] = []

/** A process file system as a container may show it. */
function proc(shows: { uptime: string; startedTicks: number; namespace?: string }): string {
  const root = mkdtempSync(join(tmpdir(), "leasehold-proc-"))
  directories.push(root)
  mkdirSync(join(root, "sys/kernel/random"), { recursive: true })
  mkdirSync(join(root, "self/ns"), { recursive: true })
  writeFileSync(join(root, "uptime"), `${shows.uptime} 0.00\n`)
  writeFileSync(join(root, "sys/kernel/random/boot_id"), "8f1c\n")
  writeFileSync(join(root, "self/stat"), `42 (a b) c) S ${"0 ".repeat(18)}${shows.startedTicks} 0 0\n`)
  if (shows.namespace !== undefined) symlinkSync(`time:[${shows.namespace}]`, join(root, "self/ns/time"))
  return root
}

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true })
})

describe("the boot clock", () => {
  it("reads the time since boot, and names the boot", () => {
    const clock = new BootClock(proc({ uptime: "1000.25", startedTicks: 90_000 }))
    expect(clock.read(WALL)).toBe(1_000_250)
    expect(clock.id).toBe("8f1c.0")
  })

  it("names a boot seen through another time namespace as another, since its clock has another offset", () => {
    const [a, b] = ["4026531834", "4026532001"].map(
      (namespace) => new BootClock(proc({ uptime: "1000.25", startedTicks: 90_000, namespace })).id,
    )
    expect(a).toBe("8f1c.4026531834")
    expect(b).not.toBe(a)
  })

  it("does not believe a container's own uptime, by which this process is yet to start", () => {
    const clock = new BootClock(proc({ uptime: "60.00", startedTicks: 90_000 }))
    expect(clock.read(WALL)).toBe(WALL)
    expect(clock.id).toBeUndefined()
  })

  it("lets the wall clock stand in where there is nothing to read, or nothing that makes sense", () => {
    const nothing = new BootClock(join(tmpdir(), "leasehold-no-such-proc"))
    const nonsense = new BootClock(proc({ uptime: "soon", startedTicks: 1 }))
    for (const clock of [nothing, nonsense]) {
      expect(clock.read(WALL)).toBe(WALL)
    }
    expect(nothing.id).toBeUndefined()
  })
})

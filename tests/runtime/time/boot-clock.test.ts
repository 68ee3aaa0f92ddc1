import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { afterEach, describe, expect, it } from "vitest"
import { BootClock } from "../../../src/runtime/time/boot-clock.ts"

const WALL = 1_700_000_000_000
const directories: string[] = []

interface Shown {
  /** In seconds. */
  readonly uptime: string
  /** When the process began, in hundredths of a second since boot. */
  readonly startedTicks?: number
  readonly boot?: string
  readonly namespace?: string
  /** What the kernel says of the file system under `uptime`. */
  readonly mounted?: string
}

/** Shows a process file system as a container may have it. */
function show(root: string, { uptime, startedTicks = 90_000, boot = "8f1c", namespace, mounted }: Shown): void {
  mkdirSync(join(root, "sys/kernel/random"), { recursive: true })
  mkdirSync(join(root, "self/ns"), { recursive: true })
  writeFileSync(join(root, "uptime"), `${uptime} 0.00\n`)
  writeFileSync(join(root, "sys/kernel/random/boot_id"), `${boot}\n`)
  writeFileSync(join(root, "self/stat"), `42 (a b) c) S ${"0 ".repeat(18)}${startedTicks} 0 0\n`)
  rmSync(join(root, "self/ns/time"), { force: true })
  if (namespace !== undefined) symlinkSync(`time:[${namespace}]`, join(root, "self/ns/time"))
  const mounts = [`22 27 0:21 / ${root} rw - proc proc rw`]
  if (mounted !== undefined) mounts.push(`23 22 0:40 / ${root}/uptime rw - ${mounted} it rw`)
  writeFileSync(join(root, "self/mountinfo"), `${mounts.join("\n")}\n`)
}

function proc(shown: Shown): string {
  const root = mkdtempSync(join(tmpdir(), "leasehold-proc-"))
  directories.push(root)
  show(root, shown)
  return root
}

/** Of a process that has lived for so many seconds. */
const clockOf = (root: string, age = 0): BootClock => new BootClock(root, () => age)

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true })
})

describe("the boot clock", () => {
  it("reads the time since boot, and names the boot", () => {
    const clock = clockOf(proc({ uptime: "1000.25" }))
    expect(clock.read(WALL, 0)).toBe(1_000_250)
    expect(clock.id).toBe("8f1c.0")
  })

  it("is read once for all that is done in one turn, but anew after a suspend, which moves the wall clock alone", () => {
    const root = proc({ uptime: "1000.25" })
    const clock = clockOf(root)
    clock.read(WALL, 0)
    show(root, { uptime: "1600.25" })
    expect(clock.read(WALL + 4, 4)).toBe(1_000_254)
    expect(clock.read(WALL + 600_004, 4)).toBe(1_600_250)
    show(root, { uptime: "1600.30" })
    expect(clock.read(WALL + 600_050, 50)).toBe(1_600_300)
  })

  it("never goes back, though the kernel cuts its time to hundredths of a second", () => {
    const root = proc({ uptime: "1000.25" })
    const clock = clockOf(root)
    const read = Array.from({ length: 40 }, (_, index) => {
      const ms = index * 1.3
      show(root, { uptime: (Math.floor((1_000_259 + ms) / 10) / 100).toFixed(2) })
      return { ms, boot: clock.read(WALL + Math.floor(ms), ms) }
    })
    expect(read.filter(({ boot }, index) => index > 0 && boot < read[index - 1]!.boot)).toEqual([])
    expect(read.filter(({ boot, ms }) => boot > 1_000_259.001 + ms || boot < 1_000_249 + ms)).toEqual([])
  })

  it.runIf(process.platform === "linux")("is there on this machine, and as old as this process at least", () => {
    const clock = new BootClock("/proc", () => process.uptime())
    expect(clock.read(WALL, 0)).toBeGreaterThan(process.uptime() * 1000 - 1000)
    expect(clock.id).toMatch(/^[0-9a-f-]{36}\.\d+$/)
  })

  // Tests rule 3: A boot clock of another time namespace, or a made-up one, isn't this one.
  it("names a boot seen through another time namespace as another, since its clock has another offset", () => {
    const [a, b] = ["4026531834", "4026532001"].map((namespace) => clockOf(proc({ uptime: "1000.25", namespace })).id)
    expect(a).toBe("8f1c.4026531834")
    expect(b).not.toBe(a)
  })

  it.each([
    ["by which this process is yet to start", "60.00", 0],
    ["by which it is younger than it is: read a minute after its start", "910.00", 60],
    ["by which it is younger than it is: read an hour after its start", "4400.00", 3600],
  ])("does not believe an uptime %s", (_, uptime, age) => {
    const clock = clockOf(proc({ uptime, startedTicks: 90_000 }), age)
    expect(clock.read(WALL, 0)).toBe(WALL)
    expect(clock.id).toBeUndefined()
  })

  it("believes an uptime by which it is older than it knows: it may have slept, or been started long before its program", () => {
    expect(clockOf(proc({ uptime: "50000.00", startedTicks: 90_000 }), 60).id).toBe("8f1c.0")
  })

  it.each(["fuse.lxcfs", "ext4"])("does not believe an uptime that %s shows, whatever it says", (mounted) => {
    const clock = clockOf(proc({ uptime: "1000.25", mounted }))
    expect(clock.read(WALL, 0)).toBe(WALL)
    expect(clock.id).toBeUndefined()
  })

  it("does not believe one whose file system isn't told", () => {
    const root = proc({ uptime: "1000.25" })
    rmSync(join(root, "self/mountinfo"))
    expect(clockOf(root).id).toBeUndefined()
  })

  // Tests rule 3: A process restored in another boot or time namespace has no boot clock, and no directory answers it.
  it.each([
    ["is not told of again", { uptime: "1000.50" }, "8f1c.0", 1_000_500],
    ["goes on where the wall clock was set, which is no other boot", { uptime: "5000.00" }, "8f1c.0", 5_000_000],
    ["is another's in another time namespace", { uptime: "5000.00", namespace: "4026532001" }, undefined, 1_001_000],
    ["is another's after a boot", { uptime: "5000.00", boot: "77aa" }, undefined, 1_001_000],
    ["is nobody's where lxcfs shows it by now", { uptime: "1.00", mounted: "fuse.lxcfs" }, undefined, 1_001_000],
    ["is nobody's where it can't be read any more", { uptime: "soon" }, undefined, 1_001_000],
  ] as const)("of a process that was restored elsewhere %s", (_, shown, id, boot) => {
    const root = proc({ uptime: "1000.25" })
    const clock = clockOf(root)
    expect(clock.read(WALL, 0)).toBe(1_000_250)
    show(root, shown)
    // The wall clock stands in from the last good reading on.
    expect([clock.read(WALL + 750, 750), clock.id]).toEqual([boot, id])
    show(root, { uptime: "1002.00" })
    expect(clock.id).toBe(id)
  })

  it("lets the wall clock stand in where there is nothing to read, or nothing that makes sense", () => {
    const nothing = new BootClock(join(tmpdir(), "leasehold-no-such-proc"))
    const nonsense = clockOf(proc({ uptime: "soon", startedTicks: 1 }))
    for (const clock of [nothing, nonsense]) {
      expect(clock.read(WALL, 0)).toBe(WALL)
      expect(clock.id).toBeUndefined()
    }
  })
})

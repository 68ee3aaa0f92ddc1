/** What doctor finds, and that each finding says what to do. */
import { execFileSync } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import process from "node:process"
import { describe, expect, it, onTestFinished } from "vitest"
import { judgeBucket } from "../../../../src/cli/commands/doctor/bucket.ts"
import { clockFindings } from "../../../../src/cli/commands/doctor/clock.ts"
import { directoryFindings } from "../../../../src/cli/commands/doctor/directory.ts"
import type { Finding } from "../../../../src/cli/commands/doctor/finding.ts"
import { VirtualTime } from "../../../../src/runtime/time/virtual-time.ts"
import { CommandLine } from "../../command-line.ts"

const of = (findings: readonly Finding[], check: string): Finding | undefined =>
  findings.find((finding) => finding.check === check)

describe("doctor", () => {
  it("finds nothing wrong with a directory that is fit", async () => {
    const { code, value } = await new CommandLine().json("doctor")
    const { findings } = value as { findings: Finding[] }
    expect(code).toBe(0)
    expect(findings.map(({ check, status }) => `${check} ${status}`)).toEqual(
      ["configuration", "probe", "deletes", "round trip", "clock", "permissions", "file system"].map(
        (each) => `${each} ok`,
      ),
    )
  })

  // Tests command: `doctor` tells who else can break a directory's locks, and its remedies mend that.
  it("warns of a directory that all may write to", async () => {
    const user = new CommandLine()
    await user.json("doctor")
    chmodSync(join(user.cwd, "store"), 0o777)
    const { out } = await user.run("doctor", "--store", user.store)
    expect(out).toMatch(/^warning permissions: mode 777.*\n +-> chmod o-w /m)
  })

  it("warns of a directory that can be replaced by who may write above it", async () => {
    const user = new CommandLine()
    const above = join(user.cwd, "above")
    mkdirSync(join(above, "store"), { recursive: true })
    chmodSync(above, 0o777)
    const { out } = await user.run("doctor", "--store", `file:${above}/store`)
    expect(out).toMatch(
      /^warning permissions: \/.*above: everybody may write it, and with it .*\n +-> chmod o-w \/.*above$/m,
    )
  })

  it("calls a place that can't be a store a problem, with the remedy, and exits as for a misconfigured store", async () => {
    const user = new CommandLine()
    writeFileSync(join(user.cwd, "store"), "a file")
    const { code, value } = await user.json("doctor")
    const probe = of((value as { findings: Finding[] }).findings, "probe")
    expect(code).toBe(71)
    expect(probe).toMatchObject({ status: "problem", remedy: expect.stringContaining("Name a directory") })
  })
})

describe.runIf(process.geteuid!() === 0)("a directory of a group (as root)", () => {
  const GROUP = 4711

  /** What is said of its permissions once `make` has made it; the remedies are run, and leave nothing to say. */
  async function mended(make: (directory: string) => void): Promise<readonly string[]> {
    const user = new CommandLine()
    const umask = process.umask(0o002)
    onTestFinished(() => void process.umask(umask))
    const directory = join(user.cwd, "store")
    mkdirSync(directory)
    chownSync(directory, 0, GROUP)
    chmodSync(directory, 0o2770)
    const findings = async (): Promise<Finding[]> =>
      ((await user.json("doctor")).value as { findings: Finding[] }).findings.filter(
        ({ check }) => check === "permissions",
      )
    make(directory)
    const before = await findings()
    for (const { remedy } of before) {
      const [lines = ""] = remedy?.split("; and umask 002") ?? []
      execFileSync("/bin/sh", ["-ec", lines])
    }
    expect(await findings()).toEqual([
      { check: "permissions", status: "ok", found: `mode 2770, shared with group ${GROUP}` },
    ])
    return before.map(({ status, found }) => `${status} ${found.replaceAll(directory, "DIR")}`)
  }

  /** As the store makes them, by a member with that umask. */
  function areas(directory: string, umask: number): void {
    const before = process.umask(umask)
    for (const name of ["leases", "state", "probe", "store", "clock", "leases/a"]) mkdirSync(join(directory, name))
    writeFileSync(join(directory, "leases/a/0000000000000001"), "")
    process.umask(before)
  }

  // Tests command.
  it("is fit where all that is made there is the group's", async () => {
    expect(await mended((directory) => areas(directory, 0o002))).toEqual([`ok mode 2770, shared with group ${GROUP}`])
  })

  it("is told of what a member made with another umask, and how to mend it", async () => {
    expect(await mended((directory) => areas(directory, 0o022))).toEqual([
      expect.stringMatching(
        `^warning DIR/.*, and 4 more, can't be used by group ${GROUP}: its maker had another umask`,
      ),
    ])
    const half = (directory: string): void => {
      areas(directory, 0o002)
      chmodSync(join(directory, "leases/a/0000000000000001"), 0o600)
    }
    expect(await mended(half)).toEqual([
      expect.stringMatching(`^warning DIR/leases/a/0000000000000001 can't be used by group ${GROUP}`),
    ])
  })

  it("is told of a missing setgid bit, and of a sticky bit", async () => {
    const made = (mode: number) => (directory: string) => {
      chmodSync(directory, mode)
      areas(directory, 0o002)
    }
    expect(await mended(made(0o770))).toEqual([
      expect.stringContaining("no setgid bit"),
      expect.stringContaining("can't be used by group"),
    ])
    expect(await mended(made(0o3770))).toEqual([expect.stringContaining("the sticky bit")])
  })

  it("is its owner's to break, and whoever may not look there is told so", async () => {
    const owned = (directory: string): void => chownSync(directory, GROUP, GROUP)
    expect(await mended(owned)).toEqual([expect.stringContaining(`DIR: uid ${GROUP} owns it, and with it can break`)])
    const directory = join(new CommandLine().cwd, "hidden")
    mkdirSync(directory)
    chownSync(directory, 0, GROUP)
    chmodSync(directory, 0o2770)
    chmodSync(dirname(directory), 0o755)
    process.seteuid!(GROUP)
    const [permissions] = directoryFindings(directory)
    process.seteuid!(0)
    expect(permissions).toMatchObject({ status: "unknown", found: "this user can't look there (EACCES)" })
  })
})

describe("a directory", () => {
  it.each([
    ["NFS", 0x6969],
    ["SMB2", 0xfe534d42],
    ["FUSE", 0x65735546],
    ["9P", 0x01021997],
  ])("on %s is one where others are only looked at", (name, type) => {
    const finding = of(
      directoryFindings(new CommandLine().cwd, () => ({ type })),
      "file system",
    )
    expect(finding).toMatchObject({
      status: "warning",
      found: expect.stringMatching(`^${name}: `),
      remedy: expect.stringMatching(/bucket/),
    })
  })

  it("on this machine's own file system is as good as any", () => {
    const tmpfs = 0x01021994
    const finding = of(
      directoryFindings(new CommandLine().cwd, () => ({ type: tmpfs })),
      "file system",
    )
    expect(finding).toEqual({ check: "file system", status: "ok", found: "local" })
  })
})

describe("a clock", () => {
  /** What is said of a store whose clock is `ms` ahead of this machine's. */
  async function finding(ms: number | undefined, capabilities: object): Promise<Finding | undefined> {
    const clock = new VirtualTime()
    const storeTime = ms === undefined ? undefined : clock.read().wall + ms
    const store = { capabilities, read: async () => ({ kind: "absent", storeTime }) }
    return of(await clockFindings(store as never, clock), "clock")
  }

  it.each([
    [90_000, "the store's clock is 1 min 30 s ahead of this machine's"],
    [-7000, "the store's clock is 7 s behind this machine's"],
  ])("that is %i ms off harms no lease, and is told", async (ms, found) => {
    expect(await finding(ms, { clock: "exact" })).toMatchObject({
      ...{ status: "warning", found },
      remedy: expect.stringContaining("Set this machine's clock"),
    })
  })

  it("that is nearly right is fine, also where it comes in whole seconds", async () => {
    expect(await finding(4900, { clock: "exact" })).toMatchObject({ status: "ok" })
    expect(await finding(-5400, { clock: "coarse" })).toMatchObject({
      status: "ok",
      found: expect.stringMatching(/is 4.9 s behind/),
    })
    expect(await finding(4900, { clock: "exact", bootId: "b" })).toMatchObject({
      found: expect.stringMatching(/^the directory's clock/),
    })
  })

  it("that isn't there makes takeovers slow", async () => {
    expect(await finding(undefined, { clock: "none" })).toMatchObject({
      status: "warning",
      found: expect.stringMatching(/a whole ttl$/),
    })
  })
})

describe("a bucket", () => {
  it("is fit where nothing is kept and nobody is let in", () => {
    const fit = {
      iamConfiguration: { publicAccessPrevention: "enforced" },
      softDeletePolicy: { retentionDurationSeconds: "0" },
    }
    expect(judgeBucket("b", fit).map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok", "ok", "ok"])
  })

  it.each<[string, object, Finding["status"], string]>([
    ["versioning", { versioning: { enabled: true } }, "warning", "update gs://b --no-versioning"],
    ["soft delete", { softDeletePolicy: { retentionDurationSeconds: "604800" } }, "warning", "--clear-soft-delete"],
    ["retention", { retentionPolicy: { retentionPeriod: "60" } }, "problem", "--clear-retention-period"],
    ["retention", { retentionPolicy: { retentionPeriod: "60", isLocked: true } }, "problem", "use another bucket"],
    ["holds", { defaultEventBasedHold: true }, "problem", "--no-default-event-based-hold"],
    [
      "lifecycle",
      { lifecycle: { rule: [{ action: { type: "Delete" }, condition: { age: 1 } }] } },
      "warning",
      "prefix",
    ],
    ["public access", {}, "warning", "--public-access-prevention"],
  ])("is told what to do about %s: %j", (check, metadata, status, remedy) => {
    expect(of(judgeBucket("b", metadata as never), check)).toMatchObject({
      status,
      remedy: expect.stringContaining(remedy),
    })
  })

  it("may have rules that delete only what was replaced", () => {
    const rule = [{ action: { type: "Delete" }, condition: { numNewerVersions: 1 } }]
    expect(of(judgeBucket("b", { lifecycle: { rule } }), "lifecycle")?.status).toBe("ok")
  })
})

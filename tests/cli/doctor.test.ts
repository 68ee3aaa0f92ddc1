/** What doctor finds, and that each finding says what to do. */
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { judgeBucket } from "../../src/cli/doctor-bucket.ts"
import type { Finding } from "../../src/cli/doctor.ts"
import { CommandLine } from "./command-line.ts"

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

  it("warns of a directory that all may write to", async () => {
    const user = new CommandLine()
    await user.json("doctor")
    chmodSync(join(user.cwd, "store"), 0o777)
    const { out } = await user.run("doctor", "--store", user.store)
    expect(out).toMatch(/^warning permissions: mode 777.*\n +-> chmod o-w /m)
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

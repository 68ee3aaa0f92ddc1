import { describe, expect, it } from "vitest"
import { gcsTarget } from "./support/gcs-target.ts"
import { runMainJob } from "./support/main-job.ts"

describe("the main job on GCS", () => {
  // Tests processes: The main example loses no acknowledged row, and has one owner at a time.
  it("hands over, takes over and drains without a lost row or two owners at once", async () => {
    const { bucket, prefix, endpoint } = gcsTarget()
    const emulator = endpoint === undefined ? [] : ["--endpoint", endpoint]
    const { code, stdout, stderr, figures } = await runMainJob("--store", `gs://${bucket}/${prefix}`, ...emulator)
    expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: "", stdout: expect.stringContaining("main job: ") })
    expect(figures?.of).toBeGreaterThanOrEqual(3 * 2 * 10 * 5 + 12)
    expect(figures).toMatchObject({ found: figures?.of, owners: 1 })
    expect(figures?.takeover).toBeGreaterThan(0)
    expect(figures?.takeover).toBeLessThan(30_000)
    expect(figures?.handoff).toBeLessThan(15_000)
  })
})

import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { runMainJob, runMainJobOnTerminal } from "./support/main-job.ts"

describe("the main job on files", () => {
  // Tests processes: The main example loses no acknowledged row, and has one owner at a time.
  it("hands over, takes over and drains without a lost row or two owners at once", async () => {
    const directory = mkdtempSync(join(tmpdir(), "leasehold-main-job-"))
    try {
      const { code, stdout, stderr, figures } = await runMainJob("--store", directory)
      expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: "", stdout: expect.stringContaining("main job: ") })
      // 2 rounds of 10 requests of 5 rows, three times, and 12 rows or more before the kill.
      expect(figures?.of).toBeGreaterThanOrEqual(3 * 2 * 10 * 5 + 12)
      expect(figures).toMatchObject({ found: figures?.of, owners: 1 })
      // A process of this machine that is gone for sure is taken over at once; nothing waits longer than its own
      // budget.
      expect(figures?.takeover).toBeLessThan(20_000)
      expect(figures?.handoff).toBeLessThan(10_000)
      expect(readdirSync(directory)).not.toEqual([])
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it("waits at a terminal for its user to have opened the page", async () => {
    const { stdout } = await runMainJobOnTerminal("press Enter", "\\n")
    const [, before, after] = /^([^]*press Enter.*\n)([^]*)code 0\n$/.exec(stdout) ?? []
    expect(before).toMatch(/^The fleet as it happens: http/m)
    expect(before).not.toContain("1. a table")
    expect(after).toMatch(/^\n[^]*1\. a table[^]*\nmain job: /)
  })

  it("ends at once where it is interrupted meanwhile", async () => {
    const { stdout } = await runMainJobOnTerminal("press Enter", "\\x03")
    expect(stdout).toMatch(/press Enter[^]*ended by SIGINT\ncode 1\n$/)
    expect(stdout).not.toContain("1. a table")
  })

  it("says what is wrong with its options or its store, and starts nothing", async () => {
    const unknown = await runMainJob("--fast")
    expect(unknown).toMatchObject({ code: 2, stdout: "" })
    expect(unknown.stderr).toContain("--fast")
    const nowhere = await runMainJob("--store", "/proc/nowhere")
    expect(nowhere.code).toBe(1)
    expect(nowhere.stderr).toContain("/proc/nowhere")
    expect(nowhere.figures).toBeUndefined()
  })
})

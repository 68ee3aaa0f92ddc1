/** Who is in front of a terminal, asked in two ways. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { expect, it, onTestFinished } from "vitest"
import { byPs, bySystem } from "../../src/cli/run/process/terminal.ts"

// Tests command: Programs that the command starts beside what it runs are the system's, whatever PATH has.
it("is told by the system's own ps, whatever PATH has under that name", () => {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-ps-"))
  const path = process.env["PATH"]
  onTestFinished(() => {
    process.env["PATH"] = path
    rmSync(folder, { recursive: true })
  })
  writeFileSync(join(folder, "ps"), "#!/bin/sh\necho 1 1\n")
  chmodSync(join(folder, "ps"), 0o755)
  process.env["PATH"] = folder
  const some = [expect.stringMatching(/^[1-9]/), expect.stringMatching(/^-?[1-9]/)]
  expect(byPs()).toEqual(process.platform === "linux" ? bySystem() : some)
})

// What of a process group counts as being there.
import { spawn } from "node:child_process"
import { describe, expect, it } from "vitest"
import { ProcessGroup } from "../../src/cli/run/process/group.ts"

describe.skipIf(process.platform !== "linux")("a process group", () => {
  it("is there while a member lives, and not when nothing but a zombie is left of it", async () => {
    // The parent starts a group of one, says its number, and never looks how it ended.
    const script = [
      "import os, sys, time",
      "child = os.fork()",
      "if child == 0:",
      "  os.setpgid(0, 0)",
      "  sys.stdin.readline()",
      "  os._exit(0)",
      "os.setpgid(child, child)",
      "print(child, flush=True)",
      "time.sleep(60)",
    ].join("\n")
    const parent = spawn("python3", ["-c", script], { stdio: ["pipe", "pipe", "inherit"] })
    try {
      const [said] = (
        await new Promise<string>((resolve) => parent.stdout.once("data", (text: Buffer) => resolve(text.toString())))
      ).split("\n")
      const group = new ProcessGroup(Number(said))
      expect(group.isThere()).toBe(true)
      parent.stdin.end("\n")
      await expect.poll(() => group.isThere()).toBe(false)
      expect(() => process.kill(group.id, 0)).not.toThrow() // it is still listed
    } finally {
      parent.kill("SIGKILL")
    }
  })
})

/** Who decides on a signal where listeners that only clean up are about: each case a real process that gets SIGTERM. */
import process from "node:process"
import { describe, expect, it } from "vitest"
import { start } from "./programs.ts"

async function signalled(listeners: readonly string[]): Promise<string> {
  const program = start("cleaners", { args: listeners })
  await program.printed("ready")
  process.kill(program.child.pid!, "SIGTERM")
  const { code, signal, stdout } = await program.ended
  return [...stdout.trim().split("\n").slice(1), signal ?? code].join(", ")
}

describe("a process that gets SIGTERM", () => {
  it.each([
    [["ours", "3"], "released, 3 cleaned up, SIGTERM"],
    [["3", "ours"], "released, 3 cleaned up, SIGTERM"],
    [["ours", "4"], "released, 4 cleaned up, SIGTERM"],
    [["3", "4", "ours"], "released, 4 cleaned up, 3 cleaned up, SIGTERM"],
    [["ours", "4", "3"], "released, 4 cleaned up, 3 cleaned up, SIGTERM"],
  ])("ends once all have cleaned up, whoever listened first: %j", async (listeners, told) => {
    expect(await signalled(listeners)).toBe(told)
  })

  it("ends also where a cleaner waits for one that is gone", async () => {
    expect(await signalled(["ours", "3 that is over", "4"])).toBe("released, SIGTERM")
  })

  it.each([[["ours", "other"]], [["3", "ours", "other"]], [["other", "ours", "4"]]])(
    "is left to somebody who decides on it: %j",
    async (listeners) => {
      expect(await signalled(listeners)).toMatch(/^left to others(, 3 cleaned up)?, 7$/)
    },
  )
})

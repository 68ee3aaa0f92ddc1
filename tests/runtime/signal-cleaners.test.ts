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
    [["ours", "3"], "3 cleaned up, released, SIGTERM"],
    [["3", "ours"], "3 cleaned up, released, SIGTERM"],
    [["ours", "4"], "4 cleaned up, released, SIGTERM"],
    [["3", "4", "ours"], "4 cleaned up, 3 cleaned up, released, SIGTERM"],
    [["ours", "4", "3"], "4 cleaned up, 3 cleaned up, released, SIGTERM"],
  ])("ends once all have cleaned up, whoever listened first: %j", async (listeners, told) => {
    expect(await signalled(listeners)).toBe(told)
  })

  it.each([
    [["ours", "4 exits later"], "saving, saved, 3"],
    [["4 exits later", "ours"], "saving, saved, 3"],
    [["3", "ours", "4 exits later"], "saving, saved, 3 cleaned up, 3"],
    [["ours", "4 kills later"], "saving, saved, released, SIGTERM"],
  ])(
    "is left to a callback of signal-exit that decides, and nothing is released before: %j",
    async (listeners, told) => {
      expect(await signalled(listeners)).toBe(told)
    },
  )

  it.each([
    [["ours", "3 breaks", "what catches"], "broke, lives, released, SIGTERM"],
    [["ours", "4 breaks", "what catches"], "broke, lives, released, SIGTERM"],
    [["ours", "4 breaks"], "broke, 1"],
  ])(
    "keeps what it owns while a cleaner's error leaves it alive, up to the next signal: %j",
    async (listeners, told) => {
      expect(await signalled(listeners)).toBe(told)
    },
  )

  it("is left to a listener that can't be told from a cleaner that was taken off", async () => {
    expect(await signalled(["3 taken off", "ours", "other"])).toBe("3 cleaned up, 7")
  })

  it.each([[["ours", "other"]], [["3", "ours", "other"]], [["other", "ours", "4"]]])(
    "is left to somebody who decides on it: %j",
    async (listeners) => {
      expect(await signalled(listeners)).toMatch(/^left to others(, 3 cleaned up)?, 7$/)
    },
  )
})

import { describe, expect, it } from "vitest"
import { run } from "../runtime/programs.ts"

describe("a process that used a manager", () => {
  // Tests leftovers: 10,000 acquires and releases, and 1,500 sandboxes, leave nothing; an idle process ends.
  it("exits by itself once the manager is disposed, everything released", async () => {
    const { code, signal, stdout, stderr } = await run("../../actors/programs/idle-manager")
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" })
    const lines = stdout.trim().split("\n")
    expect(lines.at(-1)).toBe("disposed")
    expect(lines.filter((line) => line.startsWith("Released")).toSorted()).toEqual([
      "Released counter/x",
      "Released counter/y",
      "Released counter/z",
    ])
  })

  // Tests input: Hooks, observers and handlers may throw; `restore` may hang or ignore its abort.
  it("neither dies nor hangs of what hooks, uses and observers throw, and hears of each", async () => {
    const { code, stdout } = await run("../../actors/programs/unhandled")
    expect(code).toBe(0)
    expect(stdout).not.toContain("unhandled")
    for (const name of ["run", "close", "checkpoint", "observer"])
      expect(stdout).toContain(`Error: ${name} as scripted`)
  })
})

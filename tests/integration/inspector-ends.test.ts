// Pins that an inspector leaves nothing behind: with all disposed, the process that had two of them ends by itself.
import { expect, it } from "vitest"
import { spawnScript } from "./support/spawn.ts"

it.each(["node", "deno"] as const)(
  "a process ends by itself once its inspectors are disposed, on %s",
  async (runtime) => {
    const script = new URL("./inspector-program.ts", import.meta.url)
    const { code, stdout, stderr } = await spawnScript({ runtime, script }).ended
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "both are seen\nall is disposed\n", stderr: "" })
  },
)

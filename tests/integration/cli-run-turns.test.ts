/** That several runs which ask for one key all have it, one after the other. */
import { describe, expect, it } from "vitest"
import { Shell } from "./support/command.ts"

const LONG = 60_000

describe("several runs that ask for one key", () => {
  it("have their turns, alone, none of them told to leave", { timeout: LONG }, async () => {
    const shell = new Shell()
    const busy = `${shell.directory}/busy`
    // Long enough for the others to come, and for one of them to ask.
    const script = `trap "echo told" TERM; mkdir ${busy} || echo two; sleep 0.5; rmdir ${busy}`
    const run = ["run", "--ask", "--on-request", "ignore", "k", "--", "sh", "-c", script]
    const runs = await Promise.all([1, 2, 3, 4, 5].map(() => shell.call(...run)))
    expect(runs.map(({ code, stdout }) => ({ code, stdout }))).toEqual(runs.map(() => ({ code: 0, stdout: "" })))
  })
})

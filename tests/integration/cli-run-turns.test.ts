/** That several runs which ask for one key all have it, one after the other. */
import { describe, expect, it } from "vitest"
import { isWaitedFor, says, Shell } from "./support/command.ts"

describe("several runs that ask for one key", () => {
  // Tests command: Several runs on one key have their turns alone; those that ask come before those that wait.
  it("have their turns, alone, whoever asks for it meanwhile", async () => {
    const shell = new Shell()
    const busy = `${shell.directory}/busy`
    const run = (work: string): readonly string[] => {
      const script = `trap "echo told" TERM; mkdir ${busy} || echo two; ${work}; rmdir ${busy}`
      return ["run", "--ask", "--on-request", "exec:true", "k", "--", "sh", "-c", script]
    }
    const first = shell.start(...run("echo at work; read line"))
    await says(first, "at work")
    const asked = says(first, "asks for the key")
    const others = [2, 3, 4, 5].map(() => shell.start(...run("sleep 0.5")))
    for (const { child } of others) child.stdin?.end()
    await Promise.all([asked, isWaitedFor(shell, "k", others[0]!)])
    first.child.stdin?.end("\n")
    expect(await first.ended).toMatchObject({ code: 0, stdout: "at work\n" })
    for (const { code, stdout } of await Promise.all(others.map(({ ended }) => ended)))
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" })
  })
})

/** What a run does when another asks for its key. */
import { describe, expect, it } from "vitest"
import { says, Shell } from "./support/command.ts"

const LONG = 60_000

describe("a request", () => {
  const work = 'trap "echo told; exit 3" TERM; echo at work; while :; do sleep 0.1; done'

  it("ends the command, which may say how it ended", { timeout: LONG }, async () => {
    const shell = new Shell()
    const run = shell.start("run", "k", "--", "sh", "-c", work)
    await says(run, "at work")
    expect((await shell.call("request", "--for", "30", "k")).stdout).toContain("has left")
    expect(await run.ended).toMatchObject({ code: 3, stdout: "at work\ntold\n" })
  })

  it("is made by a run that asks, and not by one that waits", { timeout: LONG }, async () => {
    const shell = new Shell()
    const run = shell.start("run", "k", "--", "sh", "-c", work)
    await says(run, "at work")
    expect(await shell.call("run", "--lock-timeout", "1.5", "k", "--", "true")).toMatchObject({ code: 75 })
    expect(await shell.call("run", "--ask", "k", "--", "echo", "mine")).toMatchObject({ code: 0, stdout: "mine\n" })
    expect(await run.ended).toMatchObject({ stdout: "at work\ntold\n" })
  })

  it("is ignored, or answered by another command, where the user says so", { timeout: LONG }, async () => {
    const shell = new Shell()
    const deaf = shell.start("run", "--on-request", "ignore", "a", "--", "sh", "-c", work)
    const own = shell.start("run", "--on-request", 'exec:kill -KILL -"$LEASEHOLD_GROUP"', "b", "--", "sh", "-c", work)
    await Promise.all([says(deaf, "at work"), says(own, "at work")])
    expect((await shell.call("request", "--for", "2", "a")).stdout).toContain("hasn't left")
    expect((await shell.call("request", "--for", "30", "b")).stdout).toContain("has left")
    expect(await own.ended).toMatchObject({ signal: "SIGKILL", stdout: "at work\n" })
    deaf.signal("SIGTERM")
    expect(await deaf.ended).toMatchObject({ code: 3 })
  })

  it("ends a command that doesn't obey, after the grace", { timeout: LONG }, async () => {
    const shell = new Shell()
    const deaf = "trap 'echo told' TERM; echo at work; while :; do sleep 0.02; done"
    const run = shell.start("run", "--grace", "0.3", "k", "--", "sh", "-c", deaf)
    await says(run, "at work")
    expect((await shell.call("request", "--for", "30", "k")).stdout).toContain("has left")
    expect(await run.ended).toMatchObject({ signal: "SIGKILL", stdout: "at work\ntold\n" })
  })

  it("begins nothing that outlives the run", { timeout: LONG }, async () => {
    const shell = new Shell()
    const hook = "trap 'echo hook ended; exit' TERM; echo hook begins; while :; do sleep 0.02; done"
    const run = shell.start("run", "--on-request", `exec:${hook}`, "k", "--", "sh", "-c", "echo at work; read line")
    await says(run, "at work")
    const asked = says(run, "hook begins")
    await Promise.all([asked, shell.call("request", "--for", "2", "k")])
    run.child.stdin?.end("\n")
    // Its output ends with the last that could write to it.
    expect(await run.ended).toMatchObject({ code: 0, stdout: "at work\nhook begins\nhook ended\n" })
  })
})

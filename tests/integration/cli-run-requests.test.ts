/** What a run does when another asks for its key. */
import { describe, expect, it } from "vitest"
import { areRenewed, says, Shell } from "./support/command.ts"

describe("a request", () => {
  const work = 'trap "echo told; exit 3" TERM; echo at work; while :; do sleep 0.1; done'

  // Tests command: A request ends the command, by force after the grace, and what is run for the request with the run.
  it("ends the command, which may say how it ended", async () => {
    const shell = new Shell()
    const run = shell.start("run", "k", "--", "sh", "-c", work)
    await says(run, "at work")
    expect((await shell.call("request", "--for", "30", "k")).stdout).toContain("has left")
    expect(await run.ended).toMatchObject({ code: 3, stdout: "at work\ntold\n" })
  })

  // Tests command: A waiting run asks nobody to leave; an asking one does.
  it("is made by a run that asks, and not by one that waits", async () => {
    const shell = new Shell()
    const run = shell.start("run", "k", "--", "sh", "-c", work)
    await says(run, "at work")
    expect(await shell.call("run", "--lock-timeout", "5", "k", "--", "true")).toMatchObject({ code: 75 })
    expect(await shell.call("run", "--ask", "k", "--", "echo", "mine")).toMatchObject({ code: 0, stdout: "mine\n" })
    expect(await run.ended).toMatchObject({ stdout: "at work\ntold\n" })
  })

  it("is ignored, or answered by another command, where the user says so", async () => {
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

  // Tests command: The program run for a request gets the lease of then, and no other run's.
  it("is answered by a command that is told of the lease as it is, not of an outer run's", async () => {
    const outer = { KEY: "outer", TOKEN: "1", OWNER: "outer", DEADLINE: "2", LEASE_FILE: "/outer", WAITER: "outer" }
    const env = Object.fromEntries(Object.entries(outer).map(([name, value]) => [`LEASEHOLD_${name}`, value]))
    const shell = new Shell("node", env)
    const tells = (when: string): string =>
      `for name in KEY TOKEN OWNER LEASE_FILE DEADLINE; do echo "${when} $name"; printenv LEASEHOLD_$name; done; echo "${when} end"`
    const tellsFirst = `${tells("before")}; trap "exit 3" TERM; while :; do sleep 0.1; done`
    const hook = `exec:${tells("asked")}; echo "$LEASEHOLD_WAITER"; cat "$LEASEHOLD_LEASE_FILE"; kill -TERM -"$LEASEHOLD_GROUP"`
    const run = shell.start("run", "--ttl", "12", "--on-request", hook, "a", "b", "--", "sh", "-c", tellsFirst)
    const first = /before DEADLINE\n(\d+)/.exec(await says(run, "before end"))?.[1]
    await areRenewed(shell, run, ["a", "b"], Number(first) * 1000 + 3500) // the record says a tenth of the ttl more
    await shell.call("request", "--for", "30", "a")
    const { code, stdout } = await run.ended
    const told = (when: string): readonly string[] =>
      new RegExp(`^${when} KEY\n([^]*)${when} DEADLINE\n(\\d+)\n${when} end\n([^]*)`, "m").exec(stdout)!.slice(1)
    const [[before, atFirst], [asked, later, rest]] = [told("before"), told("asked")]
    expect({ code, asked }).toEqual({ code: 3, asked: before!.replaceAll("before", "asked") })
    expect(asked).toMatch(/^a\nb\nasked TOKEN\n\d{13}\n\d{13}\nasked OWNER\n.+\nasked LEASE_FILE\n.+lease\.json\n$/)
    expect(Number(later)).toBeGreaterThan(Number(atFirst))
    expect(rest).toMatch(/^(?!outer).+\n\{/)
    const { deadline } = JSON.parse(rest!.slice(rest!.indexOf("{"))) as { deadline: number }
    expect(Number(later)).toBeLessThanOrEqual(deadline / 1000)
  })

  it("ends a command that doesn't obey, after the grace", async () => {
    const shell = new Shell()
    const deaf = "trap 'echo told' TERM; echo at work; while :; do sleep 0.02; done"
    const run = shell.start("run", "--grace", "3", "k", "--", "sh", "-c", deaf)
    await says(run, "at work")
    expect((await shell.call("request", "--for", "30", "k")).stdout).toContain("has left")
    expect(await run.ended).toMatchObject({ signal: "SIGKILL", stdout: "at work\ntold\n" })
  })

  it.each([
    ["also what is deaf", "trap '' TERM; echo hook begins; while :; do sleep 0.02; done", ""],
    ["also what it began", "(trap '' TERM; while :; do sleep 0.02; done) & echo hook begins; wait", ""],
    [
      "which it is told",
      "trap 'echo hook ended; exit' TERM; echo hook begins; while :; do sleep 0.02; done",
      "hook ended\n",
    ],
  ])("begins nothing that outlives the run: %s", async (_, hook, end) => {
    const shell = new Shell()
    const run = shell.start("run", "--on-request", `exec:${hook}`, "k", "--", "sh", "-c", "echo at work; read line")
    await says(run, "at work")
    const asked = says(run, "hook begins")
    await Promise.all([asked, shell.call("request", "--for", "2", "k")])
    run.child.stdin?.end("\n")
    // Its output ends with the last that could write to it.
    expect(await run.ended).toMatchObject({ code: 0, stdout: `at work\nhook begins\n${end}` })
  })
})

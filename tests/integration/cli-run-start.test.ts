/** What a command begins with, and what becomes of a run that has to end before it does, or whose command doesn't end. */
import { describe, expect, it } from "vitest"
import { says, Shell } from "./support/command.ts"
import type { Runtime } from "./support/spawn.ts"

const LONG = 60_000

describe.each<Runtime>(["node", "deno"])("the environment (%s)", (runtime) => {
  it("is passed on whole, also what no shell could name", { timeout: LONG }, async () => {
    const shell = new Shell(runtime, { "a.b": "1 2", "BASH_FUNC_f%%": "() {  echo from f\n}" })
    const { code, stdout } = await shell.call("run", "k", "--", "bash", "-c", "printenv a.b LEASEHOLD_KEY; f")
    expect({ code, stdout }).toEqual({ code: 0, stdout: "1 2\nk\nfrom f\n" })
  })
})

describe("a request", () => {
  it("ends a command that doesn't obey, after the grace", { timeout: LONG }, async () => {
    const shell = new Shell()
    const work = "trap 'echo told' TERM; echo at work; while :; do sleep 0.02; done"
    const run = shell.start("run", "--grace", "0.3", "k", "--", "sh", "-c", work)
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

describe("a run that asks and doesn't queue", () => {
  it("fails where another asks already, with the exit code that is wanted", { timeout: LONG }, async () => {
    const shell = new Shell()
    const holder = shell.start("run", "--on-request", "ignore", "k", "--", "sh", "-c", "echo at work; sleep 1000")
    await says(holder, "at work")
    shell.start("run", "--ask", "k", "--", "true")
    const waiter = async (): Promise<unknown> =>
      (JSON.parse((await shell.call("status", "--json", "k")).stdout) as { waiter: unknown }).waiter
    await expect.poll(waiter, { timeout: 20_000 }).not.toBeNull()
    const words = ["--ask", "--no-queue", "k", "--", "echo", "mine"]
    expect(await shell.call("run", ...words)).toMatchObject({ code: 76, stdout: "" })
    expect(await shell.call("run", "-E", "9", ...words)).toMatchObject({ code: 9, stdout: "" })
  })
})

describe("a store that can't be reached", () => {
  it("fails a run and a look at a key with a code of its own", { timeout: LONG }, async () => {
    const shell = new Shell("node", { STORAGE_EMULATOR_HOST: "http://127.0.0.1:9" })
    const at = ["--store", "gs://nowhere"]
    const [run, status] = await Promise.all([
      shell.call("run", ...at, "--lock-timeout", "0", "k", "--", "echo", "mine"),
      shell.call("status", ...at, "k"),
    ])
    expect(run).toMatchObject({ code: 69, stdout: "" })
    expect(status).toMatchObject({ code: 69, stdout: "" })
  })
})

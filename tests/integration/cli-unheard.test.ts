/** A command whose words reach nobody: its reader has left, its terminal is closed, or its disk is full. */
import { execFileSync } from "node:child_process"
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { areRenewed, leasesEnd, leasehold, says, Shell } from "./support/command.ts"
import { type Ended, type Runtime, type Spawned, spawnProgram, spawnScript } from "./support/spawn.ts"

/**
 * Takes a while to obey, writes that down, and ends with a code of its own. What its shell says of it nobody hears,
 * too.
 */
const obeys = (log: string): string =>
  `exec 2>/dev/null; trap 'sleep 0.3; echo obeyed >${log}; exit 3' TERM; echo at work; while :; do sleep 0.1; done`

/** Writes to a pipe, by a description of its own, until not a byte more goes in. */
const FILL = `
import os, sys
pipe = os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK)
for size in (4096, 1):
  try:
    while True: os.write(pipe, b"x" * size)
  except BlockingIOError: pass`

/**
 * A run whose standard error is a pipe that somebody has open and nobody reads, and that is full once the command is at
 * work.
 */
async function runStuck(shell: Shell, runtime: Runtime, work: string, ...options: string[]): Promise<Stuck> {
  const pipe = join(shell.directory, "pipe")
  execFileSync("mkfifo", [pipe])
  const reader = openSync(pipe, "r+")
  onTestFinished(() => closeSync(reader))
  const command = `python3 -c '${FILL}' ${pipe}; ${work}`
  const run = spawnScript({
    runtime,
    script: leasehold,
    args: ["run", ...options, "k", "--", "sh", "-c", command],
    env: { LEASEHOLD_STORE: `file:${shell.directory}`, NO_COLOR: "1" },
    first: `exec 2>${pipe}`,
  })
  onTestFinished(() => void run.signal("SIGKILL"))
  await says(run, "at work")
  return { run, pipe }
}

interface Stuck {
  readonly run: Spawned
  readonly pipe: string
}

async function stateOf(shell: Shell, key: string): Promise<unknown> {
  return JSON.parse((await shell.call("status", "--json", key)).stdout)
}

describe.each<Runtime>(["node", "deno"])("where nobody hears it (%s)", (runtime) => {
  // Tests command: A run with unread messages goes on; a result that can't be written is a failure.
  it("a run goes on: its command is told of a request, has its grace, and frees the key", async () => {
    const shell = new Shell(runtime)
    const log = join(shell.directory, "log")
    const run = shell.start("run", "k", "--", "sh", "-c", obeys(log))
    await says(run, "at work")
    run.child.stderr?.destroy()
    expect((await shell.call("request", "--for", "30", "k")).stdout).toContain("has left")
    expect(await run.ended).toMatchObject({ code: 3, signal: null })
    expect(readFileSync(log, "utf8")).toBe("obeyed\n")
    expect(await stateOf(shell, "k")).toMatchObject({ state: "released" })
  })

  // Tests command: A run acts first and reports afterwards: a stuck reader stops no signal, renewal or handoff.
  it("a run whose reader stands still goes on in the same way, and is heard when that one reads on", async () => {
    const shell = new Shell(runtime)
    const log = join(shell.directory, "log")
    const { run, pipe } = await runStuck(shell, runtime, obeys(log))
    expect((await shell.call("request", "--for", "30", "k")).stdout).toContain("has left")
    expect(await run.ended).toMatchObject({ code: 3, signal: null })
    expect(readFileSync(log, "utf8")).toBe("obeyed\n")
    expect(await stateOf(shell, "k")).toMatchObject({ state: "released" })
    const reader = spawnProgram("cat", [pipe])
    onTestFinished(() => void reader.signal("SIGKILL"))
    expect(await says(reader, "told to end")).toMatch(/^x+leasehold: "[^"]+" asks for the key: the command is told/)
  })

  // Tests command: No signal ends a run that holds a lease.
  it("a run whose reader stands still ends as its command did, however often it is told to end", async () => {
    const shell = new Shell(runtime)
    const log = join(shell.directory, "log")
    const { run } = await runStuck(shell, runtime, obeys(log))
    expect((await shell.call("request", "--for", "30", "k")).stdout).toContain("has left")
    // It waits for its reader for a second, which is told to end over and over.
    await expect.poll(() => run.signal("SIGTERM"), { interval: 20 }).toBe(false)
    expect(await run.ended).toMatchObject({ code: 3, signal: null })
  })

  it("a run whose reader stands still renews its lease after it had something to say", async () => {
    const shell = new Shell(runtime)
    const { run } = await runStuck(
      shell,
      runtime,
      "echo at work; read line; exit 5",
      "--ttl",
      "3",
      "--on-request=exec:true",
    )
    expect((await shell.call("request", "--for", "1", "k")).stdout).toContain("hasn't left")
    await areRenewed(shell, run, ["k"], leasesEnd(shell, ["k"]) + 3000)
    run.child.stdin?.end("\n")
    expect(await run.ended).toMatchObject({ code: 5, signal: null })
  })

  it("a run is heard to its end although all that it started was told to end, as a service is", async () => {
    const shell = new Shell(runtime)
    const work = "trap '' TERM; echo at work; while :; do sleep 0.1; done"
    const run = shell.start("run", "--ttl", "5min", "--on-request=exec:true", "k", "--", "sh", "-c", work)
    await says(run, "at work")
    const heard = says(run, "asks for the key")
    await Promise.all([heard, shell.call("request", "--for", "1", "k")])
    execFileSync("pkill", ["-TERM", "-P", String(run.child.pid)])
    const { generation } = (await stateOf(shell, "k")) as { generation: string }
    expect(await shell.call("unlock", "k", "--generation", generation)).toMatchObject({ code: 0 })
    expect(await run.ended).toMatchObject({ code: 79, stderr: expect.stringContaining("the lease is lost") })
  })

  it("a run in a session of its own outlives its terminal, and ends in the same way", async () => {
    const shell = new Shell(runtime)
    const [log, code] = [join(shell.directory, "log"), join(shell.directory, "code")]
    const line = `setsid sh -c '"$@"; echo $? >${code}' sh "$@" & read line`
    const hungUp = await shell.hungUp(line, "at work", "run", "k", "--", "sh", "-c", obeys(log))
    expect(hungUp).toMatchObject({ code: 0 })
    expect(await stateOf(shell, "k")).toMatchObject({ state: "owned" })
    expect((await shell.call("request", "--for", "30", "k")).stdout).toContain("has left")
    await expect.poll(() => existsSync(code) && readFileSync(code, "utf8")).toBe("3\n")
    expect(readFileSync(log, "utf8")).toBe("obeyed\n")
    expect(await stateOf(shell, "k")).toMatchObject({ state: "released" })
  })

  it("a result that its reader doesn't wait for ends quietly, and well", async () => {
    const shell = new Shell(runtime)
    mkdirSync(join(shell.directory, "leases"))
    const list = shell.start("ls")
    list.child.stdout?.destroy()
    expect(await list.ended).toMatchObject({ code: 0, signal: null, stderr: "" })
  })

  // Tests command: With `--json` every line of standard error is JSON, from the wait to the failure.
  it.skipIf(!existsSync("/dev/full"))("a result that can't be written is a failure", async () => {
    const { directory } = new Shell()
    mkdirSync(join(directory, "leases"))
    const env = { LEASEHOLD_STORE: `file:${directory}`, NO_COLOR: "1" }
    const list = (...more: string[]): Promise<Ended> =>
      spawnScript({ runtime, script: leasehold, args: ["ls", ...more], env, first: "exec >/dev/full" }).ended
    const message = "The result can't be written: .*o space left.*"
    const { code, stderr } = await list()
    const said = expect.stringMatching(new RegExp(`^leasehold: ${message}\\. Make room .*\\.\\n$`))
    expect({ code, stderr }).toEqual({ code: 74, stderr: said })
    const told = await list("--json")
    expect({ code: told.code, ...(JSON.parse(told.stderr) as object) }).toEqual({
      ...{ code: 74, exitCode: 74, error: "UnwrittenError" },
      ...{ message: expect.stringMatching(new RegExp(`^${message}$`)), next: expect.stringMatching(/./) },
    })
  })
})

/** How a command ends when its lease does: in time, at once where another may be at work, and said by an exit code. */
import { spawnSync } from "node:child_process"
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import process from "node:process"
import { describe, expect, it, onTestFinished } from "vitest"
import { fileStore } from "../../src/locks/stores/file/file-store.ts"
import { areRenewed, leasesEnd, says, Shell } from "./support/command.ts"
import type { Spawned } from "./support/spawn.ts"

/** Says so when it is told to end, and goes on; `LEASEHOLD_LEASE_FILE` is shown at each of its steps. */
const deaf = (then: string): string => `trap '${then}' TERM; echo at work; while :; do sleep 0.02; done`

/** Takes what stores the leases away, and leaves a file in its place. It is put back after the test. */
function takeAway(directory: string): void {
  renameSync(directory, `${directory}.gone`)
  writeFileSync(directory, "")
  onTestFinished(() => {
    rmSync(directory)
    renameSync(`${directory}.gone`, directory)
  })
}

/** Another owns the key from now on, whoever owned it, as if its lease had been over. */
async function takeOver(directory: string, key: string): Promise<void> {
  const store = fileStore({ directory })
  await store.start({ deadline: 10_000 })
  const ref = { area: "leases", name: key } as const
  const read = await store.read(ref, { deadline: 10_000, limit: 65_536 })
  if (read.kind !== "found") throw new Error(`the record is ${read.kind}`)
  const body = { ...(JSON.parse(new TextDecoder().decode(read.body)) as object), ownerId: "another", owner: null }
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  expect(await store.put(ref, read.generation, bytes, { deadline: 10_000 })).toMatchObject({ kind: "applied" })
  await store.close()
}

/** The guardian of what a wrapper runs. */
function guardianOf({ child }: Spawned): number {
  const { stdout } = spawnSync("ps", ["-o", "pid=,args=", "--ppid", String(child.pid)], { encoding: "utf8" })
  const line = stdout.split("\n").find((each) => each.includes("leasehold guardian")) ?? ""
  return Number.parseInt(line, 10)
}

/** What only waits for its parent to look lives no more. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" })
  return stdout !== "" && !stdout.startsWith("Z")
}

describe("a lease that is lost", () => {
  // Tests command: A command gets SIGTERM before its lease is over, and SIGKILL before others may start.
  it("to another ends the command at once, without a word", async () => {
    const shell = new Shell()
    const run = shell.start("run", "k", "--", "sh", "-c", deaf("echo told"))
    await says(run, "at work")
    await takeOver(shell.directory, "k")
    const { code, stdout, stderr } = await run.ended
    expect({ code, stdout }).toEqual({ code: 79, stdout: "at work\n" })
    expect(stderr).toContain("another process owns the key")
  })

  it("to a store that is gone ends the command in time: told first, and dead before the deadline", async () => {
    const shell = new Shell()
    const told = "date +told\\ %s%3N; cat $LEASEHOLD_LEASE_FILE; while :; do date +%s%3N; done"
    const run = shell.start("run", "--ttl", "12", "k", "--", "sh", "-c", deaf(told))
    await says(run, "at work")
    takeAway(shell.directory)
    const { code, stdout, stderr } = await run.ended
    expect({ code, stderr }).toMatchObject({ code: 79, stderr: expect.stringContaining("was not renewed in time") })
    const deadline = Number(/"deadline": (\d+)/.exec(stdout)?.[1])
    const moments = stdout.split("\n").filter((line) => /^(told )?\d+$/.test(line))
    const [first, ...rest] = moments.map((line) => Number(line.replace("told ", "")))
    expect(first).toBeGreaterThanOrEqual(deadline - 2050) // a sixth of the ttl; the boot clock has steps
    expect(rest.length).toBeGreaterThan(0)
    expect(rest.at(-1)).toBeLessThan(deadline + 1200) // from then on it is over for others: a tenth of the ttl
  })

  it("is said by the exit code, although the command obeyed in time", async () => {
    const shell = new Shell()
    const run = shell.start("run", "--ttl", "3", "k", "--", "sh", "-c", deaf("exit 0"))
    await says(run, "at work")
    takeAway(shell.directory)
    expect(await run.ended).toMatchObject({ code: 79, stderr: expect.stringContaining("was lost") })
  })

  // Tests command: A lease file is current until the end; a failing write of it stops no renewal.
  it("is what the command can read in its lease file, which was current until then", async () => {
    const shell = new Shell()
    const last = 'cat "$LEASEHOLD_LEASE_FILE"; exit'
    const run = shell.start("run", "--ttl", "12", "k", "--", "sh", "-c", `echo $LEASEHOLD_LEASE_FILE; ${deaf(last)}`)
    const [path = ""] = (await says(run, "at work")).split("\n")
    const lease = (): { deadline: number; held: boolean } => JSON.parse(readFileSync(path, "utf8")) as never
    const before = lease()
    expect(before).toMatchObject({ held: true })
    await expect.poll(() => lease().deadline).toBeGreaterThan(before.deadline)
    const unlocked = async (): Promise<number | null> => {
      const { generation } = JSON.parse((await shell.call("status", "--json", "k")).stdout) as { generation: string }
      return (await shell.call("unlock", "k", "--generation", generation)).code
    }
    await expect.poll(unlocked).toBe(0) // a renewal may come between the two
    const { stdout } = await run.ended
    const after = JSON.parse(stdout.slice(stdout.indexOf("{"))) as unknown
    expect(after).toMatchObject({ held: false, keys: [{ key: "k", held: false }] })
  })
})

describe("what a command left in its group", () => {
  // Tests command: What a command left in its group is guarded as long as it lives.
  it.each(["SIGKILL", "SIGSTOP"] as const)(
    "doesn't outlive the lease where the run gets %s while that has its grace",
    async (signal) => {
      const shell = new Shell()
      const whileLed = "while kill -0 $$ 2>/dev/null; do sleep 0.02; done"
      const left = `trap "" TERM; ${whileLed}; sleep 0.5; echo alone; exec sleep 50`
      const run = shell.start("run", "--ttl", "12", "k", "--", "sh", "-c", `(${left}) & echo left $!; sleep 0.5`)
      const pid = Number(/left (\d+)/.exec(await says(run, "alone"))?.[1])
      onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGKILL")))
      expect(isAlive(pid)).toBe(true)
      run.signal(signal)
      await expect.poll(() => isAlive(pid)).toBe(false)
      run.signal("SIGKILL")
      await run.ended
    },
  )
})

describe("a lease that is held", () => {
  // Tests command.
  it("is renewed although its file can't be written, which is said once", async () => {
    const shell = new Shell()
    const script = "echo $LEASEHOLD_LEASE_FILE; echo at work; read line; exit 5"
    const run = shell.start("run", "--ttl", "12", "k", "--", "sh", "-c", script)
    const [path = ""] = (await says(run, "at work")).split("\n")
    const before = leasesEnd(shell, ["k"])
    rmSync(dirname(path), { recursive: true, maxRetries: 5 })
    await areRenewed(shell, run, ["k"], before + 3000)
    run.child.stdin?.end("\n")
    const { code, stderr } = await run.ended
    expect({ code, said: stderr.match(/can't be kept current/g) }).toEqual({ code: 5, said: [expect.any(String)] })
  })

  // Tests command: A run whose release may not have reached the store says which key stays owned until when.
  it("is said to stand yet where its release didn't get through, and until when", async () => {
    const shell = new Shell()
    const run = shell.start("run", "k", "--", "sh", "-c", "echo at work; read line; exit 5")
    await says(run, "at work")
    takeAway(shell.directory)
    run.child.stdin?.end("\n")
    const { code, stderr } = await run.ended
    const until = String.raw`until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \(in \d+(\.\d)? s\)`
    expect(code).toBe(5)
    expect(stderr).toMatch(
      new RegExp(`^leasehold: the release of "k" is not known to have reached the store: .+ ${until}\n$`),
    )
  })

  // Tests command: A command without a guardian is ended.
  it("is given up where nobody guards the command any more", async () => {
    const run = new Shell().start("run", "k", "--", "sh", "-c", deaf("echo told; exit 3"))
    await says(run, "at work")
    process.kill(guardianOf(run), "SIGKILL")
    const { code, stdout, stderr } = await run.ended
    expect({ code, stdout }).toEqual({ code: 3, stdout: "at work\ntold\n" })
    expect(stderr).toContain("guardian was ended")
  })
})

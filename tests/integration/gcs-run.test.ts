/**
 * `leasehold run` on a bucket that falls silent: what the command is told, how it ends, and what a signal does
 * meanwhile.
 */
import { describe, expect, it } from "vitest"
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy/proxy.ts"
import { says, Shell } from "./support/command.ts"
import { gcsTarget } from "./support/gcs-target.ts"

const WRITE = { on: "POST", of: /leases/ }

/** A machine whose way to the bucket can be broken. */
async function machine(): Promise<AsyncDisposable & { shell: Shell; proxy: FaultProxy; at: readonly string[] }> {
  const { bucket, prefix, endpoint } = gcsTarget()
  const proxy = await startFaultProxy({ target: endpoint! })
  const shell = new Shell("node", { STORAGE_EMULATOR_HOST: proxy.url })
  return {
    shell,
    proxy,
    at: ["--store", `gs://${bucket}/${prefix}`],
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  }
}

describe.skipIf(gcsTarget().endpoint === undefined)("a run on a bucket", () => {
  // Tests command: A command gets SIGTERM before its lease is over, and SIGKILL before others may start.
  it("loses its lease when the bucket falls silent before the command was let in, and says so", async () => {
    await using place = await machine()
    await using other = await machine()
    const { shell, proxy, at } = place
    // By a grant: only a key that was handed over has to be renewed before the command is let in. Silence falls right
    // after the waiter has renewed its mark: a write that is under way then would hide the grant from it for too long.
    const command = "trap 'echo asked; read line; exit 0' TERM; echo at work; sleep 60 & wait"
    const owner = other.shell.start("run", ...at, "k", "--", "sh", "-c", command)
    await says(owner, "at work")
    const asked = says(owner, "asked")
    const run = shell.start("run", ...at, "--ttl", "6", "--ask", "k", "--", "echo", "at work")
    await asked
    await proxy.arrival(WRITE)
    using _silence = proxy.always({ ...WRITE, fault: { kind: "stall", when: "before" } })
    owner.child.stdin?.end("\n")
    await owner.ended
    const stderr: unknown = expect.stringContaining("was lost")
    expect(await run.ended).toEqual({ code: 79, signal: null, stdout: "", stderr })
  })

  // Tests command: No signal ends a run that holds a lease.
  it("ends as its command did when it is told to end while it releases", async () => {
    await using place = await machine()
    const { shell, proxy, at } = place
    const run = shell.start("run", ...at, "k", "--", "sh", "-c", "echo at work; read line; exit 7")
    await says(run, "at work")
    const releases = proxy.arrival(WRITE)
    proxy.next({ ...WRITE, fault: { kind: "delay", when: "after", ms: 500 } })
    run.child.stdin?.end("\n")
    await releases
    run.signal("SIGTERM")
    expect(await run.ended).toMatchObject({ code: 7, signal: null })
    expect(JSON.parse((await shell.call("status", ...at, "--json", "k")).stdout)).toMatchObject({ state: "released" })
  })
})

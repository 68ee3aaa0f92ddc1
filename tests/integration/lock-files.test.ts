/** Lock files between real processes: what a person reads, who takes over from the dead, and that
 * an ending process releases nothing. */
import { mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { describe, expect, it, onTestFinished } from "vitest"
import { LockTimeoutError } from "../../src/locks/api/errors.ts"
import { FileLock } from "../../src/locks/stores/file/mod.ts"
import { processes } from "../../src/runtime/machine/processes.ts"
import { failure } from "../support/lock-world.ts"
import { LockProcess } from "./support/lock-process.ts"
import { Pipe, PIPE_HOLDS } from "./support/pipe.ts"
import type { Runtime } from "./support/spawn.ts"

const key = "deploy/web"
/** Nothing here waits for a lease to run out, unless it says so. */
const LONG = "1 h"
/** More than a pipe holds, so that the write goes on until somebody reads. */
const WRITTEN = 20 * PIPE_HOLDS

interface Scene {
  readonly directory: string
  readonly lock: FileLock
  readonly start: (runtime: Runtime, ttl?: string) => Promise<LockProcess>
  /** A process that owns the key. */
  readonly owner: (runtime: Runtime, ttl?: string) => Promise<LockProcess>
  /** What `cat` shows. */
  readonly shown: () => Promise<Record<string, unknown>>
}

async function scene(): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-files-"))
  onTestFinished(() => rm(directory, { recursive: true }))
  const start = async (runtime: Runtime, ttl = LONG): Promise<LockProcess> => {
    const settings = { key, place: { directory }, options: { ttl: ttl as "1 h" } }
    const one = new LockProcess(runtime, settings)
    onTestFinished(() => one[Symbol.asyncDispose]())
    await one.says("ready")
    return one
  }
  const owner = async (runtime: Runtime, ttl = LONG): Promise<LockProcess> => {
    const one = await start(runtime, ttl)
    one.tell({ do: "acquire" })
    expect(await one.says("acquire")).not.toHaveProperty("error")
    return one
  }
  const shown = async (): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(join(directory, "deploy=2fweb.lock"), "utf8")) as Record<string, unknown>
  return { directory, lock: new FileLock(key, { directory, ttl: LONG }), start, owner, shown }
}

describe.each(["node", "deno"] as const)("a lock that a process on %s holds", (runtime) => {
  it("is a file that says who holds it, a second link to the current version", async () => {
    const { directory, owner, shown } = await scene()
    const { pid } = await owner(runtime)
    const { name, pidNs } = processes.self
    const host = { name, pid, pidNs, startedAt: expect.stringMatching(/^\d+$/), bootId: expect.any(String), groups: [] }
    expect(await shown()).toMatchObject({ key, owner: { host, since: expect.any(Number), token: expect.any(Number) } })
    const versions = join(directory, "leases", "deploy=2fweb")
    const newest = (await readdir(versions)).toSorted().at(-1)!
    const [file, link] = [await stat(join(versions, newest)), await stat(join(directory, "deploy=2fweb.lock"))]
    expect([link.ino, link.nlink]).toEqual([file.ino, 2])
  })

  it("names its holder to others by pid and host", async () => {
    const { lock, owner } = await scene()
    const { pid } = await owner(runtime)
    const error = await failure(lock.acquire({ timeout: 0 }))
    expect(error).toBeInstanceOf(LockTimeoutError)
    expect(error.message).toContain(`(pid ${pid} on ${hostname()})`)
    expect(error.owner).toMatchObject({ pid, host: hostname(), since: expect.any(Number) })
  })

  // Tests rule 6: A half whose process has surely ended is over at once; of two that find it so, one gets the key.
  it("is taken over at once when that process was killed, by one of those that wait", async () => {
    const { owner, start } = await scene()
    const holder = await owner(runtime)
    const waiters = [await start(runtime), await start(runtime === "node" ? "deno" : "node")] as const
    for (const waiter of waiters) waiter.tell({ do: "acquire", options: { timeout: "infinite", contention: "retry" } })
    await Promise.race(waiters.map((waiter) => waiter.says("Waiting")))
    holder.signal("SIGKILL")
    const first = await Promise.race(waiters.map(async (waiter) => (await waiter.says("acquire"), waiter)))
    expect(await first.says("acquire")).toMatchObject({ how: "takeover" })
    const second = waiters.find((waiter) => waiter !== first)!
    expect(second.said.map(({ event }) => event)).not.toContain("Acquired")
    first.tell({ do: "release" })
    expect((await second.says("acquire")).token).toBeGreaterThan((await first.says("acquire")).token!)
  })

  // Tests rule 6: A waiter whose process has ended blocks nobody, and is granted nothing once that is known.
  it("is not kept by a waiter that was killed", async () => {
    const { lock, owner, start } = await scene()
    const [holder, waiter] = [await owner(runtime), await start(runtime)]
    waiter.tell({ do: "acquire" })
    await waiter.says("Waiting")
    waiter.signal("SIGKILL")
    await waiter.ended
    holder.tell({ do: "release" })
    await holder.says("release")
    await using lease = await lock.acquire({ timeout: "5 s" })
    expect(lease.isHeld()).toBe(true)
  })

  // Tests stores: An exit or signal releases nothing: the key is free once process, threads and groups are gone.
  it.each([
    ["exits", { code: 3, signal: null }],
    ["gets SIGTERM", { code: null, signal: "SIGTERM" }],
    ["gets SIGINT", { code: null, signal: "SIGINT" }],
    ["gets SIGHUP", { code: null, signal: "SIGHUP" }],
  ])("is left as it is when that process %s, and free as soon as it is gone", async (_, end) => {
    const { lock, owner, shown } = await scene()
    const holder = await owner(runtime)
    const before = await shown()
    if (end.signal === null) holder.tell({ do: "exit", code: 3 })
    else holder.signal(end.signal as "SIGTERM")
    expect(await holder.ended).toMatchObject(end)
    expect(await shown()).toEqual(before)
    await using lease = await lock.acquire({ timeout: 0 })
    expect(lease.how).toBe("takeover")
  })

  it.each(["thread", "pool"] as const)(
    "stays its own at an exit, beside one that waits, while its %s still writes",
    async (by) => {
      const { directory, lock, owner } = await scene()
      const holder = await owner(runtime)
      using pipe = new Pipe(join(directory, "pipe"))
      holder.tell({ do: "write", by, file: pipe.path, bytes: WRITTEN })
      await pipe.begun
      holder.tell({ do: "exit", code: 3 })
      const early = await lock.acquire({ timeout: "1 s" }).catch((error: unknown) => error)
      const waited = early instanceof LockTimeoutError
      const written = await pipe.drain()
      expect(await holder.ended).toMatchObject({ code: 3 })
      // Either the exit waited for the write, and the key for the exit, or (on Deno) the exit had ended the write
      // before.
      expect(written > PIPE_HOLDS).toBe(waited)
      const next = waited ? await lock.acquire({ timeout: "1 min" }) : early
      expect(next).toMatchObject({ how: "takeover" })
      await lock.release()
    },
  )

  // Tests rule 6: A half is never over while a process group that it names works, not to its own process either.
  it("is not taken over while a process group that it named lives, dead and over though it is", async () => {
    const { lock, owner, shown } = await scene()
    const holder = await owner(runtime, "4 s")
    holder.tell({ do: "employ" })
    const { pid } = await holder.says("employed")
    onTestFinished(() => void (processes.groupLives(pid!) && process.kill(-pid!, "SIGKILL")))
    expect(await shown()).toMatchObject({ owner: { host: { groups: [pid] } } })
    holder.signal("SIGKILL")
    await holder.ended
    expect(await failure(lock.acquire({ timeout: "7 s" }))).toBeInstanceOf(LockTimeoutError)
    const next = lock.acquire({ timeout: "20 s" })
    process.kill(-pid!, "SIGKILL")
    const lease = await next
    expect(lease.how).toBe("takeover")
    await lease.release()
  })

  // Tests stores.
  it("is left to its lease at an exit while a process group that it named lives", async () => {
    const { owner, shown } = await scene()
    const holder = await owner(runtime)
    holder.tell({ do: "employ" })
    const { pid } = await holder.says("employed")
    onTestFinished(() => void process.kill(-pid!, "SIGKILL"))
    holder.tell({ do: "exit", code: 0 })
    await holder.ended
    expect(await shown()).toMatchObject({ owner: { host: { groups: [pid] } } })
  })
})

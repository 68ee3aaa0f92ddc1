/**
 * What a lock does between real processes, whatever the store: run by the test of each store that processes can share.
 * Each scenario has two workers, on Node and on Deno, in both roles.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, type TestContext } from "vitest"
import { liveClock } from "../../../src/runtime/time/clock.ts"
import type { LockAct, LockWorkerSettings } from "../lock-worker.ts"
import { LockProcess } from "./lock-process.ts"
import type { Runtime } from "./spawn.ts"

/** Where the locks are, and how long a lease lasts whose end is waited for. */
export interface LockPlace {
  readonly place: LockWorkerSettings["place"]
  readonly short: number
}

/** How long every other lease lasts: no process is ever held up for so long. */
const LONG = 60_000

/** The owner's runtime, and the other's. */
const roles: readonly (readonly [Runtime, Runtime])[] = [
  ["node", "deno"],
  ["deno", "node"],
]

const acquire = { do: "acquire", options: { timeout: "40 s" } } as const

/** The tests run at the same time, for most of each is waiting; `find` is called once for each. */
export function describeLocks(find: (context: TestContext) => Promise<LockPlace> | LockPlace): void {
  const worker = (
    context: TestContext,
    runtime: Runtime,
    settings: Omit<LockWorkerSettings, "key"> & { readonly key?: string },
  ): LockProcess => {
    const one = new LockProcess(runtime, { key: liveClock.id(), ...settings })
    context.onTestFinished(() => one[Symbol.asyncDispose]())
    return one
  }

  /**
   * The first owns the key, for a short lease where its end will be waited for, and acts at once where it has a log.
   */
  const pair = async (
    context: TestContext,
    [owner, other]: readonly [Runtime, Runtime],
    { isShort = false, log }: { readonly isShort?: boolean; readonly log?: string } = {},
  ) => {
    const { place, short } = await find(context)
    const both = { key: liveClock.id(), place }
    const a = worker(context, owner, { ...both, options: { ttl: isShort ? short : LONG } })
    const b = worker(context, other, { ...both, options: { ttl: LONG } })
    a.tell({ ...acquire, ...(log !== undefined && { log }) })
    expect(await a.says("acquire")).toMatchObject({ how: "created" })
    return { a, b }
  }

  const alone = async (context: TestContext, runtime: Runtime, does: "release" | "keep") => {
    const { place } = await find(context)
    return worker(context, runtime, { place, options: { ttl: LONG }, alone: does })
  }

  describe.concurrent.each(roles)("between a process on %s that owns a key and one on %s", (owner, other) => {
    // Tests processes: Real processes hand over, and survive SIGKILL, SIGSTOP past the ttl and SIGTERM, on both stores.
    // Tests rule 10: A live waiter is passed on exactly once, after `minTenure`.
    it("is handed over on request, once", async (context) => {
      const { a, b } = await pair(context, [owner, other])
      a.tell({ do: "yield" })
      b.tell(acquire)
      const next = await b.says("acquire")
      expect(next).toMatchObject({ how: "granted" })
      expect(next.token).toBeGreaterThan((await a.says("acquire")).token!)
      expect(await a.says("release")).toMatchObject({ result: "released" })
      expect(a.said.filter(({ event }) => event === "ReleaseRequested")).toHaveLength(1)
    })

    it("is taken over from an owner that was killed", async (context) => {
      const { a, b } = await pair(context, [owner, other], { isShort: true })
      a.signal("SIGKILL")
      expect(await a.ended).toMatchObject({ signal: "SIGKILL" })
      b.tell(acquire)
      const next = await b.says("acquire")
      expect(next).toMatchObject({ how: "takeover" })
      expect(next.token).toBeGreaterThan((await a.says("acquire")).token!)
    })

    // Tests locks: At most one of several processes holds a key, whatever happens to them and their requests.
    // Tests processes.
    it("is taken over from an owner that is stopped, which acts no more when it goes on", async (context) => {
      const directory = await mkdtemp(join(tmpdir(), "leasehold-acts-"))
      context.onTestFinished(() => rm(directory, { recursive: true })) // runs last, when nobody acts any more
      const log = join(directory, "acts")
      const { a, b } = await pair(context, [owner, other], { isShort: true, log })
      await a.says("working")
      a.signal("SIGSTOP")
      b.tell({ ...acquire, log })
      expect(await b.says("acquire")).toMatchObject({ how: "takeover" })
      await b.says("working")
      a.signal("SIGCONT")
      expect(await a.says("stopped")).toMatchObject({ aborted: true })
      expect(await a.says("Lost")).toMatchObject({ token: (await a.says("acquire")).token })
      const acts = (await readFile(log, "utf8")).trim().split("\n")
      const tokens = acts
        .map((line) => JSON.parse(line) as LockAct)
        .sort((one, two) => one.at - two.at)
        .map(({ token }) => token)
      expect(tokens).toEqual([...tokens].sort((one, two) => one - two))
      expect(new Set(tokens).size).toBe(2)
    })

    it("is handed over by an owner that is asked to end", async (context) => {
      const { a, b } = await pair(context, [owner, other])
      a.tell({ do: "releaseOnSignal" })
      b.tell(acquire)
      await a.says("ReleaseRequested")
      a.signal("SIGTERM")
      expect(await b.says("acquire")).toMatchObject({ how: "granted" })
      expect(await a.says("release")).toMatchObject({ result: "released" })
      expect(await a.ended).toMatchObject({ code: 143 })
    })
  })

  describe.concurrent.each(["node", "deno"] as const)("a process on %s that has nothing else to do", (runtime) => {
    // Tests leftovers: 10,000 acquires and releases, and 1,500 sandboxes, leave nothing; an idle process ends.
    it("ends by itself after it released its lock", async (context) => {
      const one = await alone(context, runtime, "release")
      expect(await one.ended).toMatchObject({ code: 0, stderr: "" })
      expect(one.said.at(-1)).toMatchObject({ event: "release", result: "released" })
    })

    it("ends by itself although it holds a lease", async (context) => {
      const one = await alone(context, runtime, "keep")
      expect(await one.ended).toMatchObject({ code: 0, stderr: "" })
      expect(one.said.map(({ event }) => event)).toContain("acquire")
      expect(one.said.map(({ event }) => event)).not.toContain("Lost")
    })
  })
}

// One incarnation that two processes have, or two store objects of one: told by the file store's word that the other
// lives.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { describe, expect, it, onTestFinished } from "vitest"
import { InvalidConfigError } from "../../src/locks/api/errors.ts"
import { StoreLock } from "../../src/locks/lock/store-lock.ts"
import { fileStore } from "../../src/locks/stores/file/file-store.ts"
import { processes } from "../../src/runtime/machine/processes.ts"
import { run } from "../runtime/programs.ts"
import { failure, lockWorld } from "../support/lock-world.ts"
import { scripted } from "../support/scripted-store.ts"

const fresh = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-incarnation-"))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}
const incarnation = { id: "pod-0" }
const knowsProcesses = processes.self.startedAt !== null

describe("an incarnation that is at work elsewhere", () => {
  // Tests rule 2: A half of my id and of another life is another's: over, or an error.
  it.runIf(knowsProcesses)(
    "is an error at once in another process, and once that one has ended its lease is taken over",
    async () => {
      const directory = await fresh()
      const lock = new StoreLock("k", { store: fileStore({ directory }), incarnation })
      const lease = await lock.acquire()
      const other = await run("../../locks/programs/same-incarnation", { args: [directory] })
      expect(JSON.parse(other.stdout)).toEqual({ refused: "InvalidConfigError", owner: "pod-0", pid: process.pid })
      expect(lease.isHeld()).toBe(true)
      await lease.release()
      const next = await run("../../locks/programs/same-incarnation", { args: [directory] })
      expect(JSON.parse(next.stdout)).toEqual({ how: "free" }) // and it is killed
      const after = await lock.acquire({ timeout: "10 s" })
      expect(after.how).toBe("takeover")
      await after.release()
    },
  )

  it.runIf(knowsProcesses)("is one in this very process, on another store object", async () => {
    const directory = await fresh()
    const [one, two] = [0, 1].map(() => new StoreLock("k", { store: fileStore({ directory }), incarnation })) as [
      StoreLock,
      StoreLock,
    ]
    const lease = await one.acquire()
    const error = await failure(two.acquire({ timeout: "5 s" }))
    expect(error).toBeInstanceOf(InvalidConfigError)
    expect(lease.isHeld()).toBe(true)
    await lease.release()
    await (await two.acquire()).release()
  })

  it("is one where nothing is known of processes, once the other has renewed twice", async () => {
    const { time, store, lock } = lockWorld()
    const lease = await time.runUntil(lock("pod-0").acquire())
    const elsewhere = lock("pod-0", { store: scripted(store, time) })
    const from = time.mono()
    const error = await time.runUntil(failure(elsewhere.acquire({ timeout: "60 s" })))
    expect(error).toBeInstanceOf(InvalidConfigError)
    expect(time.mono() - from).toBeLessThan(25_000)
    expect(lease.isHeld()).toBe(true)
  })

  it("is none for two locks of one store object, which take turns", async () => {
    const { time, lock } = lockWorld()
    const lease = await time.runUntil(lock("pod-0").acquire())
    const second = lock("pod-0").acquire({ timeout: "60 s" })
    await time.advance(30_000)
    await time.runUntil(lease.release())
    expect((await time.runUntil(second)).isHeld()).toBe(true)
  })
})

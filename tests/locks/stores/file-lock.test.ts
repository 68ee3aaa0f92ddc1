/** The lock on a real directory, in real time: that it is the shell over the store, and which locks share one. */
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import process from "node:process"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { InvalidConfigError, LockTimeoutError, StoreMisconfiguredError } from "../../../src/locks/api/errors.ts"
import { FileLock } from "../../../src/locks/stores/file/mod.ts"
import { type Clock, liveClock } from "../../../src/runtime/time/clock.ts"
import { eventsOf, failure, types } from "../../support/lock-world.ts"

let directory = ""
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "leasehold-lock-"))
})
afterAll(() => rm(directory, { recursive: true }))

/** Incarnations are never used twice. */
const someone = (): { readonly id: string } => ({ id: liveClock.id() })

const ttl = 500

describe("a lock on a directory", () => {
  it("is acquired, renewed by itself and released", async () => {
    const lock = new FileLock("renewed", { directory, ttl: 6000 })
    const events = eventsOf(lock)
    const lease = await lock.acquire()
    const renewed = Promise.withResolvers<void>()
    let renewals = 0
    lease.events$.subscribe(() => ++renewals === 2 && renewed.resolve())
    await renewed.promise
    expect(lease.isHeld()).toBe(true)
    expect(await lease.release()).toBe("released")
    expect(types(events)).toEqual(["Acquired", "Renewed", "Renewed", "Released"])
    expect(await lock.peek()).toBeUndefined()
  })

  // Tests stores: An exit or signal releases nothing: the key is free once process, threads and groups are gone.
  it("leaves the signals and the exit of its process to the program", async () => {
    const listeners = (): number[] =>
      ["SIGTERM", "SIGINT", "SIGHUP", "exit"].map((event) => process.listenerCount(event))
    const before = listeners()
    await using lease = await new FileLock("quiet", { directory }).acquire()
    expect([lease.isHeld(), listeners()]).toEqual([true, before])
  })

  it("contends with the locks of other incarnations, and is handed over on request", async () => {
    const [a, b] = [
      new FileLock("handed", { directory, incarnation: someone() }),
      new FileLock("handed", { directory }),
    ]
    const first = await a.acquire()
    expect(await failure(b.acquire({ timeout: 0 }))).toBeInstanceOf(LockTimeoutError)
    a.onReleaseRequested(async () => void (await first.release()))
    const second = await b.acquire()
    expect(second).toMatchObject({ how: "granted" })
    expect(second.token).toBeGreaterThan(first.token)
    expect([first.isHeld(), second.isHeld()]).toEqual([false, true])
    await second.release()
  })

  it("takes turns with the locks of the same process, by whatever path they name the directory", async () => {
    const first = await new FileLock("turns", { directory }).acquire()
    const same = new FileLock("turns", { directory: join(directory, "x", "..") })
    const relatively = new FileLock("turns", { directory: relative(process.cwd(), directory) })
    for (const lock of [same, relatively]) {
      const { message } = await failure(lock.acquire({ timeout: 0 }))
      expect(message).toContain("held by this very process")
    }
    const next = same.acquire()
    await first.release()
    expect((await next).isHeld()).toBe(true)
    await same.release()
  })

  it("takes a key over from an owner that is silent for its ttl", async () => {
    const record = { ownerId: "gone", expiresAt: liveClock.read().wall / 1000 + 0.2 }
    const lock = new FileLock("abandoned", { directory, ttl, strangerTtl: 1000 })
    const lease = await lock.acquire()
    await lease.release()
    const object = join(directory, "leases", "abandoned")
    const newest = (await readdir(object))
      .filter((name) => /^\d{16}$/.test(name))
      .sort()
      .at(-1)!
    const next = String(Number(newest) + 1).padStart(16, "0")
    await writeFile(join(object, next), JSON.stringify({ ...record, waitingOwnerId: null, waiterExpiresAt: null }))
    const taken = await new FileLock("abandoned", { directory, ttl, strangerTtl: 1000 }).acquire()
    expect(taken.how).toBe("takeover")
    expect(taken.token).toBeGreaterThan(lease.token)
    await taken.release()
  })

  it("refuses options that can't work before it does anything", () => {
    for (const options of [{}, { directory: "" }, { directory: 7 }] as { directory: string }[])
      expect(() => new FileLock("k", options)).toThrow(InvalidConfigError)
    expect(() => new FileLock("", { directory })).toThrow("is not a key")
    expect(() => new FileLock("k", { directory, ttl: -1 })).toThrow("ttl")
  })

  it("says what is wrong with a directory that can't be used, at the first call", async () => {
    const file = join(directory, "a-file")
    await writeFile(file, "")
    const lock = new FileLock("k", { directory: file })
    expect(await failure(lock.acquire())).toBeInstanceOf(StoreMisconfiguredError)
    expect(await failure(lock.peek())).toBeInstanceOf(StoreMisconfiguredError)
  })
})

describe("half a record from before this boot, as a power cut of the directory's machine leaves it", () => {
  const torn = async (key: string, number: string): Promise<FileLock> => {
    const version = join(directory, "leases", key, number.padStart(16, "0"))
    await writeFile(version, '{ "ownerId": "a')
    await utimes(version, 0, 0)
    return new FileLock(key, { directory, ttl, strangerTtl: "1 s" })
  }

  // Tests stores: State is synced before it is acknowledged; half a lease record is a stranger's, or corrupt.
  it("is nobody's to take at once, and is written anew by its owner, another machine's that lives on", async () => {
    const owner = new FileLock("lives", { directory, ttl: "1 h", incarnation: { id: "elsewhere" } })
    await using lease = await owner.acquire()
    const other = await torn("lives", "1")
    const error = await failure(other.acquire({ timeout: 0 }))
    expect(error).toBeInstanceOf(LockTimeoutError)
    expect(error.message).toContain("unknown (half a record")
    await lease.renew()
    expect(await other.peek()).toMatchObject({ ownerId: "elsewhere" })
  })

  it("is free once it was seen unchanged for strangerTtl", async () => {
    const former = await new FileLock("gone", { directory, ttl, incarnation: someone() }).acquire()
    await former.release()
    const lock = await torn("gone", "2")
    const began = liveClock.mono()
    await using lease = await lock.acquire({ timeout: "1 min" })
    expect(liveClock.mono() - began).toBeGreaterThanOrEqual(1000)
    expect(lease.how).toBe("takeover")
  })
})

describe("a made-up uptime that nothing gave away, on a directory", () => {
  /** A clock of this boot by its name, whose uptime is another's. */
  const off = (ms: number): Clock => ({
    bootId: "b00t.1",
    read: () => ({ ...liveClock.read(), boot: liveClock.read().boot + ms }),
    mono: () => liveClock.mono(),
    random: () => liveClock.random(),
    id: () => liveClock.id(),
    after: (...how) => liveClock.after(...how),
    soon: (callback) => liveClock.soon(callback),
  })
  const lockBy = (key: string, ms: number): FileLock =>
    new FileLock(key, { directory, clock: off(ms), ttl: "1 h", incarnation: someone() })

  // Tests rule 3: Processes of one boot share a directory's clock only where they agree on when it booted.
  it.each([
    ["behind", -7_200_000, 0],
    ["ahead", 7_200_000, 0],
    ["that came first", 0, -7_200_000],
  ])("makes no two owners: %s", async (key, made, other) => {
    await using lease = await lockBy(key, made).acquire()
    expect(await failure(lockBy(key, other).acquire({ timeout: 0 }))).toBeInstanceOf(LockTimeoutError)
    await lease.renew()
    expect(lease.isHeld()).toBe(true)
  })

  it("costs nothing between processes that have the same", async () => {
    const lease = await lockBy("same", -7_200_000).acquire()
    await lease.release()
    await using next = await lockBy("same", -7_200_000).acquire({ timeout: 0 })
    expect(next.token).toBeGreaterThan(lease.token)
  })
})

// Pins what the file store adds to the contract of all stores: what lies in the directory, its time, torn records, and
// what it says of directories that can't be used. Its compare-and-swap is pinned by file/swap.test.ts.
import { execFile } from "node:child_process"
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { InvalidConfigError, StoreMisconfiguredError, StoreUnavailableError } from "../../../src/locks/api/errors.ts"
import { durableFiles } from "../../../src/locks/stores/file/disk/files.ts"
import { fileStore } from "../../../src/locks/stores/file/mod.ts"
import {
  ABSENT,
  type CheckpointStore,
  type LeaseStore,
  type ObjectRef,
  type ReadAnswer,
} from "../../../src/locks/stores/port.ts"
import { type Clock, liveClock } from "../../../src/runtime/time/clock.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { describeConformance } from "../../support/conformance.ts"
import { bytes, names, text, write } from "../../support/objects.ts"

type FileStore = LeaseStore & CheckpointStore

const options = { deadline: 5000 }
const reading = { ...options, limit: 65_536 }
const lease: ObjectRef = { area: "leases", name: "key" }
const head: ObjectRef = { area: "state", name: "key/head" }
const content: ObjectRef = { area: "state", name: "key/17-1-abc" }
const hour = 3_600_000

let base = ""
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "leasehold-file-"))
})
afterAll(() => rm(base, { recursive: true }))

const fresh = (): Promise<string> => mkdtemp(join(base, "case-"))

async function started(directory: string, clock: Clock = liveClock): Promise<FileStore> {
  const store = fileStore({ directory, clock })
  await store.start(options)
  return store
}

async function make(): Promise<{ directory: string; store: FileStore }> {
  const directory = await fresh()
  return { directory, store: await started(directory) }
}

/** What start rejects with. */
const refusal = (directory: string): Promise<unknown> =>
  started(directory).then(
    () => "it started",
    (error: unknown) => error,
  )

const versions = async (directory: string, ...path: string[]): Promise<string[]> =>
  (await readdir(join(directory, ...path))).toSorted()

/** When each of its folders was written last. */
async function writtenAt(directory: string): Promise<Readonly<Record<string, number>>> {
  const times = (await versions(directory)).map(async (name) => [name, (await stat(join(directory, name))).mtimeMs])
  return Object.fromEntries(await Promise.all(times)) as Record<string, number>
}

async function age(path: string, ms: number): Promise<void> {
  const then = (liveClock.read().wall - ms) / 1000
  await utimes(path, then, then)
}

describe("fileStore", () => {
  describeConformance((place) => fileStore({ directory: join(base, place) }))

  it("lists in the order of names, page by page, and goes on after any name", async () => {
    const { store } = await make()
    const many = Array.from({ length: 1203 }, (_, number) => `n${String(number).padStart(5, "0")}`)
    for (const name of many.toReversed()) await write(store, { area: "leases", name }, ABSENT, "1")
    expect(await names(store, "leases", "n")).toEqual(many)
    const page = await store.list("leases", { ...options, prefix: "n", after: "n01200x" })
    expect(page).toEqual({
      items: [expect.objectContaining({ name: "n01201" }), expect.objectContaining({ name: "n01202" })],
    })
  })

  // Tests stores: The file store compares and swaps under `kill -9` and SIGSTOP, by eight processes.
  it("says of a write that a later version overtook that it was, and not that the store failed", async () => {
    const { directory, store } = await make()
    const first = await write(store, lease, ABSENT, "1")
    await writeFile(join(directory, "leases", "key", "0000000000000003"), "3")
    const overtaken = { kind: "unknown", overtaken: true, error: expect.any(StoreUnavailableError) }
    expect(await store.put(lease, first, bytes("2"), options)).toMatchObject(overtaken)
    expect(await text(store, lease)).toBe("3")
  })

  it("is named by its absolute path, whatever path it was given", async () => {
    const directory = await fresh()
    expect(fileStore({ directory: `${directory}/x/..` }).name).toBe(`file:${directory}`)
    expect(fileStore({ directory: "leases" }).name).toBe(`file:${join(process.cwd(), "leases")}`)
  })

  it.each(["", "a\0b", 7, undefined])("refuses %j for a directory", (directory) => {
    expect(() => fileStore({ directory: directory as string })).toThrow(InvalidConfigError)
  })

  it("has an exact clock of this boot, which isHeld reads too", () => {
    expect(fileStore({ directory: base }).capabilities).toEqual({
      clock: "exact",
      bootId: liveClock.bootId,
      sameClock: true,
      deletes: true,
      cheapReads: true,
      writeSpacing: 0,
    })
  })

  it("has no clock where the boot clock can't be read", async () => {
    const store = await started(await fresh(), new VirtualTime({ bootClock: false }))
    expect(store.capabilities).toMatchObject({ clock: "none", sameClock: false })
    expect(store.capabilities.bootId).toBeUndefined()
    expect(await store.read(lease, reading)).toEqual({ kind: "absent" })
    expect(await store.put(lease, ABSENT, bytes("1"), options)).toEqual({ kind: "applied", generation: "1" })
  })
})

describe("the directory of a file store", () => {
  it("is made with all above it, and holds its areas, this boot's clock and what a probe has shown after a start", async () => {
    const directory = join(await fresh(), "not", "there", "yet")
    await Promise.all([started(directory), started(directory), started(directory)])
    expect(await versions(directory)).toEqual(["clock", "leases", "probe", "proofs", "state", "store"])
    expect(await versions(directory, "clock")).toEqual([liveClock.bootId])
    for (const area of ["leases", "probe", "state", "store"]) expect(await versions(directory, area)).toEqual([])
  })

  // Tests stores: A remembered probe counts for its directory, device, inode and boot, and for no weaker probe.
  it("is probed once: a later start writes nothing", async () => {
    const { directory } = await make()
    expect(await versions(directory, "proofs")).toEqual([expect.stringMatching(/^1-.+-\d+-\d+-deletes$/)])
    const before = await writtenAt(directory)
    const { capabilities } = await started(directory)
    expect(capabilities.deletes).toBe(true)
    expect(await writtenAt(directory)).toEqual(before)
  })

  it("is probed again where it is asked for, though it has started", async () => {
    const { directory, store } = await make()
    const [{ probe }, proofs] = [await writtenAt(directory), await versions(directory, "proofs")]
    await store.start({ ...options, probe: "again" })
    expect((await writtenAt(directory)).probe).toBeGreaterThan(probe!)
    expect(await versions(directory, "proofs")).toEqual(proofs)
  })

  it("is probed by a copy of it, of which nothing was shown", async () => {
    const { directory } = await make()
    const copy = `${directory}-copy`
    await cp(directory, copy, { recursive: true, preserveTimestamps: true })
    const { probe } = await writtenAt(copy)
    await started(copy)
    expect((await writtenAt(copy)).probe).toBeGreaterThan(probe!)
    expect(await versions(copy, "proofs")).toHaveLength(2)
  })

  it("is taken for the less where two probes have shown two things", async () => {
    const { directory } = await make()
    const [proof] = await versions(directory, "proofs")
    await writeFile(join(directory, "proofs", proof!.replace("deletes", "writes")), "")
    expect((await started(directory)).capabilities.deletes).toBe(false)
  })

  it("starts where what was shown can't be written down", async () => {
    const directory = await fresh()
    await writeFile(join(directory, "proofs"), "no folder")
    const store = await started(directory)
    await store.start({ ...options, probe: "again" })
    expect(store.capabilities.deletes).toBe(true)
  })

  it("is remembered by nobody whose boot can't be told", async () => {
    const directory = await fresh()
    await started(directory, new VirtualTime({ bootClock: false }))
    expect(await versions(directory)).not.toContain("proofs")
  })

  it("starts once, and again after a start that failed", async () => {
    const directory = join(await fresh(), "place")
    await writeFile(directory, "a file")
    const store = fileStore({ directory })
    await expect(store.start(options)).rejects.toBeInstanceOf(StoreMisconfiguredError)
    await rm(directory)
    await Promise.all([store.start(options), store.start(options)])
    await expect(write(store, lease, ABSENT, "works")).resolves.toBe("1")
  })

  it("holds each version as a file of its bytes, the one before it, and no temporary file", async () => {
    const { directory, store } = await make()
    for (const number of [0, 1, 2, 3]) await write(store, lease, String(number), `{"n":${number}}`)
    expect(await versions(directory, "leases", "key")).toEqual(["0000000000000003", "0000000000000004"])
    expect(await readFile(join(directory, "leases", "key", "0000000000000004"), "utf8")).toBe('{"n":3}')
  })

  it("keeps the tombstone of a lease, so that its numbers go on", async () => {
    const { directory, store } = await make()
    await store.remove(lease, await write(store, lease, ABSENT, "first life"), options)
    expect(await versions(directory, "leases", "key")).toEqual(["0000000000000001", "0000000000000002"])
    expect(await text(store, lease)).toBe("absent")
    expect(await names(store, "leases", "")).toEqual([])
    expect(await write(store, lease, ABSENT, "second life")).toBe("3")
  })

  it("forgets deleted content altogether, as its name never comes again", async () => {
    const { directory, store } = await make()
    await write(store, head, ABSENT, "head")
    await store.remove(content, await write(store, content, ABSENT, "content"), options)
    expect(await versions(directory, "state", "key")).toEqual(["head"])
  })

  it("clears away what a killed writer left beside a version, once it is old", async () => {
    const { directory, store } = await make()
    const first = await write(store, lease, ABSENT, "first")
    const [old, young] = [".t-1-old", ".t-1-young"].map((name) => join(directory, "leases", "key", name))
    for (const file of [old!, young!]) await writeFile(file, "half")
    await age(old!, hour)
    const second = await write(store, lease, first, "second")
    expect(await versions(directory, "leases", "key")).toContain(".t-1-young")
    expect(await versions(directory, "leases", "key")).not.toContain(".t-1-old")
    await expect(write(store, lease, second, "third")).resolves.toBe("3")
  })

  it("clears away, when listing, objects that were never finished or whose deletion was cut short", async () => {
    const { directory, store } = await make()
    await write(store, head, ABSENT, "head")
    for (const name of ["1-1-old", "1-2-young", "1-3-empty", "1-4-deleted"])
      await mkdir(join(directory, "state/key", name))
    for (const name of ["1-1-old", "1-2-young"]) await writeFile(join(directory, "state/key", name, ".t-1-x"), "half")
    await age(join(directory, "state/key/1-1-old/.t-1-x"), hour)
    await writeFile(join(directory, "state/key/1-4-deleted/0000000000000001"), "content")
    await mkdir(join(directory, "state/key/1-4-deleted/0000000000000002"))
    expect(await names(store, "state", "key/")).toEqual(["key/head"])
    expect(await versions(directory, "state", "key")).toEqual(["1-2-young", "head"])
  })

  it("ignores files that aren't its own", async () => {
    const { directory, store } = await make()
    await write(store, lease, ABSENT, "mine")
    for (const name of [".DS_Store", "0000000000000001~", "00000000000000002", "README"])
      await writeFile(join(directory, "leases", "key", name), "not mine")
    await writeFile(join(directory, "leases", ".hidden"), "")
    expect(await text(store, lease)).toBe("mine")
    expect(await names(store, "leases", "")).toEqual(["key"])
    await expect(write(store, lease, "1", "still mine")).resolves.toBe("2")
  })

  it.each(["../key", "..", ".", "", "a/b", "/etc", "a\0b", ".hidden", "a b"])(
    "is never left by the name %j",
    async (name) => {
      const { store } = await make()
      const wrong = { _tag: "InvalidKeyError", retryable: false }
      for (const ref of [{ area: "leases", name } as const, { area: "state", name: `${name}/../x` } as const]) {
        expect(await store.put(ref, ABSENT, bytes("x"), options)).toMatchObject({ kind: "unknown", error: wrong })
        expect(await store.remove(ref, "1", options)).toMatchObject({ kind: "unknown", error: wrong })
        expect(await store.read(ref, reading)).toMatchObject({ kind: "failed", error: wrong })
      }
    },
  )

  // Tests input: Records may be truncated, no JSON, an array, 50 MB, far in time, or another object's.
  it("is read no further than the limit, however large a file is there", async () => {
    const { directory, store } = await make()
    await write(store, lease, ABSENT, "small")
    await truncate(join(directory, "leases", "key", "0000000000000001"), 2 ** 40)
    expect(await store.read(lease, reading)).toMatchObject({ kind: "tooLarge", generation: "1" })
  })
})

describe("the time of a file store", () => {
  const wall = 1_700_000_000_000
  const time = async (store: FileStore): Promise<number | undefined> => (await store.read(lease, reading)).storeTime

  // Tests rule 3: Processes of one boot share a directory's clock only where they agree on when it booted.
  it("is one for all processes of a boot that agree on when it began, whenever they start", async () => {
    const directory = await fresh()
    const clock = new VirtualTime({ wall })
    const first = await started(directory, clock)
    clock.advanceSync(5000)
    clock.stepWall(-500)
    const second = await started(directory, clock)
    expect([await time(first), await time(second)]).toEqual([wall + 5000, wall + 5000])
    expect([first, second].map(({ capabilities }) => capabilities.bootId)).toEqual([clock.bootId, clock.bootId])
  })

  it("is another for those that don't, be it that an uptime is made up, or that the wall clock was set", async () => {
    const directory = await fresh()
    const clock = new VirtualTime({ wall })
    const reckonings = [0, -hour, 501, 501, -hour, 0]
    const clocks = new Map<string, number>()
    for (const step of reckonings) {
      clock.stepWall(step - (clock.read().wall - wall))
      const store = await started(directory, clock)
      const now = (await time(store))!
      expect(clocks.get(store.capabilities.bootId!) ?? now).toBe(now)
      clocks.set(store.capabilities.bootId!, now)
    }
    const id = clock.bootId!
    expect([...clocks]).toEqual([
      [id, wall],
      [`${id}~1`, wall - hour],
      [`${id}~2`, wall + 501],
    ])
  })

  // Tests rule 3: A process restored in another boot or time namespace has no boot clock, and no directory answers it.
  it("is that of the start, as all else: a process that is moved to another boot gets no answer any more", async () => {
    const clock = new VirtualTime({ wall })
    let bootId = clock.bootId
    const moved: Clock = {
      read: () => clock.read(),
      mono: () => clock.mono(),
      random: () => clock.random(),
      id: () => clock.id(),
      after: (...how) => clock.after(...how),
      soon: (callback) => clock.soon(callback),
      get bootId() {
        return bootId
      },
    }
    const store = await started(await fresh(), moved)
    await write(store, lease, ABSENT, "1")
    bootId = undefined
    const error = expect.any(StoreMisconfiguredError)
    for (const ref of [lease, head]) {
      expect(await store.read(ref, reading)).toMatchObject({ kind: "failed", error })
      expect(await store.put(ref, "1", bytes("2"), options)).toMatchObject({ kind: "unknown", error })
      expect(await store.remove(ref, "1", options)).toMatchObject({ kind: "unknown", error })
    }
  })

  it("goes on while the machine sleeps", async () => {
    const clock = new VirtualTime({ wall })
    const store = await started(await fresh(), clock)
    clock.suspend(60_000)
    expect(await time(store)).toBe(wall + 60_000)
  })

  it("begins anew with each boot", async () => {
    const directory = await fresh()
    await started(directory, new VirtualTime({ wall, seed: 1 }))
    const after = await started(directory, new VirtualTime({ wall: wall + hour, seed: 2 }))
    expect(await time(after)).toBe(wall + hour)
    expect(await versions(directory, "clock")).toHaveLength(2)
  })

  it("stamps every answer that tells something", async () => {
    const store = await started(await fresh(), new VirtualTime({ wall }))
    expect(await store.put(lease, ABSENT, bytes("1"), options)).toEqual({
      kind: "applied",
      generation: "1",
      storeTime: wall,
    })
    expect(await store.put(lease, ABSENT, bytes("1"), options)).toEqual({ kind: "refused", storeTime: wall })
    expect(await store.read(lease, { ...reading, known: "1" })).toMatchObject({ kind: "unchanged", storeTime: wall })
    expect(await store.read(lease, { ...reading, limit: 0 })).toMatchObject({ kind: "tooLarge", storeTime: wall })
    expect(await store.remove(lease, "1", options)).toMatchObject({ kind: "applied", storeTime: wall })
  })

  it.each(["", "soon\n", "12", "1e9\n"])(
    "refuses to start on an offset that reads %j, and says what to remove",
    async (offset) => {
      const directory = await fresh()
      await started(directory)
      const file = join(directory, "clock", liveClock.bootId!)
      await writeFile(file, offset)
      const error = await refusal(directory)
      expect(error).toBeInstanceOf(StoreMisconfiguredError)
      expect(error).toHaveProperty("message", expect.stringContaining(file))
    },
  )
})

interface LeaseRecordBody {
  readonly ownerId: string
  readonly expiresAt: number
}

describe("a torn lease record", () => {
  const half = '{ "ownerId": "a", "expi'

  async function readTorn(ref: ObjectRef, body: string, ageMs: number, clock = liveClock): Promise<string> {
    const directory = await fresh()
    const store = await started(directory, clock)
    await write(store, ref, ABSENT, "{}")
    const file = join(directory, ref.area, ref.name, "0000000000000001")
    await writeFile(file, body)
    await age(file, ageMs)
    const seen = await text(store, ref)
    await write(store, ref, "1", "written over it")
    return seen
  }

  const beforeBoot = (): number => liveClock.read().boot + hour

  // Tests stores: State is synced before it is acknowledged; half a lease record is a stranger's, or corrupt.
  it.each(["", half, "\0\0\0\0", "\u0000{}"])("from before this boot is one of an unknown owner: %j", async (body) => {
    const { ownerId, expiresAt, ...rest } = JSON.parse(await readTorn(lease, body, beforeBoot())) as LeaseRecordBody
    expect(ownerId).toMatch(/^unknown/)
    expect(expiresAt * 1000).toBeLessThan(liveClock.read().wall - beforeBoot() + hour)
    expect(rest).toEqual({ waitingOwnerId: null, waiterExpiresAt: null })
  })

  it("from this boot is handed on as it is", async () => {
    expect(await readTorn(lease, half, 0)).toBe(half)
  })

  it("is handed on as it is where no boot clock tells its age", async () => {
    expect(await readTorn(lease, half, beforeBoot(), new VirtualTime({ bootClock: false }))).toBe(half)
  })

  it("isn't one when it is whole JSON, however old and whatever it says", async () => {
    expect(await readTorn(lease, '["not", "a record"]', beforeBoot())).toBe('["not", "a record"]')
  })

  it("is never looked for under state, which was synced", async () => {
    expect(await readTorn(head, half, beforeBoot())).toBe(half)
  })
})

describe("a directory that can't be used", () => {
  /** As root nothing is forbidden: there it acts as nobody. */
  async function unprivileged<A>(action: () => Promise<A>): Promise<A> {
    if (process.geteuid!() !== 0) return action()
    process.seteuid!(65_534)
    try {
      return await action()
    } finally {
      process.seteuid!(0)
    }
  }

  async function open1(): Promise<string> {
    const directory = await fresh()
    await chmod(base, 0o755)
    await chmod(directory, 0o777)
    return directory
  }

  it("is refused by start where it is a file, or lies below one", async () => {
    const file = join(await fresh(), "file")
    await writeFile(file, "")
    for (const directory of [file, join(file, "below"), "/dev/null", "/dev/null/below"]) {
      const error = await refusal(directory)
      expect(error).toBeInstanceOf(StoreMisconfiguredError)
      expect(error).toMatchObject({ status: "ENOTDIR", message: expect.stringContaining(directory) })
    }
  })

  it("is refused by start where nothing can be made, without trying forever", async () => {
    const loop = join(await fresh(), "loop")
    await symlink(loop, loop)
    for (const directory of [
      "/proc/leasehold",
      "/proc/self/leasehold/deeper",
      "/sys/leasehold",
      loop,
      join(loop, "below"),
    ])
      expect(await refusal(directory)).toBeInstanceOf(StoreMisconfiguredError)
  })

  it("is refused by start where its path leads to nowhere", async () => {
    const link = join(await fresh(), "link")
    await symlink("/nowhere/at/all", link)
    expect(await refusal(link)).toBeInstanceOf(StoreMisconfiguredError)
  })

  // Tests input: Disks may be full, missing or read-only.
  it("is refused by start where this user may not write", async () => {
    const directory = await open1()
    await chmod(directory, 0o555)
    const error = await unprivileged(() => refusal(join(directory, "mine")))
    expect(error).toBeInstanceOf(StoreMisconfiguredError)
    expect(error).toMatchObject({
      status: "EACCES",
      message: expect.stringMatching(/Let the user of this process write/),
    })
  })

  it("answers with its typed error once it became read-only, and reads on", async () => {
    const directory = await open1()
    await unprivileged(async () => {
      const store = await started(join(directory, "store"))
      await write(store, lease, ABSENT, "before")
      await chmod(join(directory, "store", "leases", "key"), 0o555)
      const error = { _tag: "StoreMisconfiguredError", status: "EACCES", retryable: false }
      expect(await store.put(lease, "1", bytes("after"), options)).toMatchObject({ kind: "unknown", error })
      expect(await store.remove(lease, "1", options)).toMatchObject({ kind: "unknown", error })
      expect(await text(store, lease)).toBe("before")
    })
  })

  it("answers with its typed error once it may not be read", async () => {
    const directory = await open1()
    await unprivileged(async () => {
      const store = await started(join(directory, "store"))
      for (const ref of [lease, head]) await write(store, ref, ABSENT, "before")
      for (const area of ["leases", "state"]) await chmod(join(directory, "store", area), 0)
      const error = { _tag: "StoreMisconfiguredError", status: "EACCES" }
      for (const ref of [lease, head]) {
        expect(await store.read(ref, reading)).toMatchObject({ kind: "failed", error })
        expect(await store.put(ref, "1", bytes("after"), options)).toMatchObject({ kind: "unknown", error })
      }
      await expect(store.list("state", { ...options, prefix: "" })).rejects.toMatchObject(error)
      for (const area of ["leases", "state"]) await chmod(join(directory, "store", area), 0o700)
    })
  })

  it("is never taken for an empty one when it vanished, or another was mounted over it", async () => {
    const { directory, store } = await make()
    for (const ref of [lease, head]) await write(store, ref, ABSENT, "before")
    await rename(directory, `${directory}-elsewhere`)
    const error = { _tag: "StoreMisconfiguredError", message: expect.stringMatching(/is gone, or another file system/) }
    for (const remount of [false, true]) {
      if (remount) await mkdir(directory)
      for (const ref of [lease, head]) {
        expect(await store.read(ref, reading)).toMatchObject({ kind: "failed", error })
        expect(await store.put(ref, ABSENT, bytes("after"), options)).toMatchObject({ kind: "unknown", error })
      }
      await expect(store.list("leases", { ...options, prefix: "" })).rejects.toMatchObject(error)
    }
    await rm(directory, { recursive: true })
    await rename(`${directory}-elsewhere`, directory)
    expect(await text(store, lease)).toBe("before")
  })

  it("is refused on Windows", async () => {
    const { platform } = process
    onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform, configurable: true }))
    Object.defineProperty(process, "platform", { value: "win32", configurable: true })
    expect(await refusal(await fresh())).toMatchObject({
      _tag: "StoreMisconfiguredError",
      message: expect.stringMatching(/Windows.*gcsStore/),
    })
  })
})

describe("the budget of a request to a file store", () => {
  it("is over at once when the caller gave up before, and nothing is written", async () => {
    const { store } = await make()
    const gaveUp = { ...reading, signal: AbortSignal.abort() }
    const error = { _tag: "StoreUnavailableError", retryable: true }
    for (const ref of [lease, head]) {
      expect(await store.put(ref, ABSENT, bytes("x"), gaveUp)).toMatchObject({ kind: "unknown", error })
      expect(await store.remove(ref, "1", gaveUp)).toMatchObject({ kind: "unknown", error })
      expect(await store.read(ref, gaveUp)).toMatchObject({ kind: "failed", error })
      expect(await text(store, ref)).toBe("absent")
    }
    await expect(store.list("leases", { ...gaveUp, prefix: "" })).rejects.toMatchObject(error)
    await expect(fileStore({ directory: await fresh() }).start(gaveUp)).rejects.toMatchObject(error)
  })

  /** A pipe in place of a version: opening it hangs until somebody writes, as a dead network mount does. */
  async function hanging(): Promise<FileStore> {
    const { directory, store } = await make()
    await write(store, head, ABSENT, "1")
    const pipe = join(directory, "state", "key", "head", "0000000000000002")
    await promisify(execFile)("mkfifo", [pipe])
    onTestFinished(async () => (await open(pipe, "r+")).close())
    return store
  }

  it("ends a request that hangs at its deadline", async () => {
    const store = await hanging()
    const answer: ReadAnswer = await store.read(head, { ...reading, deadline: 100 })
    expect(answer).toMatchObject({ kind: "failed", error: { message: expect.stringMatching(/within 100 ms/) } })
    expect(answer.kind === "failed" && answer.error).toBeInstanceOf(StoreUnavailableError)
  })

  it("is waited for again before a write that it kept waiting is shown: what is read back survives a power cut", async () => {
    const time = new VirtualTime()
    const store = await started(await fresh(), time)
    await write(store, head, ABSENT, "1")
    /** That the disk was asked, and what it answers; a third time would be one too many. */
    const turns = [1, 2].map(() => ({ asked: Promise.withResolvers<void>(), done: Promise.withResolvers<void>() }))
    const [first, second] = turns as [(typeof turns)[0], (typeof turns)[0]]
    const persist = vi.spyOn(durableFiles, "persist").mockImplementation(() => {
      const turn = turns.shift()!
      turn.asked.resolve()
      return turn.done.promise
    })
    onTestFinished(() => persist.mockRestore())
    const put = store.put(head, "1", bytes("2"), options)
    await first.asked.promise
    await time.advance(options.deadline)
    expect(await put).toMatchObject({ kind: "unknown" })
    let shown: ReadAnswer | undefined
    const read = store.read(head, reading).then((answer) => (shown = answer))
    await second.asked.promise
    expect(shown).toBeUndefined()
    second.done.resolve()
    await read
    expect(shown).toMatchObject({ kind: "found", generation: "2" })
  })

  it("ends a request that hangs when the caller gives up", async () => {
    const store = await hanging()
    const controller = new AbortController()
    const answer = store.read(head, { ...reading, deadline: 60_000, signal: controller.signal })
    controller.abort()
    expect(await answer).toMatchObject({
      kind: "failed",
      error: { message: expect.stringMatching(/the caller gave up/) },
    })
  })
})

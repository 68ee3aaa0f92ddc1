// Pins the compare-and-swap of the file store by stopping, or killing, one process between any two of its operations
// while others go on, on a real directory. tests/integration/file-hammer.test.ts does the same by real signals.
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { durableFiles, type Files, quickFiles } from "../../../../../src/locks/stores/file/disk/files.ts"
import { run } from "../../../../../src/locks/stores/file/disk/steps.ts"
import { objectDirectory } from "../../../../../src/locks/stores/file/objects/layout.ts"
import { put, remove, type Swap } from "../../../../../src/locks/stores/file/objects/swap.ts"
import { type Current, readCurrent } from "../../../../../src/locks/stores/file/objects/versions.ts"
import type { ObjectRef } from "../../../../../src/locks/stores/port.ts"
import { type Entry, violations } from "../../../../integration/support/history.ts"
import { bytes } from "../../../../support/objects.ts"
import { atEachStep, interrupted, type Interrupted } from "../interrupted.ts"

const ref: ObjectRef = { area: "leases", name: "key" }
const OTHERS = [1, 2, 3, 4]
const uninterrupted = async (): Promise<void> => {}

let base = ""
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "leasehold-swap-"))
})
afterAll(() => rm(base, { recursive: true }))

async function directory(): Promise<string> {
  const root = await mkdtemp(join(base, "case-"))
  for (const area of ["leases", "state"]) await mkdir(join(root, area))
  return root
}

/** A process: its file operations and its log. */
class Process {
  readonly log: Entry[] = []
  readonly #root: string
  readonly #name: string
  readonly #files: Files
  #writes = 0

  constructor(root: string, name: string, files: Files = quickFiles) {
    this.#root = root
    this.#name = name
    this.#files = files
  }

  current(): Promise<Current> {
    const options = { limit: 1000, known: -1 }
    return run(readCurrent(this.#files, objectDirectory(this.#root, ref), options, () => undefined))
  }

  async read(): Promise<{ generation: number; op: string }> {
    const current = await this.current()
    const generation = current.kind === "body" ? current.number : 0
    const op = current.kind === "body" ? new TextDecoder().decode(current.body) : "-"
    this.log.push({ type: "read", generation, op })
    return { generation, op }
  }

  async put(seen: { generation: number; op: string }): Promise<Swap> {
    const op = `${this.#name}${++this.#writes}`
    this.log.push({ type: "try", op, base: seen.generation, previous: seen.op })
    const swap = await run(put(this.#target(), seen.generation, bytes(op)))
    if (swap.kind === "applied") this.log.push({ type: "applied", op, generation: swap.number })
    else this.log.push({ type: swap.kind === "refused" ? "refused" : "unknown", op })
    return swap
  }

  /** Reads and writes `times` times, each time applied. */
  async write(times: number): Promise<void> {
    for (let time = 0; time < times; time++) {
      const { kind } = await this.put(await this.read())
      if (kind !== "applied") throw new Error(`a put of ${this.#name} was ${kind}`)
    }
  }

  remove(generation: number): Promise<Swap> {
    return run(remove(this.#target(), generation))
  }

  #target() {
    return { files: this.#files, id: this.#name, root: this.#root, ref }
  }
}

/** What is wrong after all of them are done, and after one more that reads and writes. */
async function wrong(root: string, ...processes: Process[]): Promise<string[]> {
  const last = new Process(root, "last")
  await last.write(1)
  return violations(
    [...processes, last].map(({ log }) => log),
    await last.read(),
  )
}

describe("a put that is stopped before any of its operations", () => {
  // Tests stores: The file store compares and swaps under `kill -9` and SIGSTOP, by eight processes.
  it.each(OTHERS)("keeps one history when others write %i versions meanwhile", async (others) => {
    const outcomes = new Set<string>()
    const steps = await atEachStep(async (at) => {
      const root = await directory()
      const other = new Process(root, "other")
      await other.write(3)
      const seen = await other.read()
      const files = interrupted(quickFiles, at, () => other.write(others))
      const stopped = new Process(root, "stopped", files)
      outcomes.add((await stopped.put(seen)).kind)
      expect(await wrong(root, other, stopped)).toEqual([])
      return files
    })
    expect(steps).toBeGreaterThan(5)
    expect(outcomes).toContain("applied")
    expect(outcomes).toContain("refused")
    expect(outcomes.has("overtaken")).toBe(true)
  })

  it.each(OTHERS)("never lands on a later life when others delete and create %i times meanwhile", async (others) => {
    await atEachStep(async (at) => {
      const root = await directory()
      const other = new Process(root, "other")
      await other.write(3)
      let created = ""
      const files = interrupted(quickFiles, at, async () => {
        for (let life = 0; life < others; life++) {
          expect(await other.remove((await other.current()).number)).toMatchObject({ kind: "applied" })
          await other.put({ generation: 0, op: "-" })
        }
        created = (await other.read()).op
      })
      const stopped = await new Process(root, "stopped", files).put({ generation: 3, op: "other3" })
      const { op } = await other.read()
      expect([op, created === "" && stopped.kind]).toEqual(created === "" ? ["stopped1", "applied"] : [created, false])
      return files
    })
  })

  it("lets one of two creators through, wherever the other starts", async () => {
    await atEachStep(async (at) => {
      const root = await directory()
      const other = new Process(root, "other")
      const none = { generation: 0, op: "-" }
      let second: Swap["kind"] = "refused"
      const files = interrupted(quickFiles, at, async () => {
        second = (await other.put(none)).kind
      })
      const stopped = new Process(root, "stopped", files)
      const first = (await stopped.put(none)).kind
      expect([first, second].toSorted()).toEqual(["applied", "refused"])
      expect(await wrong(root, other, stopped)).toEqual([])
      return files
    })
  })
})

describe("a put that is killed before any of its operations", () => {
  // Tests stores.
  it("leaves the old version or the new one, and stops nobody", async () => {
    const found = new Set<string>()
    await atEachStep(async (at) => {
      const root = await directory()
      const other = new Process(root, "other")
      await other.write(3)
      const seen = await other.read()
      const killed = Promise.withResolvers<void>()
      const files = interrupted(quickFiles, at, () => (killed.resolve(), new Promise(() => {})))
      const victim = new Process(root, "victim", files)
      await Promise.race([victim.put(seen), killed.promise])
      found.add((await other.read()).op)
      await other.write(3)
      expect(await wrong(root, other, victim)).toEqual([])
      return files
    })
    expect([...found].toSorted()).toEqual(["other3", "victim1"])
  })
})

describe("a delete that is stopped before any of its operations", () => {
  it.each(OTHERS)("deletes nothing that others wrote, when they write %i versions meanwhile", async (others) => {
    await atEachStep(async (at) => {
      const root = await directory()
      const other = new Process(root, "other")
      await other.write(3)
      let wrote = false
      const files = interrupted(quickFiles, at, async () => {
        wrote = (await other.current()).kind !== "absent"
        if (wrote) await other.write(others)
      })
      const swap = await new Process(root, "stopped", files).remove(3)
      const { op } = await other.read()
      expect([op, swap.kind === "applied"]).toEqual(wrote ? [`other${3 + others}`, false] : ["-", true])
      return files
    })
  })
})

describe("a read that is stopped before any of its operations", () => {
  it.each(OTHERS)("answers a version that was current meanwhile, when others write %i", async (others) => {
    await atEachStep(async (at) => {
      const root = await directory()
      const other = new Process(root, "other")
      await other.write(3)
      const files = interrupted(quickFiles, at, () => other.write(others))
      const { generation, op } = await new Process(root, "stopped", files).read()
      expect(generation).toBeGreaterThanOrEqual(3)
      expect(op).toBe(`other${generation}`)
      return files
    })
  })

  it("never answers what a late writer left under the number that it saw", async () => {
    await atEachStep(async (at) => {
      const root = await directory()
      const other = new Process(root, "other")
      await other.write(2)
      const [stopped, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const beforeLink = 2
      const lateFiles = interrupted(quickFiles, beforeLink, () => (stopped.resolve(), resumed.promise))
      const late = new Process(root, "late", lateFiles).put({ generation: 2, op: "other2" })
      await stopped.promise
      await other.write(1)
      const files = interrupted(quickFiles, at, async () => {
        await other.write(3)
        resumed.resolve()
        expect(await late).toEqual({ kind: "overtaken" })
      })
      const { generation, op } = await new Process(root, "stopped", files).read()
      expect(op).toBe(`other${generation}`)
      return files
    })
  })

  it("answers absent only for what was absent meanwhile", async () => {
    await atEachStep(async (at) => {
      const root = await directory()
      const other = new Process(root, "other")
      await other.write(3)
      const files = interrupted(quickFiles, at, async () => {
        await other.remove(3)
        await other.put({ generation: 0, op: "-" })
        await other.write(2)
      })
      const { generation } = await new Process(root, "stopped", files).read()
      expect([3, 7]).toContain(generation)
      return files
    })
  })
})

describe("a put under state", () => {
  const head: ObjectRef = { area: "state", name: "key/head" }

  async function operations(root: string, expected: number): Promise<readonly string[]> {
    const files: Interrupted = interrupted(durableFiles, -1, uninterrupted)
    await run(put({ files, id: "id", root, ref: head }, expected, bytes("body")))
    return files.done
  }

  // Tests stores: State is synced before it is acknowledged; half a lease record is a stranger's, or corrupt.
  it("syncs the directory after the link and before it looks whether it holds, and clears only then", async () => {
    const root = await directory()
    for (const expected of [0, 1]) await operations(root, expected)
    expect(await operations(root, 2)).toEqual(["exists", "create", "link", "unlink", "persist", "names", "unlink"])
    expect(await readdir(join(root, "state", "key", "head"))).toEqual(["0000000000000002", "0000000000000003"])
  })

  it("syncs every directory that it made, and also those that another creator may have made", async () => {
    const root = await directory()
    const persisted: string[] = []
    const files: Files = { ...durableFiles, persist: (path) => (persisted.push(path), durableFiles.persist(path)) }
    await mkdir(join(root, "state", "key"))
    await run(put({ files, id: "id", root, ref: head }, 0, bytes("body")))
    expect(persisted.map((path) => path.slice(root.length))).toEqual(["/state", "/state/key", "/state/key/head"])
  })
})

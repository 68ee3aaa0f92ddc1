/** `<name>.lock`: the current version by a name for people, whoever is stopped or killed between any two operations. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Files, quickFiles } from "../../../../../src/locks/stores/file/disk/files.ts"
import { run } from "../../../../../src/locks/stores/file/disk/steps.ts"
import { put, remove } from "../../../../../src/locks/stores/file/objects/swap.ts"
import type { ObjectRef } from "../../../../../src/locks/stores/port.ts"
import { bytes } from "../../../../support/objects.ts"
import { atEachStep, interrupted } from "../interrupted.ts"

const ref: ObjectRef = { area: "leases", name: "key" }

let base = ""
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "leasehold-show-"))
})
afterAll(() => rm(base, { recursive: true }))

async function directory(): Promise<string> {
  const root = await mkdtemp(join(base, "case-"))
  for (const area of ["leases", "state"]) await mkdir(join(root, area))
  return root
}

const writing = (root: string, after: number, body: string, files: Files = quickFiles): ReturnType<typeof run> =>
  run(put({ files, id: body, root, ref }, after, bytes(body)))

const shown = (root: string): Promise<string> => readFile(join(root, "key.lock"), "utf8")

describe("a lock file", () => {
  it("is a second link to the current version, and gone with its object", async () => {
    const root = await directory()
    for (const number of [1, 2, 3]) {
      await writing(root, number - 1, `v${number}`)
      expect(await shown(root)).toBe(`v${number}`)
      const version = await stat(join(root, "leases", "key", `000000000000000${number}`))
      expect(await stat(join(root, "key.lock"))).toMatchObject({ ino: version.ino, nlink: 2 })
    }
    await run(remove({ files: quickFiles, id: "x", root, ref }, 3))
    expect(await readdir(root)).toEqual(["leases", "state"])
    await writing(root, 0, "v5")
    expect(await shown(root)).toBe("v5")
  })

  it("is there for lease records alone", async () => {
    const root = await directory()
    await run(put({ files: quickFiles, id: "x", root, ref: { area: "state", name: "key/head" } }, 0, bytes("head")))
    expect(await readdir(root)).toEqual(["leases", "state"])
  })

  // Tests stores: `<name>.lock` links to the current version after any stop or kill, and decides nothing.
  it("shows what is current when a writer goes on that was stopped, at whatever point, while others wrote", async () => {
    const steps = await atEachStep(async (at) => {
      const root = await directory()
      await writing(root, 0, "v1")
      const files = interrupted(quickFiles, at, async () => {
        for (const number of [2, 3, 4]) await writing(root, number - 1, `other${number}`)
      })
      await writing(root, 1, "late", files)
      const numbers = (await readdir(join(root, "leases", "key"))).filter((name) => /^\d+$/.test(name)).toSorted()
      const current = await readFile(join(root, "leases", "key", numbers.at(-1)!), "utf8")
      expect({ at, shown: await shown(root) }).toEqual({ at, shown: current })
      return files
    })
    expect(steps).toBeGreaterThanOrEqual(7)
  })

  it("shows what is current with the next write after a writer was killed, at whatever point", async () => {
    await atEachStep(async (at) => {
      const root = await directory()
      await writing(root, 0, "v1")
      const killed = Promise.withResolvers<void>()
      const files = interrupted(quickFiles, at, () => {
        killed.resolve()
        return new Promise<void>(() => {})
      })
      await Promise.race([writing(root, 1, "v2", files), killed.promise])
      await writing(root, 1, "next2")
      await writing(root, 2, "next3")
      expect({ at, shown: await shown(root) }).toEqual({ at, shown: "next3" })
      return files
    })
  })

  it("shows nothing of an object that is deleted while it is written again, nor hides what is written", async () => {
    await atEachStep(async (at) => {
      const root = await directory()
      await writing(root, 0, "v1")
      const files = interrupted(quickFiles, at, async () => void (await writing(root, 0, "v3")))
      await run(remove({ files, id: "x", root, ref }, 1))
      const [again] = (await readdir(join(root, "leases", "key"))).includes("0000000000000003") ? ["v3"] : [undefined]
      expect({ at, shown: await shown(root).catch(() => undefined) }).toEqual({ at, shown: again })
      return files
    })
  })

  it("is not missed by a process that may not make it", async () => {
    const root = await directory()
    const refuses: Files = {
      ...quickFiles,
      rename: () => {
        throw Object.assign(new Error("EACCES"), { code: "EACCES" })
      },
    }
    expect(await writing(root, 0, "v1", refuses)).toEqual({ kind: "applied", number: 1 })
    expect(await readdir(join(root, "leases", "key"))).toEqual(["0000000000000001"])
  })
})

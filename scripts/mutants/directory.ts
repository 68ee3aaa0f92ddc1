/**
 * The file store's compare-and-swap on a directory in memory: a few writers run the production code, each of whose file
 * operations waits for its turn, which chance gives. So a writer may stand still between any two of them.
 *
 * What must hold is what a compare-and-swap means: a version that a read shows follows from the one before it by one
 * applied write, and no acknowledged write is missing from what follows it.
 */
import { basename, dirname } from "node:path"
import type { FileContent, Files } from "../../src/locks/stores/file/disk/files.ts"
import { run } from "../../src/locks/stores/file/disk/steps.ts"
import { objectDirectory, type Target } from "../../src/locks/stores/file/objects/layout.ts"
import { put } from "../../src/locks/stores/file/objects/swap.ts"
import { readCurrent } from "../../src/locks/stores/file/objects/versions.ts"
import { SeededRandom } from "../../src/runtime/time/random.ts"

const writers = 3
const writesEach = 6
const ref = { area: "leases", name: "k" } as const

/** Plays one interleaving. Settles with what went wrong, if anything did. */
export async function directoryRun(seed: number): Promise<string | undefined> {
  const turns = new Turns(new SeededRandom(seed))
  const folder = new Folder()
  const acknowledged: string[] = []
  const problems: string[] = []
  const directory = objectDirectory("/root", ref)
  folder.makeDirectory("/root/leases")
  const write = async (writer: number): Promise<void> => {
    const files = turns.of(folder)
    const target: Target = { files, id: `w${writer}`, root: "/root", ref }
    for (let number = 0; number < writesEach; number++) {
      const before = new Set(acknowledged)
      const current = await run(readCurrent(files, directory, { limit: 1e6, known: -1 }, () => {}))
      const rows = current.kind === "body" ? rowsOf(current.body) : []
      const lost = [...before].filter((row) => !rows.includes(row))
      if (lost.length > 0) problems.push(`version ${current.number} lacks ${lost.join(", ")}, which were applied`)
      const row = `${writer}.${number}`
      const body = new TextEncoder().encode([...rows, row].join(" "))
      const swap = await run(put(target, current.number, body))
      if (swap.kind === "applied") acknowledged.push(row)
    }
  }
  const all = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  await turns.run(all)
  return problems[0]
}

const rowsOf = (body: Uint8Array): readonly string[] => new TextDecoder().decode(body).split(" ")

/** Lets one waiting operation go on at a time, whichever chance picks; one that was passed over may wait for long. */
class Turns {
  readonly #random: SeededRandom
  #waiting: (() => void)[] = []

  constructor(random: SeededRandom) {
    this.#random = random
  }

  async run(all: Promise<unknown>): Promise<void> {
    let isOver = false
    const end = (): void => void (isOver = true)
    void all.then(end, end)
    for (let idle = 0; !isOver && idle < 100; idle++) {
      await Promise.resolve()
      if (this.#waiting.length === 0) continue
      idle = 0
      // Mostly the first, so that the others fall far behind.
      const at = this.#random.next() < 0.8 ? 0 : Math.floor(this.#random.next() * this.#waiting.length)
      this.#waiting.splice(at, 1)[0]!()
      for (let settle = 0; settle < 20; settle++) await Promise.resolve()
    }
    await all
  }

  of(folder: Folder): Files {
    const turn = async <A>(operation: () => A): Promise<A> => {
      await new Promise<void>((resolve) => {
        const at = this.#random.next() < 0.5 ? 0 : this.#waiting.length
        this.#waiting.splice(at, 0, resolve)
      })
      return operation()
    }
    return {
      names: (directory) => turn(() => folder.names(directory)),
      create: (path, body) => turn(() => folder.create(path, body)),
      read: (path) => turn(() => folder.read(path)),
      link: (path, second) => turn(() => folder.link(path, second)),
      rename: (path, other) => turn(() => folder.rename(path, other)),
      exists: (path) => turn(() => folder.exists(path)),
      unlink: (path) => turn(() => folder.unlink(path)),
      makeDirectory: (path) => turn(() => folder.makeDirectory(path)),
      removeDirectory: (path) => turn(() => folder.removeDirectory(path)),
      status: async () => undefined,
      persist: async () => {},
    }
  }
}

const errno = (code: string): Error => Object.assign(new Error(code), { code })

/** Directories and files by path. */
class Folder {
  readonly #files = new Map<string, Uint8Array>()
  readonly #directories = new Set<string>()

  names(directory: string): string[] {
    if (!this.#directories.has(directory)) throw errno("ENOENT")
    const all = [...this.#files.keys(), ...this.#directories]
    return all.filter((path) => dirname(path) === directory).map((path) => basename(path))
  }

  create(path: string, body: Uint8Array): void {
    if (!this.#directories.has(dirname(path))) throw errno("ENOENT")
    if (this.exists(path)) throw errno("EEXIST")
    this.#files.set(path, body)
  }

  read(path: string): FileContent {
    if (this.#directories.has(path)) return { kind: "directory" }
    const body = this.#files.get(path)
    if (body === undefined) throw errno("ENOENT")
    return { kind: "body", body, modified: 0 }
  }

  link(path: string, second: string): void {
    const body = this.#files.get(path)
    if (body === undefined) throw errno("ENOENT")
    if (this.exists(second)) throw errno("EEXIST")
    this.#files.set(second, body)
  }

  rename(path: string, other: string): void {
    const body = this.#files.get(path)
    if (body === undefined) throw errno("ENOENT")
    this.#files.delete(path)
    this.#files.set(other, body)
  }

  exists(path: string): boolean {
    return this.#files.has(path) || this.#directories.has(path)
  }

  unlink(path: string): void {
    if (!this.#files.delete(path)) throw errno("ENOENT")
  }

  makeDirectory(path: string): void {
    if (this.exists(path)) throw errno("EEXIST")
    this.#directories.add(path)
  }

  removeDirectory(path: string): void {
    if (!this.#directories.delete(path)) throw errno("ENOENT")
  }
}

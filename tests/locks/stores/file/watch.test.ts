/** What is heard of a directory of versions, by real events of this machine. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { versionPath } from "../../../../src/locks/stores/file/objects/layout.ts"
import type { Generation, Watching } from "../../../../src/locks/stores/port.ts"
import { watchPath } from "../../../../src/runtime/machine/watch-path.ts"

/** More than these are not watched: each watch of Deno takes one of the 128 instances that Linux allows a user. */
const MOST = "Deno" in globalThis ? 32 : 1000

let watchVersions: (directory: string, wake: (generation?: Generation) => void) => Watching

beforeAll(async () => {
  vi.resetModules() // others of this process may watch, too: this is a count of its own
  ;({ watchVersions } = await import("../../../../src/locks/stores/file/watch.ts"))
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "leasehold-watch-"))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const write = (directory: string, version: number): void =>
  writeFileSync(versionPath(directory, version), "its content, which is another event")

/** Somebody who listens, until the end of the test at the latest. */
class Listener implements Disposable {
  heard = 0
  readonly generations: Generation[] = []
  readonly #watch: Watching
  #next = Promise.withResolvers<void>()

  constructor(directory: string) {
    this.#watch = watchVersions(directory, (generation) => {
      this.heard++
      this.generations.push(generation ?? "none")
      this.#next.resolve()
    })
    onTestFinished(() => this[Symbol.dispose]())
  }

  get hears(): boolean | undefined {
    return this.#watch.hears
  }

  /** Settles with how often it was woken, once it is the next time. */
  async next(): Promise<number> {
    await this.#next.promise
    this.#next = Promise.withResolvers()
    return this.heard
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]()
  }
}

describe("a directory of versions", () => {
  // Tests stores: A waiter is woken by changes of the record and by its owner's end, and looks all the same.
  it("tells of each new version once, and of nothing else", async () => {
    const directory = folder()
    const listener = new Listener(directory)
    // It hears of the end after the listener has heard of all before.
    const end = Promise.withResolvers<void>()
    using _ = watchPath(directory, (name) => void (name === "end" && end.resolve()))
    for (const version of [1, 2, 5]) {
      writeFileSync(join(directory, `a-draft-of-${version}`), "")
      write(directory, version)
      rmSync(versionPath(directory, version - 1), { force: true })
    }
    writeFileSync(join(directory, "end"), "")
    await end.promise
    await expect.poll(() => listener.heard).toBe(3)
    expect(listener.generations).toEqual(["1", "2", "5"])
  })

  it("tells nobody who has left, and leaving twice is leaving once", async () => {
    const directory = folder()
    const [gone, stays] = [new Listener(directory), new Listener(directory)]
    gone[Symbol.dispose]()
    gone[Symbol.dispose]()
    const next = stays.next()
    write(directory, 1)
    expect(await next).toBe(1)
    expect(gone.heard).toBe(0)
    expect([gone.hears, stays.hears]).toEqual([false, true])
  })

  it("that is missing tells nothing, also once it is there", async () => {
    const directory = join(folder(), "missing")
    const early = new Listener(directory)
    mkdirSync(directory)
    const late = new Listener(directory)
    const next = late.next()
    write(directory, 1)
    expect(await next).toBe(1)
    expect(early.heard).toBe(0)
    expect([early.hears, late.hears]).toEqual([false, true])
  })

  // Tests stores: Looks are seldom only while the system tells of changes and ends; own writes are no news.
  it("tells that it is watched no more once it was removed, though there is another of that name", async () => {
    const directory = join(folder(), "key")
    mkdirSync(directory)
    const listener = new Listener(directory)
    const next = listener.next()
    rmSync(directory, { recursive: true })
    mkdirSync(directory)
    await next
    expect([listener.generations, listener.hears]).toEqual([["none"], false])
  })

  it("is not watched by more than the system can bear", async () => {
    const directory = folder()
    const all = Array.from({ length: MOST }, () => new Listener(directory))
    const [last, tooMany] = [all.at(-1)!, new Listener(directory)]
    for (const version of [1, 2]) {
      const next = last.next()
      write(directory, version)
      expect(await next).toBe(version)
    }
    expect(tooMany.heard).toBe(0)
    expect([last.hears, tooMany.hears]).toEqual([true, false])
    tooMany[Symbol.dispose]() // it had no watch to give back
    for (const each of all) each[Symbol.dispose]()
    const late = new Listener(directory)
    const next = late.next()
    write(directory, 3)
    expect(await next).toBe(1)
  })
})

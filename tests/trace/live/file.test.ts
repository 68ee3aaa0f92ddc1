// Pins what a live trace leaves in a directory: files that parse, each with a header, of bounded size, for their user
// alone, and never in the place of another's.
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { describe, expect, it, onTestFinished } from "vitest"
import { TraceFile } from "../../../src/trace/live/file.ts"
import { parseTrace } from "../../../src/trace/trace-text.ts"
import type { NoteLine } from "../../../src/trace/trace.ts"

const note = (text: string): NoteLine => ({ kind: "note", at: 1, worker: "a", note: text })
const LEAST = 65_536

async function folder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-trace-"))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}

async function notesOf(path: string): Promise<string[]> {
  const { header, lines, torn } = parseTrace(await readFile(path, "utf8"))
  expect(header).toEqual({ kind: "trace", version: 1, source: "live", seed: null, commit: null })
  expect(torn).toBeUndefined()
  return lines.map((line) => (line as NoteLine).note)
}

/** Writes them all, however many are taken at a time. */
async function writeAll(file: TraceFile, lines: readonly NoteLine[]): Promise<void> {
  for (let from = 0; from < lines.length;) from += await file.write(lines.slice(from))
}

describe("a trace in a file", () => {
  // Tests traces: A live trace's files parse, have bounds, are their user's alone, and replace nobody else's.
  it("is a header and its lines, which only their user can read", async () => {
    const path = join(await folder(), "leases.ndjson")
    const file = new TraceFile({ file: path, maxBytes: LEAST, keep: 1 })
    await writeAll(file, [note("a"), note("ünïcode \u2028 <script>")])
    await writeAll(file, [note("c")])
    await file.close()
    expect(await notesOf(path)).toEqual(["a", "ünïcode \u2028 <script>", "c"])
    expect((await lstat(path)).mode & 0o777).toBe(0o600)
  })

  it("stays in its directory, whichever the process changes to", async () => {
    const [one, other] = [await folder(), await folder()]
    const before = process.cwd()
    onTestFinished(() => process.chdir(before))
    process.chdir(one)
    const file = new TraceFile({ file: "leases.ndjson", maxBytes: LEAST, keep: 1 })
    await writeAll(file, [note("a")])
    process.chdir(other)
    await writeAll(file, [note("b".repeat(LEAST))])
    await file.close()
    expect([await readdir(one), await readdir(other)]).toEqual([["leases.ndjson", "leases.ndjson.1"], []])
  })

  it("begins another in time, and keeps as many as it is told to", async () => {
    const directory = await folder()
    const path = join(directory, "t")
    const file = new TraceFile({ file: path, maxBytes: LEAST, keep: 2 })
    const texts = Array.from({ length: 1000 }, (_, each) => `${each} ${"x".repeat(300)}`)
    await writeAll(file, texts.map(note))
    await file.close()
    const names = (await readdir(directory)).sort()
    expect(names).toEqual(["t", "t.1", "t.2"])
    for (const name of names) expect((await lstat(join(directory, name))).size).toBeLessThanOrEqual(LEAST)
    const kept = [...(await notesOf(`${path}.2`)), ...(await notesOf(`${path}.1`)), ...(await notesOf(path))]
    expect(kept).toEqual(texts.slice(-kept.length))
    expect(kept.length).toBeGreaterThan(300)
  })

  it("keeps what a process before it wrote there, torn end and all", async () => {
    const path = join(await folder(), "t")
    await writeFile(path, '{"kind":"trace","version":1,"source":"live","seed":null,"commit":null}\n{"kind":"no')
    const file = new TraceFile({ file: path, maxBytes: LEAST, keep: 1 })
    await writeAll(file, [note("new")])
    await file.close()
    expect(await notesOf(path)).toEqual(["new"])
    expect(parseTrace(await readFile(`${path}.1`, "utf8")).torn).toBe('{"kind":"no')
  })

  it("keeps nothing of it where nothing is to be kept", async () => {
    const directory = await folder()
    const path = join(directory, "t")
    await writeFile(path, "before")
    const file = new TraceFile({ file: path, maxBytes: LEAST, keep: 0 })
    await writeAll(file, [note("new")])
    await file.close()
    expect(await readdir(directory)).toEqual(["t"])
    expect(await notesOf(path)).toEqual(["new"])
  })

  it("is not written through a link, nor in the place of a directory", async () => {
    const directory = await folder()
    const [victim, link, inner] = [join(directory, "victim"), join(directory, "link"), join(directory, "inner")]
    await writeFile(victim, "mine")
    await symlink(victim, link)
    await mkdir(inner)
    for (const path of [link, inner]) {
      const file = new TraceFile({ file: path, maxBytes: LEAST, keep: 1 })
      await expect(file.write([note("a")])).rejects.toThrow(/is no regular file/)
    }
    expect(await readFile(victim, "utf8")).toBe("mine")
  })

  it.skipIf(process.geteuid?.() !== 0)("is not written in the place of another user's file", async () => {
    const path = join(await folder(), "t")
    await writeFile(path, "another's")
    await chown(path, 1234, 1234)
    const file = new TraceFile({ file: path, maxBytes: LEAST, keep: 1 })
    await expect(file.write([note("a")])).rejects.toThrow(/belongs to another user \(uid 1234\)/)
    expect(await readFile(path, "utf8")).toBe("another's")
  })

  it("says why it can't be written, and is written once it can", async () => {
    const directory = await folder()
    const path = join(directory, "later", "t")
    const file = new TraceFile({ file: path, maxBytes: LEAST, keep: 1 })
    await expect(file.write([note("a")])).rejects.toThrow(/ENOENT/)
    await mkdir(join(directory, "later"))
    await writeAll(file, [note("a")])
    await file.close()
    expect(await notesOf(path)).toEqual(["a"])
  })

  it("has a note in place of a line that JSON can't hold", async () => {
    const path = join(await folder(), "t")
    const file = new TraceFile({ file: path, maxBytes: LEAST, keep: 1 })
    await writeAll(file, [{ ...note("a"), at: 2, note: 7n as never }, note("b")])
    await file.close()
    expect(await notesOf(path)).toEqual(["a line is missing here: JSON can't hold it", "b"])
  })

  it("has room for a line in any case", async () => {
    const path = join(await folder(), "t")
    await writeFile(path, "old")
    await chmod(path, 0o600)
    const file = new TraceFile({ file: path, maxBytes: 100, keep: 1 })
    await writeAll(file, [note("x".repeat(1000)), note("y")])
    await file.close()
    expect(await notesOf(path)).toEqual(["y"])
    expect(await notesOf(`${path}.1`)).toEqual(["x".repeat(1000)])
  })
})

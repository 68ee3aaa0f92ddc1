/**
 * A trace in files: the present one, and older ones beside it (`leases.ndjson`, `leases.ndjson.1`, …), each with a
 * header and of bounded size. A file that is written was made by this process, for this user alone, and is never
 * reached through a link.
 *
 * A write that fails leaves what was there before it: its own beginning is cut off again.
 *
 * Not promised: that what was written survives a power cut, that somebody else doesn't move these files while they are
 * written, or that two processes which write to one path find their lines under the names that they expect.
 */
import { Buffer } from "node:buffer"
import { constants } from "node:fs"
import { type FileHandle, lstat, open, rename, unlink } from "node:fs/promises"
import { resolve } from "node:path"
import process from "node:process"
import { isPermitted } from "../../runtime/permissions.ts"
import { formatTraceLine } from "../trace-text.ts"
import { TRACE_VERSION, type TraceHeader, type TraceLine } from "../trace.ts"
import type { Destination } from "./outlet.ts"

/** The first line of what live workers write. */
export const LIVE_HEADER: TraceHeader = {
  kind: "trace",
  version: TRACE_VERSION,
  source: "live",
  seed: null,
  commit: null,
}

/** Where, and how much. */
export interface TraceFileOptions {
  readonly file: string
  /** In bytes. */
  readonly maxBytes: number
  /** How many older files. */
  readonly keep: number
}

const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
/** A new file: no other's is taken over, whatever it is. Windows knows no links of that kind. */
const NEW_FILE = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | (O_NOFOLLOW ?? 0)
/** What only its user can read. */
const MODE = 0o600

/** Writes lines to a file, and begins another one in time. */
export class TraceFile implements Destination {
  readonly name: string
  readonly #options: TraceFileOptions
  #handle: FileHandle | undefined
  /** Bytes of whole lines in the present file. */
  #bytes = 0

  constructor(options: TraceFileOptions) {
    this.name = options.file
    this.#options = { ...options, file: absolute(options.file) }
  }

  async write(lines: readonly TraceLine[]): Promise<number> {
    if (this.#handle === undefined) await this.#begin()
    let { text, count } = this.#fitting(lines)
    if (count === 0) {
      await this.close()
      await this.#begin()
      ;({ text, count } = this.#fitting(lines))
    }
    await this.#append(Buffer.from(text))
    return count
  }

  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close().catch(() => {}) // nothing of it is to be saved
  }

  /** As many lines as have room. The first of a file always has: a line is far smaller. */
  #fitting(lines: readonly TraceLine[]): { text: string; count: number } {
    const isNew = this.#bytes === 0
    let text = isNew ? formatTraceLine(LIVE_HEADER) : ""
    let bytes = this.#bytes + text.length
    let count = 0
    for (const line of lines) {
      const next = textOf(line)
      bytes += Buffer.byteLength(next)
      if (bytes > this.#options.maxBytes && !(isNew && count === 0)) break
      text += next
      count++
    }
    return { text, count }
  }

  async #append(bytes: Buffer): Promise<void> {
    const handle = this.#handle!
    try {
      for (let from = 0; from < bytes.length;) from += (await handle.write(bytes, from)).bytesWritten
    } catch (error) {
      await handle.truncate(this.#bytes).catch(() => this.close()) // else the next write would follow half a line
      throw error
    }
    this.#bytes += bytes.length
  }

  /** A new file, with those before it moved on by one. */
  async #begin(): Promise<void> {
    const { file } = this.#options
    if (!isPermitted({ name: "read", path: file }, { name: "write", path: file }))
      throw new Error(`Deno doesn't permit it: run with --allow-read and --allow-write for ${file} and its directory`)
    if (await isThere(file)) await this.#moveOn()
    this.#handle = await open(file, NEW_FILE, MODE)
    this.#bytes = 0
  }

  async #moveOn(): Promise<void> {
    const { file, keep } = this.#options
    if (keep === 0) return unlink(file)
    for (let number = keep; number > 1; number--) await moved(`${file}.${number - 1}`, `${file}.${number}`)
    await moved(file, `${file}.1`)
  }
}

/** A process may change its directory while it writes: its files are where they were to be at first. */
function absolute(file: string): string {
  try {
    return resolve(file)
  } catch {
    return file // its directory was removed: writing tells
  }
}

/**
 * What JSON can't hold, as a lock of another kind may tell it, must not keep the lines behind it from being written.
 */
function textOf(line: TraceLine): string {
  try {
    return formatTraceLine(line)
  } catch {
    return formatTraceLine({
      kind: "note",
      at: line.at,
      worker: null,
      note: "a line is missing here: JSON can't hold it",
    })
  }
}

/** Whether there is a file of this user's. Throws for anything else of that name, which is not to be touched. */
async function isThere(path: string): Promise<boolean> {
  const found = await lstat(path).catch(orAbsent)
  if (found === undefined) return false
  if (!found.isFile()) throw new Error(`${path} is there already, and is no regular file`)
  const user = userId()
  if (user !== undefined && found.uid !== user) throw new Error(`${path} belongs to another user (uid ${found.uid})`)
  return true
}

async function moved(from: string, to: string): Promise<void> {
  await rename(from, to).catch(orAbsent)
}

const orAbsent = (error: unknown): undefined => {
  if ((error as { readonly code?: unknown }).code !== "ENOENT") throw error
}

/** Undefined on Windows, and where Deno doesn't tell. */
function userId(): number | undefined {
  return isPermitted({ name: "sys", kind: "uid" }) ? process.geteuid?.() : undefined
}

/**
 * The few file operations that the store is made of, in two kinds. `quickFiles` calls synchronously and syncs nothing:
 * through the thread pool the few calls of a lease record take several times as long (`npm run bench -- file-put`).
 * `durableFiles` blocks nobody and survives a power cut.
 *
 * Not promised: that a quick operation is quick on a sick disk or a hung network mount; meanwhile the process stands
 * still, as any stopped process does, and its leases run out.
 */
import * as sync from "node:fs"
import * as async from "node:fs/promises"
import type { Awaitable } from "./awaitable.ts"
import { errnoOf } from "./failures.ts"

/** What is under a path. */
export type FileContent =
  | { readonly kind: "directory" }
  | { readonly kind: "large" }
  /** `modified` as the file system stamped it, in Unix milliseconds. */
  | { readonly kind: "body"; readonly body: Uint8Array; readonly modified: number }

/** All operations fail with the errno errors of `node:fs`. */
export interface Files {
  /** The names in a directory, in no order. */
  names(directory: string): Awaitable<string[]>
  /** Writes a file that must not exist. */
  create(path: string, body: Uint8Array): Awaitable<void>
  /** Reads a file of at most `limit` bytes. */
  read(path: string, limit: number): Awaitable<FileContent>
  /** Gives a file a second name, which must not exist. */
  link(path: string, second: string): Awaitable<void>
  /** Gives a file another name, in place of the file that has it. Between two names of one file it may do nothing. */
  rename(path: string, other: string): Awaitable<void>
  exists(path: string): Awaitable<boolean>
  unlink(path: string): Awaitable<void>
  makeDirectory(path: string): Awaitable<void>
  removeDirectory(path: string): Awaitable<void>
  /**
   * About the name itself (a link is not followed), numbers exact, times in nanoseconds; undefined where it is missing.
   */
  status(path: string): Awaitable<sync.BigIntStats | undefined>
  /** Makes what happened to the names in a directory survive a power cut. */
  persist(directory: string): Awaitable<void>
}

/** Synchronous, and never synced to the disk. */
export const quickFiles: Files = {
  names: (directory) => sync.readdirSync(directory),
  create: (path, body) => sync.writeFileSync(path, body, { flag: "wx" }),
  read(path, limit) {
    const file = sync.openSync(path, "r")
    try {
      const status = sync.fstatSync(file)
      return contentOf(status, limit) ?? { kind: "body", body: sync.readFileSync(file), modified: status.mtimeMs }
    } finally {
      sync.closeSync(file)
    }
  },
  link: (path, second) => sync.linkSync(path, second),
  rename: (path, other) => sync.renameSync(path, other),
  // Not `access`, for which Deno wants to be permitted to know the user.
  exists: (path) => sync.lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  unlink: (path) => sync.unlinkSync(path),
  makeDirectory: (path) => sync.mkdirSync(path),
  removeDirectory: (path) => sync.rmdirSync(path),
  status: (path) => sync.lstatSync(path, { bigint: true, throwIfNoEntry: false }),
  persist: () => undefined,
}

/** Asynchronous, and synced to the disk before it settles. */
export const durableFiles: Files = {
  names: (directory) => async.readdir(directory),
  async create(path, body) {
    const file = await async.open(path, "wx")
    try {
      await file.writeFile(body)
      await file.sync()
    } finally {
      await file.close()
    }
  },
  async read(path, limit) {
    const file = await async.open(path, "r")
    try {
      const status = await file.stat()
      return contentOf(status, limit) ?? { kind: "body", body: await file.readFile(), modified: status.mtimeMs }
    } finally {
      await file.close()
    }
  },
  link: (path, second) => async.link(path, second),
  rename: (path, other) => async.rename(path, other),
  exists: async (path) => (await durableFiles.status(path)) !== undefined,
  unlink: (path) => async.unlink(path),
  makeDirectory: (path) => async.mkdir(path),
  removeDirectory: (path) => async.rmdir(path),
  async status(path) {
    try {
      return await async.lstat(path, { bigint: true })
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined
      throw error
    }
  },
  async persist(directory) {
    const handle = await async.open(directory, "r")
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
}

function contentOf(status: sync.Stats, limit: number): FileContent | undefined {
  if (status.isDirectory()) return { kind: "directory" }
  return status.size > limit ? { kind: "large" } : undefined
}

/**
 * Who could have written a file, beside this user and root. A path is this user's own where those two own it and every directory
 * and link on the way to it, and nobody else may write any of these. ssh asks the same of its keys.
 *
 * Two things are no stranger's: a directory with the sticky bit on the way, as nobody can replace what others own there; and write
 * permission of the user's private group, which has the number of the user (login programs give it by the same rule).
 *
 * Not promised: anything about access control lists, or about systems whose files have no owners (Windows).
 */
import { lstatSync, mkdirSync, readFileSync, readlinkSync, type Stats } from "node:fs"
import { dirname, join, resolve } from "node:path"
import process from "node:process"

/** Somebody else who could have written a path. */
export interface Stranger {
  /** What is the other's: the path itself, or a directory or link on the way to it. */
  readonly at: string
  readonly by: "owner" | "permission" | "unknown"
  /** For a message, such as `uid 1000 owns it`. */
  readonly why: string
  /** What takes the right from the other, for a message. */
  readonly remedy: string
}

/** As many links as Linux follows. */
const MOST_LINKS = 40
const STICKY = 0o1000
/** What the kernel shows instead of an owner that has no number in this user namespace. */
const OVERFLOW_UID = 65_534

/** The first stranger on the way to a path, if there is one. What is missing is nobody's yet. */
export function strangerOn(path: string): Stranger | undefined {
  const user = process.geteuid?.()
  if (user === undefined) return undefined
  for (const { at, found, isLast } of wayTo(resolve(path))) {
    const stranger = found instanceof Error ? hidden(at, found) : judge(at, found, isLast, user)
    if (stranger !== undefined) return stranger
  }
  return undefined
}

/** Makes a directory that only this user can read, where there is none. The stranger who could have written it, if there is one. */
export function makePrivate(directory: string): Stranger | undefined {
  const before = strangerOn(directory)
  if (before !== undefined || lstatSync(directory, { throwIfNoEntry: false }) !== undefined) return before
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return strangerOn(directory) // below a directory with the sticky bit another may have been faster
}

interface Step {
  readonly at: string
  readonly found: Stats | Error
  readonly isLast: boolean
}

/** Each name on the way to an absolute path, from the root on, and those that its links lead over: in the order of the kernel. */
function* wayTo(path: string): Generator<Step> {
  let at = "/"
  let links = 0
  const rest = path.split("/").filter((name) => name !== "")
  yield { at, found: look(at)!, isLast: rest.length === 0 }
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const next = name === ".." ? dirname(at) : join(at, name)
    const found = look(next)
    if (found === undefined) return
    yield { at: next, found, isLast: rest.length === 0 }
    if (found instanceof Error) return
    if (!found.isSymbolicLink()) at = next
    else if (++links > MOST_LINKS) return // no file is reached by these
    else {
      const target = readlinkSync(next)
      if (target.startsWith("/")) at = "/"
      rest.unshift(...target.split("/").filter((part) => part !== "" && part !== "."))
    }
  }
}

/** Undefined where nothing is there. */
function look(path: string): Stats | Error | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    return (error as { code?: unknown }).code === "ENOTDIR" ? undefined : (error as Error)
  }
}

function judge(at: string, found: Stats, isLast: boolean, user: number): Stranger | undefined {
  const { uid, gid, mode } = found
  if (uid !== 0 && uid !== user && !isUnmapped(uid))
    return { at, by: "owner", why: `uid ${uid} owns it`, remedy: `chown it to uid ${user}` }
  if (found.isSymbolicLink() || (mode & STICKY && found.isDirectory() && !isLast)) return undefined
  if ((mode & 0o002) !== 0) return { at, by: "permission", why: "everybody may write it", remedy: `chmod o-w ${at}` }
  if ((mode & 0o020) !== 0 && !isPrivateGroup(gid, user))
    return { at, by: "permission", why: `group ${gid} may write it`, remedy: `chmod g-w ${at}` }
  return undefined
}

const isPrivateGroup = (gid: number, user: number): boolean => gid === user && gid === process.getegid?.()

/** In a user namespace without root, as sandboxes make it, the system's own files have no owner: it may be root itself. */
function isUnmapped(uid: number): boolean {
  if (uid !== OVERFLOW_UID) return false
  try {
    return !/^\s*0\s+0\s+4294967295\s*$/.test(readFileSync("/proc/self/uid_map", "utf8"))
  } catch {
    return false
  }
}

function hidden(at: string, error: Error): Stranger {
  const why = `it can't be looked at (${(error as { code?: string }).code ?? error.name})`
  return { at, by: "unknown", why, remedy: "let this user look at it" }
}

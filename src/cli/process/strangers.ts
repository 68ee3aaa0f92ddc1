/**
 * Which other user could have written a file. A path is this user's own under two conditions:
 *
 * - This user or root owns it, and every directory and link on the way to it.
 * - No other user may write any of these.
 *
 * ssh asks the same of its keys. Two things are allowed: a directory with the sticky bit on the way, where nobody can
 * replace the files of others, and write permission of the user's private group (private-group.ts).
 *
 * Not promised: anything about access control lists, or about systems whose files have no owners (Windows).
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, Stats } from "node:fs"
import { dirname, join, resolve } from "node:path"
import process from "node:process"
import { isPrivate } from "./private-group.ts"
import { quoted } from "./quoted.ts"

/** Another user who could have written a path. */
export interface PathStranger {
  /** The path itself, or the directory or link on the way to it, that the other user can change. */
  readonly at: string
  /** Whether the other user owns it, or has permission to write it. */
  readonly by: "owner" | "permission"
  /** For a message, such as `uid 1000 owns it`. */
  readonly why: string
  /** A line for a shell that takes the right from the other user. */
  readonly remedy: string
}

/** What a look at a path tells. If it is there without a stranger no other user can replace it. */
export interface PathLook {
  readonly isThere: boolean
  /** The first on the way to it, also where the path itself is missing. */
  readonly stranger: PathStranger | undefined
}

/** As many links as Linux follows. */
const MOST_LINKS = 40
const STICKY = 0o1000
/** The owner that the kernel shows for one that has no number in this user namespace. */
const OVERFLOW_UID = 65_534

/** Looks at a path and all that is on the way to it. `only`: by which right. Throws the file system's errors. */
export function lookAt(path: string, only?: PathStranger["by"]): PathLook {
  if (process.geteuid === undefined) return { isThere: existsSync(path), stranger: undefined }
  let isThere = true
  let stranger: PathStranger | undefined
  for (const { at, found, isLast } of wayTo(resolve(path))) {
    isThere = found !== undefined
    if (stranger !== undefined || !(found instanceof Stats)) continue
    const judged = judge(at, found, isLast)
    if (only === undefined || judged?.by === only) stranger = judged
  }
  return { isThere, stranger }
}

/**
 * Makes a directory that only this user can read, if it is missing. Returns the stranger who could have written it, if
 * any. Throws the file system's errors.
 */
export function makePrivate(directory: string): PathStranger | undefined {
  const { isThere, stranger } = lookAt(directory)
  if (isThere || stranger !== undefined) return stranger
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return lookAt(directory).stranger // below a directory with the sticky bit another may have been faster
}

interface PathStep {
  readonly at: string
  /** Undefined where nothing is there. */
  readonly found: Stats | "hidden" | undefined
  readonly isLast: boolean
}

/**
 * All names on the way to an absolute path, from the root on, also those on the way of its links, as the kernel follows
 * them.
 */
function* wayTo(path: string): Generator<PathStep> {
  let at = "/"
  let links = 0
  const rest = path.split("/").filter((name) => name !== "")
  yield { at, found: look(at, rest.length === 0), isLast: rest.length === 0 }
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const next = name === ".." ? dirname(at) : join(at, name)
    const isLast = rest.length === 0
    const found = links > MOST_LINKS ? undefined : below(look(next, isLast), isLast) // no file is reached by so many
    yield { at: next, found, isLast: isLast && !isLink(found) }
    if (found === undefined) return
    if (!isLink(found)) at = next
    else {
      links += 1
      const target = readlinkSync(next)
      if (target.startsWith("/")) at = "/"
      rest.unshift(...target.split("/").filter((part) => part !== "" && part !== "."))
    }
  }
}

const isLink = (found: PathStep["found"]): boolean => found instanceof Stats && found.isSymbolicLink()

/** A file on the way, such as /dev/null, has nothing below it. So it doesn't matter who may write it. */
const below = (found: PathStep["found"], isLast: boolean): PathStep["found"] =>
  isLast || !(found instanceof Stats) || found.isDirectory() || found.isSymbolicLink() ? found : undefined

/**
 * Looks at one path. One that Deno doesn't permit to look at counts as missing at the end of the way, and is passed
 * over before.
 */
function look(path: string, isLast: boolean): PathStep["found"] {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    const { code, name } = error as { code?: unknown; name?: unknown }
    if (code === "ENOTDIR") return undefined
    if (name === "NotCapable") return isLast ? undefined : "hidden"
    throw error
  }
}

function judge(at: string, found: Stats, isLast: boolean): PathStranger | undefined {
  const { uid, gid, mode } = found
  const remedy = "allow that"
  const user = asked(process.geteuid)
  if (uid !== 0 && user === undefined) return { at, by: "owner", why: untold("uid"), remedy }
  if (uid !== 0 && uid !== user && !isRootUnmapped(at, uid))
    return { at, by: "owner", why: `uid ${uid} owns it`, remedy: `chown ${user} ${quoted(at)}` }
  if (found.isSymbolicLink() || (mode & STICKY && found.isDirectory() && !isLast)) return undefined
  if ((mode & 0o002) !== 0)
    return { at, by: "permission", why: "everybody may write it", remedy: `chmod o-w ${quoted(at)}` }
  if ((mode & 0o020) === 0) return undefined
  if (user === undefined || asked(process.getegid) === undefined)
    return { at, by: "permission", why: untold("gid"), remedy }
  if (!isPrivateGroup(gid, user))
    return { at, by: "permission", why: `group ${gid} may write it`, remedy: `chmod g-w ${quoted(at)}` }
  return undefined
}

/** The remedy as the end of a message. For a file that another user owns there is none: its content is unknown. */
export const orRemedy = ({ by, remedy }: PathStranger): string => (by === "owner" ? "" : `; or ${remedy}`)

/** A user's or group's number of this process; undefined if Deno wasn't allowed to tell. */
function asked(number: (() => number) | undefined): number | undefined {
  try {
    return number?.()
  } catch (error) {
    if ((error as { name?: unknown }).name === "NotCapable") return undefined
    throw error
  }
}

const untold = (number: "uid" | "gid"): string => `Deno tells this user's ${number} only by --allow-sys`

/** Groups that were looked at: the same few come up on the way to each place. */
const ownGroups = new Map<string, boolean>()

/** Whether a group is this user's private group: the one of the user's files, with no other member. */
export function isPrivateGroup(gid: number, user: number | undefined = process.geteuid?.()): boolean {
  if (user === undefined || gid !== process.getegid?.()) return false
  const both = `${gid} ${user}`
  const isOwn = ownGroups.get(both) ?? isPrivate(gid, user)
  ownGroups.set(both, isOwn)
  return isOwn
}

/**
 * Whether root owns it, without a number for root in this user namespace, as in sandboxes. The system's directories
 * have the overflow owner there. So have files of other users, in directories that all may write: those don't count.
 */
function isRootUnmapped(at: string, uid: number): boolean {
  if (uid !== OVERFLOW_UID) return false
  try {
    if ((lstatSync(dirname(at)).mode & STICKY) !== 0) return false
    return !/^\s*\d+\s+0\s/m.test(readFileSync("/proc/self/uid_map", "utf8"))
  } catch {
    return false
  }
}

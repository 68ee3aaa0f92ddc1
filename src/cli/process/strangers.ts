/**
 * Who could have written a file, beside this user and root. A path is this user's own where those two own it and every
 * directory and link on the way to it, and nobody else may write any of these. ssh asks the same of its keys.
 *
 * Two things are no stranger's: a directory with the sticky bit on the way, as nobody can replace what others own
 * there; and write permission of the user's private group (private-group.ts).
 *
 * Not promised: anything about access control lists, or about systems whose files have no owners (Windows).
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, Stats } from "node:fs"
import { dirname, join, resolve } from "node:path"
import process from "node:process"
import { isPrivate } from "./private-group.ts"
import { quoted } from "./quoted.ts"

/** Somebody else who could have written a path. */
export interface PathStranger {
  /** What is the other's: the path itself, or a directory or link on the way to it. */
  readonly at: string
  /** As its owner, or by its permissions. */
  readonly by: "owner" | "permission"
  /** For a message, such as `uid 1000 owns it`. */
  readonly why: string
  /** What takes the right from the other, for a shell. */
  readonly remedy: string
}

/** What a look at a path tells. Where it is there and has no stranger, nobody else can put another in its place. */
export interface PathLook {
  readonly isThere: boolean
  /** The first on the way to it, also where the path itself is missing. */
  readonly stranger: PathStranger | undefined
}

/** As many links as Linux follows. */
const MOST_LINKS = 40
const STICKY = 0o1000
/** What the kernel shows instead of an owner that has no number in this user namespace. */
const OVERFLOW_UID = 65_534

/**
 * Looks at a path and all that is on the way to it, for `only` such strangers or all. Throws what the file system says.
 */
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
 * Makes a directory that only this user can read, where there is none. The stranger who could have written it, if there
 * is one. Throws what the file system says.
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
 * Each name on the way to an absolute path, from the root on, and those that its links lead over: in the order of the
 * kernel.
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

/** A file on the way has nothing below it, whoever may write it: such as /dev/null. */
const below = (found: PathStep["found"], isLast: boolean): PathStep["found"] =>
  isLast || !(found instanceof Stats) || found.isDirectory() || found.isSymbolicLink() ? found : undefined

/**
 * What Deno doesn't permit to look at is passed over on the way, and is not there for this process at the end of it.
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

/**
 * What else a message has to say. What another made is not to be taken over: who can tell what it is, or who has it
 * open?
 */
export const orRemedy = ({ by, remedy }: PathStranger): string => (by === "owner" ? "" : `; or ${remedy}`)

/** A number of this process; undefined where Deno wasn't allowed to tell. */
function asked(number: (() => number) | undefined): number | undefined {
  try {
    return number?.()
  } catch (error) {
    if ((error as { name?: unknown }).name === "NotCapable") return undefined
    throw error
  }
}

const untold = (number: "uid" | "gid"): string => `Deno tells this user's ${number} only by --allow-sys`

/** What was read of groups: the same few are on the way to each place that is looked at. */
const ownGroups = new Map<string, boolean>()

/** Whether a group is the one that this user's files are for, and has no other member. */
export function isPrivateGroup(gid: number, user: number | undefined = process.geteuid?.()): boolean {
  if (user === undefined || gid !== process.getegid?.()) return false
  const both = `${gid} ${user}`
  const isOwn = ownGroups.get(both) ?? isPrivate(gid, user)
  ownGroups.set(both, isOwn)
  return isOwn
}

/**
 * In a user namespace that has no number for root, as sandboxes make it, the system's own directories are nobody's. So
 * is what any other user puts where all may.
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

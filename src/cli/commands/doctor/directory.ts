/** What `leasehold doctor` says of a directory: who may write there, and what file system it is on. */
import { lstatSync, readdirSync, realpathSync, statfsSync, statSync } from "node:fs"
import { join } from "node:path"
import { quoted } from "../../process/quoted.ts"
import { isPrivateGroup, lookAt } from "../../process/strangers.ts"
import type { Finding } from "./finding.ts"

/** The types of statfs(2) that are file systems of other machines (linux/magic.h). */
const NETWORK: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0xff534d42: "CIFS",
  0xfe534d42: "SMB2",
  0x517b: "SMB",
  0x65735546: "FUSE",
  0x01021997: "9P",
  0xc36400: "Ceph",
  0x5346414f: "AFS",
}

/** The part of statfs(2) that is looked at. */
export type Statfs = (path: string) => { readonly type: number }

/** Findings about a directory that is there. */
export function directoryFindings(directory: string, statfs: Statfs = statfsSync): readonly Finding[] {
  return [...looked(() => permissions(directory)), fileSystem(statfs(directory))]
}

/** The findings of `look`, or one that this user may not look there. */
function looked(look: () => readonly Finding[]): readonly Finding[] {
  try {
    return look()
  } catch (error) {
    const found = `this user can't look there (${(error as { code?: string }).code ?? String(error)})`
    return [{ check: "permissions", status: "unknown", found, remedy: "Run doctor as a user who uses that directory" }]
  }
}

/** A finding for each fault of the permissions, or one that there is none. */
function permissions(directory: string): readonly Finding[] {
  const { mode, gid } = statSync(directory)
  const text = `mode ${(mode & 0o7777).toString(8).padStart(3, "0")}`
  const isShared = (mode & 0o020) !== 0 && !isPrivateGroup(gid)
  const wrong = [
    openToAll(directory, mode, text),
    stranger(directory),
    ...(isShared ? sharing(directory, mode, gid) : []),
  ]
  const warnings = wrong.flatMap((each): Finding[] =>
    each ? [{ check: "permissions", status: "warning", ...each }] : [],
  )
  if (warnings.length > 0) return warnings
  return [{ check: "permissions", status: "ok", found: isShared ? `${text}, shared with group ${gid}` : text }]
}

type Wrong = Pick<Finding, "found" | "remedy">

function openToAll(directory: string, mode: number, text: string): Wrong | undefined {
  if ((mode & 0o002) === 0) return undefined
  return {
    found: `${text}: every user of this machine can take, break and delete locks there`,
    remedy: `chmod o-w ${quoted(directory)}`,
  }
}

/** Another user who could write the directory. Those whom its own mode admits are told by `openToAll`. */
function stranger(directory: string): Wrong | undefined {
  const { stranger: found } = lookAt(directory)
  if (found === undefined || (found.by === "permission" && found.at === realpathSync(directory))) return undefined
  const { at, why, remedy } = found
  return { found: `${at}: ${why}, and with it can break, move or replace all locks there`, remedy }
}

/** Faults of a directory that a group shares: files that one member makes must be usable by the others. */
function sharing(directory: string, mode: number, gid: number): readonly (Wrong | undefined)[] {
  const path = quoted(directory)
  const repair = `chgrp -R ${gid} ${path}; chmod -R g+rX ${path}; find ${path} -type d -exec chmod g+ws {} +`
  const withheld = Array.from(withheldFrom(gid, directory))
  const first = withheld[0]
  return [
    (mode & 0o2000) === 0
      ? { found: `no setgid bit: what a member of group ${gid} makes there is for another group`, remedy: repair }
      : undefined,
    (mode & 0o1000) !== 0
      ? { found: "the sticky bit: no member can clear what another left", remedy: `chmod -t ${quoted(directory)}` }
      : undefined,
    first !== undefined
      ? {
          found: `${first}${withheld.length > 1 ? `, and ${withheld.length - 1} more,` : ""} can't be used by group ${gid}: its maker had another umask than 002`,
          remedy: `${repair}; and umask 002 before each leasehold`,
        }
      : undefined,
  ]
}

/** Paths in a directory that a group can't use: directories that it can't write, files that it can't read. */
function* withheldFrom(gid: number, directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) continue // replaced meanwhile
    const needed = found.isDirectory() ? 0o070 : 0o040
    if (found.gid !== gid || (found.mode & needed) !== needed) yield path
    else if (found.isDirectory()) yield* withheldFrom(gid, path)
  }
}

function fileSystem({ type }: ReturnType<Statfs>): Finding {
  const network = NETWORK[type]
  if (network === undefined) return { check: "file system", status: "ok", found: "local" }
  return {
    check: "file system",
    status: "warning",
    found: `${network}: owners on other machines are judged by watching their records for a ttl, and waiters look instead of being woken`,
    remedy: "Use a bucket for locks between machines where that is too slow",
  }
}

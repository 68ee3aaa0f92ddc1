/**
 * Where things lie in the store's directory, and what may be cleared away:
 *
 *     <name>.lock                         for people: the current version of a lease record, by another name (show.ts)
 *     leases/<name>/<16 digits>           one version of a lease record; the highest number is the current one
 *     state/<lock>/<part>/<16 digits>     the same for heads and content
 *     probe/<name>/<16 digits>            scratch objects of a start
 *     store/<name>/<16 digits>            what tells this directory from others (../../identity.ts)
 *     clock/<boot id>                     the offset of the boot clock (time.ts)
 *     proofs/<name>                       what a probe has shown (proof.ts)
 *
 * A version that is a directory is a tombstone: the object was deleted. `.t-<pid>-<id>` is a version being written.
 * The highest number of an object is never removed, or its generations would come again; only names that are never used
 * again lose their directories with their deletion: content is named at random, and so are scratch objects.
 */
import { join } from "node:path"
import process from "node:process"
import { InvalidKeyError } from "../../../api/errors.ts"
import type { Area, Generation, ObjectRef } from "../../port.ts"
import type { Files } from "../disk/files.ts"

/** The directories directly under the store's own. */
export const directories = ["leases", "state", "probe", "store", "clock"] as const

const DIGITS = 16
const onePart = /^[A-Za-z0-9=~_-][A-Za-z0-9=~._-]*$/
const twoParts = /^[A-Za-z0-9=~_-][A-Za-z0-9=~._-]*\/[A-Za-z0-9=~_-][A-Za-z0-9=~._-]*$/
const content = /\/\d+-\d+-/

/** An object, and by what means it is read and written. */
export interface Target {
  readonly files: Files
  /** Of the store object: a part of the names of temporary files. */
  readonly id: string
  readonly root: string
  readonly ref: ObjectRef
}

/** Whether encodeName can have made this name. */
export function isObjectName(area: Area, name: string): boolean {
  return (area === "state" ? twoParts : onePart).test(name)
}

/** The directory of an object. Throws InvalidKeyError for a name that encodeName can't have made. */
export function objectDirectory(root: string, { area, name }: ObjectRef): string {
  if (isObjectName(area, name)) return `${root}/${area}/${name}`
  throw new InvalidKeyError({
    message: `${JSON.stringify(name)} can't name an object of the area ${area}`,
    next: "Encode keys with encodeName; a name in state has two parts with one / between them",
  })
}

/** Where people find the current version of an object, if it is one for them. */
export function shownPath(root: string, { area, name }: ObjectRef): string | undefined {
  return area === "leases" ? `${root}/${name}.lock` : undefined
}

/** The directories to make for an object, outermost first, and no further out than its area. */
export function objectDirectories(root: string, ref: ObjectRef): string[] {
  const parts = ref.name.split("/")
  return parts.map((_, last) => join(root, ref.area, ...parts.slice(0, last + 1)))
}

/**
 * Whether what is acknowledged survives a power cut; a lease that is over is no loss, and a scratch object none at all.
 */
export const isDurable = ({ area }: ObjectRef): boolean => area === "state" || area === "store"

/** Whether a name never comes again after its deletion. */
export function isUsedOnce({ area, name }: ObjectRef): boolean {
  return area === "probe" || (area === "state" && content.test(name))
}

export function versionPath(directory: string, number: number): string {
  return `${directory}/${String(number).padStart(DIGITS, "0")}`
}

/** The number of a version's file, or undefined for any other file. */
export function versionNumber(name: string): number | undefined {
  return name.length === DIGITS && /^\d+$/.test(name) ? Number(name) : undefined
}

/** Numbers are handed out as generations. One that isn't a number, or not ours, equals none: -1. */
export function generationNumber(generation: Generation): number {
  return /^\d{1,16}$/.test(generation) ? Number(generation) : -1
}

export function temporaryPath(directory: string, id: string): string {
  return `${directory}/.t-${process.pid}-${id}`
}

export function isTemporary(name: string): boolean {
  return name.startsWith(".t-")
}

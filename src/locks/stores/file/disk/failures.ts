/**
 * From errors of the operating system to typed ones: which may pass by themselves, which a person has to mend, and how.
 */
import { getSystemErrorName } from "node:util"
import { LockError, StoreMisconfiguredError, StoreUnavailableError } from "../../../api/errors.ts"
import type { Steps } from "./steps.ts"

const permission = "Let the user of this process write there, on a file system that has hard links"
const hardLinks = "Choose a directory on a file system that has hard links"
const path = "Name a directory: a part of this path is a file, a loop of links, or too long a name"
const room = "Make room on that file system, or raise the quota"

/** Errors that a person has to mend, with the advice. */
const misconfigured: Readonly<Record<string, string>> = {
  EACCES: permission,
  EPERM: permission,
  EROFS: "Mount that file system writable, or choose another directory",
  ENOTDIR: path,
  EEXIST: path,
  ELOOP: path,
  ENAMETOOLONG: path,
  ENOTSUP: hardLinks,
  EOPNOTSUPP: hardLinks,
  ENOSYS: hardLinks,
  NotCapable: "Run deno with --allow-read and --allow-write for this directory",
}

/** Errors that may pass by themselves, with the advice. */
const unavailable: Readonly<Record<string, string>> = {
  ENOSPC: room,
  EDQUOT: room,
  EFBIG: "Raise the limit of this process's file sizes (ulimit -f)",
  EMFILE: "Raise the limit of this process's open files (ulimit -n)",
  ENFILE: "Raise the system's limit of open files",
  ENOENT: "Let nothing but leasehold remove files there, then try again",
}

/** The name of an error of the operating system (or of Deno's permissions); undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ("code" in error && typeof error.code === "string") return error.code
  const [, number] = /\(os error (\d+)\)/.exec(error.message) ?? [] // Deno names only the more common ones
  if (number !== undefined) return getSystemErrorName(-Number(number))
  return error.name === "NotCapable" ? error.name : undefined
}

/** The result of the steps, or undefined where a name on their path is missing. */
export function* unlessMissing<A>(steps: () => Steps<A>): Steps<A | undefined> {
  try {
    return yield* steps()
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined
    throw error
  }
}

/** The typed error of a failure while `doing` ("reading leases/x") in `directory`. A typed error stays as it is. */
export function failure(error: unknown, doing: string, directory: string): LockError {
  if (error instanceof LockError) return error
  const status = errnoOf(error)
  const advice = status === undefined ? undefined : misconfigured[status]
  const details = {
    message: `The directory ${directory} failed with ${status ?? String(error)} while ${doing}`,
    cause: error,
    ...(status === undefined ? {} : { status }),
  }
  if (advice !== undefined) return new StoreMisconfiguredError({ ...details, next: advice })
  const next =
    (status === undefined ? undefined : unavailable[status]) ?? "Check that disk and its mount, then try again"
  return new StoreUnavailableError({ ...details, next })
}

/** The directory was there when the store started, and is gone. That must not be read as "the key is free". */
export function vanished(directory: string): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: `The directory ${directory} is gone, or another file system is mounted there now`,
    next: "Bring it back as it was; if it is lost, stop every process that uses it before any of them starts again",
    status: "ENOENT",
  })
}

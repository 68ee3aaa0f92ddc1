/**
 * Which store a command uses, and the store itself. Each kind is loaded at its first use: a lock in a directory needs
 * no client of Cloud Storage.
 */
import { dirname, join, resolve } from "node:path"
import { InvalidConfigError, StoreMisconfiguredError } from "../../locks/api/errors.ts"
import type { LeaseStore } from "../../locks/stores/port.ts"
import { refuseFlag } from "../errors/usage-error.ts"
import type { Io } from "../process/io.ts"
import { lookAt, makePrivate, orRemedy } from "../process/strangers.ts"
import { userFolder } from "../process/user-folder.ts"
import type { FoundConfig } from "./config.ts"

/** A store by name. */
export type StoreName =
  /** `isDefault`: nobody named it; it is the user's own. */
  | { readonly kind: "file"; readonly directory: string; readonly isDefault?: true }
  | { readonly kind: "gs"; readonly bucket: string; readonly prefix: string; readonly userProject?: string }
  | { readonly kind: "memory" }

/** A store, and how it is named. */
export interface NamedStore {
  readonly name: StoreName
  readonly store: LeaseStore
}

/**
 * Makes the store that counts (`storeName`). Nothing is opened before its start. Rejects with:
 *
 * - UsageError if the flag names no store;
 * - InvalidConfigError if another source names none, or if a default place could be another user's;
 * - StoreMisconfiguredError for a directory on Windows.
 *
 * Makes the user's own directory, if that is the store.
 */
export async function storeOf(io: Io, flag: string | undefined, found: FoundConfig): Promise<NamedStore> {
  const make = async (): Promise<NamedStore> => {
    const name = storeName(io, flag, found)
    return { name, store: await makeStore(name, io) }
  }
  const named = await (flag === undefined ? make() : make().catch(refuseFlag))
  checkPlaces(named.name, io)
  return named
}

/** Refuses default places that could be another user's: the directory of locks, and the credentials of a bucket. */
function checkPlaces(name: StoreName, io: Io): void {
  if (name.kind === "gs") checkCredentials(io)
  if (name.kind === "file" && name.isDefault === true) claim(name.directory)
}

/** The store that the flag names, else LEASEHOLD_STORE, else the configuration, else the user's own directory. */
export function storeName(io: Io, flag: string | undefined, { file, config }: FoundConfig): StoreName {
  if (flag !== undefined) return parseStore(flag, { io, base: io.cwd, source: "--store" })
  const variable = io.env["LEASEHOLD_STORE"]
  if (variable) return parseStore(variable, { io, base: io.cwd, source: "LEASEHOLD_STORE" })
  if (config.store !== undefined)
    return parseStore(config.store, { io, base: dirname(file ?? ""), source: `store in ${file}` })
  return { kind: "file", directory: ownDirectory(io), isDefault: true }
}

/** Where a store's name was written. */
interface StoreSource {
  readonly io: Io
  /** What the path of a directory is relative to. */
  readonly base: string
  readonly source: string
}

/** Reads a store's name. Throws InvalidConfigError. */
function parseStore(text: string, written: StoreSource): StoreName {
  if (text === "memory:") return { kind: "memory" }
  if (text.startsWith("file:") && text.length > 5) return { kind: "file", directory: directoryOf(text, written) }
  const [, bucket, prefix = "", query] = /^gs:\/\/([^/?]+)(?:\/([^?]*?))?\/?(?:\?(.*))?$/.exec(text) ?? []
  if (bucket === undefined)
    throw new InvalidConfigError({
      message: `${written.source} is ${JSON.stringify(text)}, which names no store`,
      next: "Use file:DIR, gs://BUCKET, gs://BUCKET/PREFIX or memory:",
    })
  return { kind: "gs", bucket, prefix, ...(query !== undefined && payerIn(query, text, written)) }
}

/**
 * Reads what follows the `?` of a bucket's name. Other settings are refused: they would be lost, or taken for the
 * prefix.
 */
function payerIn(query: string, text: string, { source }: StoreSource): { readonly userProject: string } {
  const [[name, userProject = ""] = [], ...others] = new URLSearchParams(query)
  if (name === "userProject" && userProject !== "" && others.length === 0) return { userProject }
  throw new InvalidConfigError({
    message: `${source} is ${JSON.stringify(text)}, and what follows its ? is not userProject=PROJECT`,
    next: "Write gs://BUCKET/PREFIX, or gs://BUCKET/PREFIX?userProject=PROJECT where requesters pay",
  })
}

/**
 * Reads the path. A `~` is refused: no shell expands it after `file:`, and as a name it would be another directory
 * everywhere.
 */
function directoryOf(text: string, { io, base, source }: StoreSource): string {
  const path = text.slice(5).replace(/^\/\/(?=[/~])/, "")
  const [, user, below = ""] = /^~([^/]*)\/*(.*)$/s.exec(path) ?? []
  if (user === undefined) return resolve(base, path)
  if (user === "" && io.home !== undefined) return join(io.home, below)
  throw new InvalidConfigError({
    message:
      user === ""
        ? `${source} is ${JSON.stringify(text)}, and this user has no home directory`
        : `${source} is ${JSON.stringify(text)}, and only ~ alone or ~/ is known, this user's home directory`,
    next: `Write the whole path, such as file:/home/me/locks, or file:./${path} for a directory of that name`,
  })
}

/** The default directory of a user's locks. Throws InvalidConfigError if the user has no home directory. */
export function ownDirectory(io: Io): string {
  const folder = userFolder(io, "state")
  if (folder === undefined) throw homeless()
  return folder
}

async function makeStore(name: StoreName, { clock, platform }: Io): Promise<LeaseStore> {
  switch (name.kind) {
    case "file": {
      if (platform === "win32") throw windows()
      const { fileStore } = await import("../../locks/stores/file/file-store.ts")
      return fileStore({ directory: name.directory, clock })
    }
    case "gs": {
      const { gcsStore } = await import("../../locks/stores/gcs/mod.ts")
      const { bucket, prefix, userProject } = name
      return gcsStore({ bucket, prefix, userProject, clock })
    }
    case "memory": {
      const { memoryStore } = await import("../../locks/stores/memory-store.ts")
      return memoryStore({ clock })
    }
  }
}

/** Makes the default directory. Throws InvalidConfigError if it could be another user's, as under sudo. */
function claim(directory: string): void {
  const stranger = unlessHidden(() => makePrivate(directory))
  if (stranger === undefined) return
  throw new InvalidConfigError({
    message: `The directory ${directory}, where this user's locks would be, could be another user's (${stranger.at}: ${stranger.why})`,
    next: `Name a store: --store file:DIR, LEASEHOLD_STORE, or store in the configuration; or set HOME (sudo -H)${orRemedy(stranger)}`,
  })
}

/**
 * Refuses credentials that the client of Cloud Storage finds by itself, if they could be another user's: they say which
 * file is read next, and where it is sent. Throws InvalidConfigError.
 */
function checkCredentials({ env }: Io): void {
  const named = ["GOOGLE_APPLICATION_CREDENTIALS", "google_application_credentials", "CLOUDSDK_CONFIG"]
  const home = env["HOME"]
  if (!home || env["STORAGE_EMULATOR_HOST"] || named.some((name) => env[name])) return
  const file = join(home, ".config", "gcloud", "application_default_credentials.json")
  const { isThere, stranger } = unlessHidden(() => lookAt(file)) ?? {}
  if (isThere !== true || stranger === undefined) return
  throw new InvalidConfigError({
    message: `The credentials ${file}, which nobody named, could be another user's (${stranger.at}: ${stranger.why})`,
    next: `Name them by GOOGLE_APPLICATION_CREDENTIALS if you trust them${orRemedy(stranger)}`,
  })
}

/** The result of `look`; undefined if this user can't look there: the store's start or its client says why. */
function unlessHidden<A>(look: () => A): A | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}

function homeless(): InvalidConfigError {
  return new InvalidConfigError({
    message: "This user has no home directory to keep locks in",
    next: "Name a store: --store file:DIR, LEASEHOLD_STORE, or store in the configuration; or set HOME",
  })
}

function windows(): StoreMisconfiguredError {
  return new StoreMisconfiguredError({
    message: "Directories can't keep leases on Windows",
    next: "Name a bucket: --store gs://BUCKET, LEASEHOLD_STORE, or store in the configuration",
  })
}

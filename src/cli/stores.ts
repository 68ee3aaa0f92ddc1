/**
 * Which store a command uses, and the store itself. Each kind is loaded only when it is used: whoever locks in a directory
 * doesn't pay for a client of Cloud Storage.
 */
import { dirname, join, resolve } from "node:path"
import { InvalidConfigError, StoreMisconfiguredError } from "../locks/errors.ts"
import type { LeaseStore } from "../locks/store.ts"
import type { FoundConfig } from "./config.ts"
import type { Io } from "./io.ts"

/** A store by name. */
export type StoreName =
  | { readonly kind: "file"; readonly directory: string }
  | { readonly kind: "gs"; readonly bucket: string; readonly prefix: string }
  | { readonly kind: "memory" }

/** The store that the flag names, else LEASEHOLD_STORE, else the configuration, else the user's own directory. */
export function storeName(io: Io, flag: string | undefined, { file, config }: FoundConfig): StoreName {
  if (flag !== undefined) return parseStore(flag, io.cwd, "--store")
  const variable = io.env["LEASEHOLD_STORE"]
  if (variable) return parseStore(variable, io.cwd, "LEASEHOLD_STORE")
  if (config.store !== undefined) return parseStore(config.store, dirname(file ?? ""), `store in ${file}`)
  if (io.platform === "win32") throw windows()
  return { kind: "file", directory: ownDirectory(io) }
}

/** Reads a store's name; `base` is what the path of a directory is relative to. Throws InvalidConfigError. */
export function parseStore(text: string, base: string, source: string): StoreName {
  if (text === "memory:") return { kind: "memory" }
  if (text.startsWith("file:") && text.length > 5) return { kind: "file", directory: resolve(base, pathOf(text)) }
  const [, bucket, prefix = ""] = /^gs:\/\/([^/]+)(?:\/(.*?))?\/?$/.exec(text) ?? []
  if (bucket !== undefined) return { kind: "gs", bucket, prefix }
  throw new InvalidConfigError({
    message: `${source} is ${JSON.stringify(text)}, which names no store`,
    next: "Use file:DIR, gs://BUCKET, gs://BUCKET/PREFIX or memory:",
  })
}

const pathOf = (text: string): string => text.slice(5).replace(/^\/\/(?=\/)/, "")

/** Where a user's own locks are, without being told. Throws InvalidConfigError. */
export function ownDirectory({ env, home, platform }: Io): string {
  if (env["XDG_STATE_HOME"]) return join(env["XDG_STATE_HOME"], "leasehold")
  if (home === undefined) throw homeless()
  return platform === "darwin"
    ? join(home, "Library", "Application Support", "leasehold")
    : join(home, ".local", "state", "leasehold")
}

/** Makes the store. Nothing is opened before its start. */
export async function makeStore(name: StoreName, { clock }: Io): Promise<LeaseStore> {
  switch (name.kind) {
    case "file": {
      const { fileStore } = await import("../locks/stores/file/store.ts")
      return fileStore({ directory: name.directory, clock })
    }
    case "gs": {
      const { gcsStore } = await import("../locks/stores/gcs/mod.ts")
      return gcsStore({ bucket: name.bucket, prefix: name.prefix, clock })
    }
    case "memory": {
      const { memoryStore } = await import("../locks/stores/memory.ts")
      return memoryStore({ clock })
    }
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

/**
 * Finds or makes the GCS server for tests, fake-gcs-server at one fixed version: on the PATH, in the project's own
 * cache folder, as a container where an engine answers, and else builds it into that folder with Go (about a minute,
 * once).
 *
 * Not promised: the version of one that is on the PATH. The store's own probe refuses one that ignores preconditions.
 */
import { spawnSync } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { homedir } from "node:os"
import { delimiter, join } from "node:path"
import process from "node:process"

const version = "1.56.1"
const image = `fsouza/fake-gcs-server:${version}`
const module = `github.com/fsouza/fake-gcs-server@v${version}`

/** A command that starts the server, with the server's own arguments to follow; `host`: what it has to listen on. */
export interface GcsCommand {
  readonly file: string
  readonly args: (port: number) => readonly string[]
  readonly host: string
}

/** Throws with what to install where none can be had. */
export function findGcsServer(): GcsCommand {
  const cached = join(cacheFolder(), "fake-gcs-server")
  const found = onPath("fake-gcs-server") ?? (isProgram(cached) ? cached : undefined)
  if (found !== undefined) return local(found)
  if (runs("docker", ["info"])) return container()
  build()
  return local(cached)
}

function cacheFolder(): string {
  const caches = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache")
  return join(caches, "leasehold", `fake-gcs-server-${version}`)
}

function local(file: string): GcsCommand {
  return { file, args: () => [], host: "127.0.0.1" }
}

function container(): GcsCommand {
  const publish = (port: number): string => `127.0.0.1:${port}:${port}`
  return { file: "docker", args: (port) => ["run", "--rm", "--publish", publish(port), image], host: "0.0.0.0" }
}

function build(): void {
  console.error(`building ${module} into ${cacheFolder()} (once, about a minute)`)
  const env = { ...process.env, GOBIN: cacheFolder() }
  const { error, status } = spawnSync("go", ["install", module], { env, stdio: ["ignore", "ignore", "inherit"] })
  if (status === 0) return
  throw new Error(
    `no GCS server for tests: ${error?.message ?? `go install ended with ${status}`}. Install Go 1.25 or later, or a ` +
      "container engine, or set STORAGE_EMULATOR_HOST to a server that runs, or LEASEHOLD_TEST_BUCKET to a bucket.",
  )
}

function onPath(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "")
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function runs(file: string, args: readonly string[]): boolean {
  return spawnSync(file, args, { stdio: "ignore", timeout: 10_000 }).status === 0
}

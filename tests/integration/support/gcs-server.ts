/**
 * The real GCS server for tests: the one at STORAGE_EMULATOR_HOST, or fake-gcs-server started on a free port, with its
 * objects in memory unless they are to be in files. As a program it prints the server's address and stays until it is
 * ended; its arguments are the buckets to make (default: `leasehold`):
 *
 *     node tests/integration/support/gcs-server.ts my-bucket
 */
import { type ChildProcess, spawn } from "node:child_process"
import { rmSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { liveClock } from "../../../src/runtime/time/clock.ts"
import { findGcsServer } from "./gcs-binary.ts"

const READY_WITHIN_MS = 20_000
const ASK_EVERY_MS = 20
/** Another process may take the free port first. */
const PORTS_TO_TRY = 3

/** A server that answers. */
export interface GcsServer extends AsyncDisposable {
  /** Its address, as `endpoint` and STORAGE_EMULATOR_HOST take it. */
  readonly endpoint: string
  /** Makes a bucket; one that is there already is left as it is. */
  createBucket(name: string): Promise<void>
}

/** How it keeps its objects. */
export interface GcsServerOptions {
  /**
   * In a folder of its own, which goes with it. In memory a write compares its name with that of each object of the
   * bucket: of 7,500 objects the server answers a fifth of the requests a second that it answers of few. Default: in
   * memory.
   */
  readonly inFiles?: boolean
}

/** Rejects with what to install where none can be had. */
export async function startGcsServer({ inFiles = false }: GcsServerOptions = {}): Promise<GcsServer> {
  const running = process.env["STORAGE_EMULATOR_HOST"]
  if (running !== undefined && running !== "") return serverAt(running.replace(/\/+$/, ""))
  for (let attempt = 1; ; attempt++) {
    try {
      return await launch(await freePort(), inFiles ? await filesBackend() : inMemory)
    } catch (error) {
      if (attempt === PORTS_TO_TRY) throw error
    }
  }
}

function serverAt(endpoint: string, stop: () => Promise<void> = async () => {}): GcsServer {
  return { endpoint, createBucket: (name) => createBucket(endpoint, name), [Symbol.asyncDispose]: stop }
}

/** Where a server keeps its objects. */
interface Backend {
  readonly flags: readonly string[]
  readonly remove: () => void
}

const inMemory: Backend = { flags: ["-backend", "memory"], remove: () => {} }

async function filesBackend(): Promise<Backend> {
  const folder = await mkdtemp(join(tmpdir(), "leasehold-gcs-"))
  return {
    flags: ["-backend", "filesystem", "-filesystem-root", folder],
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}

async function launch(port: number, backend: Backend): Promise<GcsServer> {
  const { file, args, host } = findGcsServer()
  const address = `127.0.0.1:${port}`
  const flags = ["-scheme", "http", ...backend.flags, "-host", host, "-port", String(port)]
  const urls = ["-public-host", address, "-external-url", `http://${address}`, "-log-level", "error"]
  const child = spawn(file, [...args(port), ...flags, ...urls], { stdio: ["ignore", "ignore", "inherit"] })
  const ended = new Promise<void>((settle) => void child.once("exit", () => settle()).once("error", () => settle()))
  const onExit = (): void => {
    kill(child, "SIGKILL")
    backend.remove()
  }
  process.on("exit", onExit)
  const stop = async (): Promise<void> => {
    process.off("exit", onExit)
    kill(child, "SIGTERM")
    await ended
    backend.remove()
  }
  try {
    await ready(`http://${address}`, child)
    return serverAt(`http://${address}`, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

/** By id: Deno's own `child.kill` reports a wrong exit. */
function kill(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(child.pid, signal)
}

async function ready(endpoint: string, child: ChildProcess): Promise<void> {
  const due = liveClock.read().mono + READY_WITHIN_MS
  while (liveClock.read().mono < due) {
    if (child.exitCode !== null) throw new Error(`the GCS server ended with ${child.exitCode} before it answered`)
    const status = await fetch(`${endpoint}/_internal/healthcheck`).then(
      async (response) => (await response.arrayBuffer(), response.status),
      () => 0,
    )
    if (status === 200) return
    await new Promise<void>((settle) => void liveClock.after(ASK_EVERY_MS, settle))
  }
  throw new Error(`the GCS server didn't answer within ${READY_WITHIN_MS} ms`)
}

async function createBucket(endpoint: string, name: string): Promise<void> {
  const response = await fetch(`${endpoint}/storage/v1/b?project=test`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name }),
  })
  const text = await response.text()
  if (!response.ok && response.status !== 409) throw new Error(`no bucket ${name}: ${response.status} ${text}`)
}

function freePort(): Promise<number> {
  return new Promise((settle, fail) => {
    const server = createServer().once("error", fail)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => settle(port))
    })
  })
}

if (import.meta.main) {
  const server = await startGcsServer()
  for (const bucket of process.argv.length > 2 ? process.argv.slice(2) : ["leasehold"])
    await server.createBucket(bucket)
  console.log(server.endpoint)
  const stay = liveClock.after(Infinity, () => {})
  const end = (): void => {
    stay.cancel()
    void server[Symbol.asyncDispose]().then(() => process.exit(0))
  }
  process.once("SIGTERM", end).once("SIGINT", end)
}

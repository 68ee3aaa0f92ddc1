/**
 * A process with a lock: `lock-worker.ts '<settings as JSON>'`. It prints a line of JSON for each event of the lock,
 * for each call that settled and for each look at the lease, and does what lines on its standard input say. It ends
 * with its parent.
 */
import { spawn } from "node:child_process"
import { appendFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import process from "node:process"
import { createInterface } from "node:readline"
import { Worker } from "node:worker_threads"
import type { AcquireOptions, Lease, Lock } from "../../src/locks/api/lock.ts"
import type { LockOptions } from "../../src/locks/engine/options.ts"
import { nameGroups } from "../../src/locks/lock/name-groups.ts"
import { FileLock } from "../../src/locks/stores/file/mod.ts"
import { GcsLock } from "../../src/locks/stores/gcs/mod.ts"
import { onShutdown } from "../../src/runtime/machine/signals.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import { writerUrl } from "./support/writer.ts"

/** Where the lock is, and what the process does about it by itself. */
export interface LockWorkerSettings {
  readonly key: string
  readonly place:
    | { readonly directory: string }
    | { readonly bucket: string; readonly prefix: string; readonly endpoint?: string }
  readonly options?: LockOptions
  /** Acquires, `release`s or keeps the lease, and then has nothing left to do. It reads no lines. */
  readonly alone?: "release" | "keep"
}

/** What a line on standard input asks for. */
export type LockCommand =
  /** Acquires; then, with a log, acts again and again for as long as it holds the lease, into that file. */
  | { readonly do: "acquire"; readonly options?: AcquireOptions; readonly log?: string }
  | { readonly do: "release" }
  /** Releases whenever it is asked to. */
  | { readonly do: "yield" }
  /** Releases when the process is asked to end. */
  | { readonly do: "releaseOnSignal" }
  /** Ends at once, with this code. */
  | { readonly do: "exit"; readonly code: number }
  /** Writes so many bytes, in another thread or in the pool of this process. */
  | { readonly do: "write"; readonly by: "thread" | "pool"; readonly file: string; readonly bytes: number }
  /** Starts a process in a group of its own, and names that group. */
  | { readonly do: "employ" }

/** One act: when the process looked whether it may, and under which token it did. */
export interface LockAct {
  readonly at: number
  readonly token: number
}

const print = (line: object): void => console.log(JSON.stringify(line))

const { key, place, options = {}, alone } = JSON.parse(process.argv[2] ?? "{}") as LockWorkerSettings
const lock: Lock =
  "directory" in place ? new FileLock(key, { ...options, ...place }) : new GcsLock(key, { ...options, ...place })
let lease: Lease | undefined

lock.events$.subscribe(({ type, at, ...rest }) => print({ event: type, at, ...rest }))

async function acquire(how?: AcquireOptions, log?: string): Promise<void> {
  try {
    lease = await lock.acquire(how)
    print({ event: "acquire", how: lease.how, token: lease.token })
    if (log !== undefined) act(log, lease)
  } catch (error) {
    print({ event: "acquire", error: (error as Error).name })
  }
}

async function release(): Promise<void> {
  print({ event: "release", result: await lock.release() })
}

/** It looks at the clock first: stopped between its look at the lease and the act, it will have been right to act. */
function act(log: string, held: Lease, acts = 0): void {
  const at = liveClock.read().wall
  if (!held.isHeld()) return print({ event: "stopped", aborted: held.signal.aborted, acts })
  const entry: LockAct = { at, token: held.token }
  appendFileSync(log, `${JSON.stringify(entry)}\n`)
  if (acts === 0) print({ event: "working" })
  liveClock.after(5, () => act(log, held, acts + 1))
}

/** Not seen to its end. */
function write(by: "thread" | "pool", file: string, bytes: number): void {
  if (by === "pool") return void writeFile(file, new Uint8Array(bytes))
  new Worker(writerUrl(file, bytes))
}

async function employ(): Promise<void> {
  const { pid = 0 } = spawn("sleep", ["60"], { detached: true, stdio: "ignore" })
  await nameGroups(lease!, [pid])
  print({ event: "employed", pid })
}

function obey(command: LockCommand): void {
  switch (command.do) {
    case "acquire":
      return void acquire(command.options, command.log)
    case "release":
      return void release()
    case "yield":
      lock.onReleaseRequested(release)
      return
    case "releaseOnSignal":
      onShutdown(release)
      return
    case "exit":
      return process.exit(command.code)
    case "write":
      return write(command.by, command.file, command.bytes)
    case "employ":
      return void employ()
  }
}

if (alone === undefined) {
  const lines = createInterface({ input: process.stdin })
  lines.on("line", (line) => obey(JSON.parse(line) as LockCommand))
  lines.on("close", () => process.exit())
  print({ event: "ready" })
} else {
  await acquire()
  if (alone === "release") await release()
}

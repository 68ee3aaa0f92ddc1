/**
 * A process that wants one key again and again: `turn-worker.ts '<settings as JSON>'`. It prints a line for each turn
 * that it had. It ends with its parent, or once it is told to.
 */
import process from "node:process"
import { createInterface } from "node:readline"
import type { Lock } from "../../src/locks/api/lock.ts"
import { StoreLock } from "../../src/locks/lock/store-lock.ts"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import { GcsLock } from "../../src/locks/stores/gcs/mod.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import { storeWith } from "../support/lock-world.ts"

/** Where the key is, and what is done with it. Times in milliseconds. */
export interface TurnWorkerSettings {
  readonly key: string
  readonly place:
    | { readonly directory: string; /** Whether the file system tells of changes. */ readonly watched: boolean }
    | { readonly bucket: string; readonly prefix: string; readonly endpoint?: string }
  readonly hold: number
}

const { key, place, hold } = JSON.parse(process.argv[2] ?? "{}") as TurnWorkerSettings

function lockOf(): Lock {
  if ("bucket" in place) return new GcsLock(key, place)
  const store = fileStore({ directory: place.directory })
  return new StoreLock(key, { store: place.watched ? store : storeWith(store, {}) })
}

const sleep = (ms: number): Promise<void> => new Promise((done) => void liveClock.after(ms, done))
const lock = lockOf()
let isOver = false
createInterface({ input: process.stdin }).on("close", () => (isOver = true))
while (!isOver) {
  const lease = await lock.acquire({ contention: "retry", timeout: "10 min" })
  console.log(lease.token)
  await sleep(hold)
  await lease.release()
}
process.exit()

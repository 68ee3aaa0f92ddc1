/**
 * A process that increments counters in a directory by compare-and-swap until it is killed, and writes each step to its
 * own log before and after: `hammer-worker.ts <directory> <log>`. Mostly a lease record, now and then a synced object.
 */
import { appendFileSync, openSync } from "node:fs"
import process from "node:process"
import { setImmediate } from "node:timers/promises"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import { ABSENT, type ObjectRef, type ObjectStore } from "../../src/locks/stores/port.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import type { Entry } from "./support/history.ts"

const [directory = "", logFile = ""] = process.argv.slice(2)
const lease: ObjectRef = { area: "leases", name: "counter" }
const state: ObjectRef = { area: "state", name: "counter/head" }
const log = openSync(logFile, "a")
const options = { deadline: 10_000 }

const note = (ref: ObjectRef, entry: Entry): void => appendFileSync(log, `${ref.area} ${JSON.stringify(entry)}\n`)

async function increment(store: ObjectStore, ref: ObjectRef): Promise<void> {
  const read = await store.read(ref, { ...options, limit: 1000 })
  if (read.kind !== "found" && read.kind !== "absent") throw new Error(`read: ${read.kind}`, { cause: read })
  const generation = read.kind === "found" ? read.generation : ABSENT
  const previous = read.kind === "found" ? new TextDecoder().decode(read.body) : "-"
  note(ref, { type: "read", generation: Number(generation), op: previous })
  const op = liveClock.id()
  note(ref, { type: "try", op, base: Number(generation), previous })
  const put = await store.put(ref, generation, new TextEncoder().encode(op), options)
  if (put.kind === "applied") note(ref, { type: "applied", op, generation: Number(put.generation) })
  else note(ref, { type: put.kind, op })
  if (put.kind === "unknown" && !put.error.retryable) throw put.error
}

let orphaned = false
process.stdin.on("close", () => (orphaned = true)).resume()

const store = fileStore({ directory })
await store.start(options)
while (!orphaned) {
  for (let turn = 0; turn < 50; turn++) await increment(store, lease)
  await increment(store, state)
  await setImmediate()
}

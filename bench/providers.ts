/**
 * What a lock in memory costs: a section that nobody contends for against the two libraries that people take for it, a
 * thousand waiters on one key against the least that a queue for a key can be, each in processes of its own, by turns;
 * and the room that keys take.
 */
import { spawnSync } from "node:child_process"
import process from "node:process"
import { setImmediate } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { HeldLock, LockProvider } from "../src/locks/api/provider.ts"
import { memoryLockProvider } from "../src/locks/providers/memory-provider.ts"
import type { Measure, Party } from "./providers/party.ts"
import { detail, heapUsed, inTurns, ratio } from "./ratio.ts"

const ROUNDS = 5
const KEYS = 100_000
const program = fileURLToPath(new URL("./providers/party.ts", import.meta.url))

/** Prints the figures. */
export async function benchProviders(): Promise<void> {
  const alone = await inTurns(ROUNDS, {
    provider: async () => costOf("alone", "provider"),
    asyncLock: async () => costOf("alone", "async-lock"),
    asyncMutex: async () => costOf("alone", "async-mutex"),
  })
  detail("a section that nobody contends for", alone.provider, "µs of CPU")
  detail("of async-lock", alone.asyncLock, "µs of CPU")
  detail("of async-mutex", alone.asyncMutex, "µs of CPU")
  ratio("uncontended-sections/async-lock", alone.asyncLock / alone.provider, ">=", 0.7)
  ratio("uncontended-sections/async-mutex", alone.asyncMutex / alone.provider, ">=", 3)
  const crowd = await inTurns(ROUNDS, {
    provider: async () => costOf("crowd", "provider"),
    queue: async () => costOf("crowd", "queue"),
  })
  detail("one of a thousand waiters", crowd.provider, "µs of CPU")
  detail("in a bare queue", crowd.queue, "µs of CPU")
  ratio("thousand-waiters/bare-queue", crowd.queue / crowd.provider, ">=", 0.5)
  await room()
}

function costOf(measure: Measure, party: Party): number {
  const { status, stdout } = spawnSync(process.execPath, [...process.execArgv, program, measure, party], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  })
  if (status !== 0) throw new Error(`${measure} of ${party} ended with ${status}`)
  return Number(stdout)
}

/** How much the heap grows for each of many keys that are held, and what is left of it once they are released. */
async function room(): Promise<void> {
  const provider = memoryLockProvider()
  const keys = Array.from({ length: KEYS }, (_, i) => `orders/${i}`)
  const before = heapUsed()
  const holding = await heldAndReleased(provider, keys)
  await setImmediate() // what a turn of the event loop still holds is nobody's
  const after = heapUsed()
  ratio("bytes-a-held-key", (holding - before) / KEYS, "<=", 200)
  // To the byte: what a collection leaves elsewhere is a fraction of one for each key.
  ratio("bytes-a-released-key", Math.max(0, Math.round((after - before) / KEYS)), "<=", 0)
}

/** The heap in between. */
async function heldAndReleased(provider: LockProvider, keys: readonly string[]): Promise<number> {
  const held: HeldLock[] = Array.from({ length: keys.length })
  for (const [i, key] of keys.entries()) held[i] = await provider.acquire(key)
  const holding = heapUsed()
  for (const lock of held) await lock.release()
  return holding
}

/**
 * What a lock in memory costs: a section that nobody contends for against the two libraries that people take for it, a
 * thousand waiters on one key against the least that a queue for a key can be, and the room that keys take.
 */
import AsyncLock from "async-lock"
import { Mutex } from "async-mutex"
import type { HeldLock } from "../src/locks/provider.ts"
import { memoryLockProvider } from "../src/locks/providers/memory.ts"
import { cpuOf, detail, inTurns, ratio } from "./ratio.ts"

const ROUNDS = 15
const SECTIONS = 20_000
const CROWDS = 10
const WAITERS = 1000
const KEYS = 100_000

/** Runs a section alone on a key. */
type RunAlone = (key: string, section: () => Promise<void>) => Promise<unknown>

/** Prints the figures. */
export async function benchProviders(): Promise<void> {
  const alone = await inTurns(ROUNDS, {
    provider: () => inSequence(ofProvider()),
    asyncLock: () => inSequence(ofAsyncLock()),
    asyncMutex: () => inSequence(ofAsyncMutex()),
  })
  detail("a section that nobody contends for", alone.provider, "µs of CPU")
  detail("of async-lock", alone.asyncLock, "µs of CPU")
  detail("of async-mutex", alone.asyncMutex, "µs of CPU")
  ratio("uncontended-sections/async-lock", alone.asyncLock / alone.provider, ">=", 0.7)
  ratio("uncontended-sections/async-mutex", alone.asyncMutex / alone.provider, ">=", 3)
  const crowd = await inTurns(ROUNDS, {
    provider: () => crowded(ofProvider()),
    queue: () => crowded(ofBareQueue()),
  })
  detail("one of a thousand waiters", crowd.provider, "µs of CPU")
  detail("in a bare queue", crowd.queue, "µs of CPU")
  ratio("thousand-waiters/bare-queue", crowd.queue / crowd.provider, ">=", 0.5)
  await room()
}

const work = async (): Promise<void> => {}

async function inSequence(run: RunAlone): Promise<number> {
  const keys = Array.from({ length: 100 }, (_, i) => `orders/${i}`)
  const cpu = await cpuOf(async () => {
    for (let i = 0; i < SECTIONS; i++) await run(keys[i % keys.length]!, work)
  })
  return cpu / SECTIONS
}

async function crowded(run: RunAlone): Promise<number> {
  const cpu = await cpuOf(async () => {
    for (let i = 0; i < CROWDS; i++) await Promise.all(Array.from({ length: WAITERS }, () => run("orders/7", work)))
  })
  return cpu / CROWDS / WAITERS
}

function ofProvider(): RunAlone {
  const provider = memoryLockProvider()
  return (key, section) => provider.withLock(key, section)
}

function ofAsyncLock(): RunAlone {
  const lock = new AsyncLock()
  return (key, section) => lock.acquire(key, section)
}

/** Of one key: it knows of no others. */
function ofAsyncMutex(): RunAlone {
  const mutex = new Mutex()
  return (_key, section) => mutex.runExclusive(section)
}

/** Without a budget, a signal, an order for several keys, or anybody who notices a call from inside. */
function ofBareQueue(): RunAlone {
  const queues = new Map<string, (() => void)[]>()
  return async (key, section) => {
    const queue = queues.get(key)
    if (queue === undefined) queues.set(key, [])
    else await new Promise<void>((resolve) => queue.push(resolve))
    try {
      await section()
    } finally {
      const next = queues.get(key)?.shift()
      if (next === undefined) queues.delete(key)
      else next()
    }
  }
}

/** How much the heap grows for each of many keys that are held, and what is left of it once they are released. */
async function room(): Promise<void> {
  const provider = memoryLockProvider()
  const keys = Array.from({ length: KEYS }, (_, i) => `orders/${i}`)
  const held: HeldLock[] = Array.from({ length: KEYS })
  const before = heapUsed()
  for (const [i, key] of keys.entries()) held[i] = await provider.acquire(key)
  const holding = heapUsed()
  for (const lock of held) await lock.release()
  held.length = 0
  const after = heapUsed()
  ratio("bytes-a-held-key", (holding - before) / KEYS, "<=", 200)
  // A map that has been large keeps its table until it grows again, and a collection is never quite done.
  ratio("bytes-a-released-key", Math.max(0, Math.round((after - before) / KEYS)), "<=", 0)
}

function heapUsed(): number {
  const { gc } = globalThis as { gc?: () => void }
  for (let i = 0; i < 4; i++) gc?.()
  return process.memoryUsage().heapUsed
}

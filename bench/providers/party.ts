/**
 * One party whose sections are measured, in a process of its own: `party.ts alone|crowd <name>` prints microseconds of
 * CPU for a section that nobody contends for, or for one of a thousand that want a key at once. What runs before it in
 * a process decides how the compiler takes each of them: beside the others ours costs half as much again, and theirs
 * next to nothing more.
 */
import process from "node:process"
import AsyncLock from "async-lock"
import { Mutex } from "async-mutex"
import { memoryLockProvider } from "../../src/locks/providers/memory-provider.ts"
import { cpuOf, median } from "../ratio.ts"

const TURNS = 7
/** The first turns are of code that is not compiled yet. */
const COLD = 2
const SECTIONS = 100_000
const CROWDS = 50
const WAITERS = 1000

/** Runs a section alone on a key. */
type RunAlone = (key: string, section: () => Promise<void>) => Promise<unknown>

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

/** Whose sections. */
export type Party = "provider" | "async-lock" | "async-mutex" | "queue"

const parties: Readonly<Record<Party, () => RunAlone>> = {
  provider: ofProvider,
  "async-lock": ofAsyncLock,
  "async-mutex": ofAsyncMutex,
  queue: ofBareQueue,
}

/** What is measured. */
export type Measure = "alone" | "crowd"

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

const measures: Readonly<Record<Measure, (run: RunAlone) => Promise<number>>> = { alone: inSequence, crowd: crowded }

const [measure, party] = process.argv.slice(2) as [Measure, Party]
const run = parties[party]()
const costs: number[] = []
for (let turn = 0; turn < TURNS; turn++) costs.push(await measures[measure](run))
console.log(median(costs.slice(COLD)))

/**
 * Locks on a directory between processes, against a blocking flock(2) (Python's `fcntl.flock`, as Node has no such
 * call) and against proper-lockfile with retries every 50 ms: how long a released lock takes to reach who waits for it,
 * how long that of a killed process takes, and how often a lock that nobody else wants can be taken and given back. In
 * turns.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { lock as properLock } from "proper-lockfile"
import type { Lock } from "../src/locks/api/lock.ts"
import { StoreLock } from "../src/locks/lock/store-lock.ts"
import { FileLock, fileStore } from "../src/locks/stores/file/mod.ts"
import type { LeaseStore } from "../src/locks/stores/port.ts"
import { Contender, type Kind } from "./file-lock/contender.ts"
import { cpuOf, detail, inTurns, ratio, wallOf } from "./ratio.ts"

const HANDOFFS = 21
const TAKEOVERS = 11
const CYCLES = 200
const CYCLE_ROUNDS = 21
/** By then who waits does so in earnest, and at any moment between two tries of who tries every 50 ms. */
const settled = (): Promise<void> => setTimeout(700 + Math.random() * 50)

/** Prints the figures. */
export async function benchFileLock(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "leasehold-bench-"))
  try {
    await handoffs(directory)
    await takeovers(directory)
    await cycles(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function handoffs(directory: string): Promise<void> {
  const pairs = { flock: await pair("flock", directory), leasehold: await pair("leasehold", directory) }
  const proper = await pair("proper-lockfile", directory)
  const watch = await pair("watch", directory)
  const cost = await inTurns(HANDOFFS, {
    flock: () => handoff(pairs.flock),
    leasehold: () => handoff(pairs.leasehold),
    proper: () => handoff(proper),
    watch: () => handoff(watch),
  })
  for (const each of [...pairs.flock, ...pairs.leasehold, ...proper, ...watch]) each.kill()
  detail("handoff by flock(2)", cost.flock, "ms")
  detail("handoff", cost.leasehold, "ms")
  detail("a bare link, heard by fs.watch", cost.watch, "ms")
  detail("handoff by proper-lockfile, 50 ms retries", cost.proper, "ms")
  ratio("file-lock-handoff/flock", cost.leasehold / cost.flock, "<=", 3)
  ratio("file-lock-handoff-speed/proper-lockfile", cost.proper / cost.leasehold, ">=", 40)
}

/** The first of them holds the lock. */
type Pair = [Contender, Contender]

async function pair(kind: Kind, directory: string): Promise<Pair> {
  const both: Pair = [await Contender.start(kind, directory), await Contender.start(kind, directory)]
  await both[0].does("acquire", "has")
  return both
}

/** From the call that releases to the end of the other's wait, in ms. Then the two change places. */
async function handoff(both: Pair): Promise<number> {
  const [holder, waiter] = both
  await waiter.does("acquire", "asks")
  const has = waiter.hears("has")
  await settled()
  const cost = await between(holder.does("release", "gives"), has)
  both.reverse()
  return cost
}

async function takeovers(directory: string): Promise<void> {
  const cost = await inTurns(TAKEOVERS, {
    flock: async () => takeover(await Contender.holdingFlock(directory), await Contender.start("flock", directory)),
    leasehold: async () => takeover(...(await pair("leasehold", directory))),
  })
  detail("takeover from a killed process by flock(2)", cost.flock, "ms")
  detail("takeover from a killed process", cost.leasehold, "ms")
  ratio("file-lock-takeover/flock", cost.leasehold / cost.flock, "<=", 2)
}

/** From `kill -9` of a Node process that holds the lock to the end of the other's wait, in ms. */
async function takeover(holder: Contender, waiter: Contender): Promise<number> {
  await waiter.does("acquire", "asks")
  await settled()
  const has = waiter.hears("has")
  const cost = await between(Promise.resolve(holder.kill()), has)
  waiter.kill()
  return cost
}

const between = async (from: Promise<bigint>, to: Promise<bigint>): Promise<number> =>
  Number((await to) - (await from)) / 1e6

/** To take and give back a lock that nobody else wants; `slow` asks the same store as one that answers later. */
async function cycles(directory: string): Promise<void> {
  const store = fileStore({ directory })
  const [lock, slow] = [new FileLock("cycles", { directory }), new StoreLock("slow-cycles", { store: later(store) })]
  const file = join(directory, "proper-cycles")
  const ours = async (one: Lock): Promise<void> => {
    await using _ = await one.acquire()
  }
  const proper = async (): Promise<void> => (await properLock(file, { realpath: false }))()
  const cost = await inTurns(CYCLE_ROUNDS, {
    leasehold: () => perCycle(wallOf, () => ours(lock)),
    proper: () => perCycle(wallOf, proper),
    leaseholdCpu: () => perCycle(cpuOf, () => ours(lock)),
    properCpu: () => perCycle(cpuOf, proper),
    slowCpu: () => perCycle(cpuOf, () => ours(slow)),
  })
  detail("acquire + release", cost.leasehold, "µs")
  detail("acquire + release of proper-lockfile", cost.proper, "µs")
  detail("acquire + release", cost.leaseholdCpu, "µs of CPU")
  detail("acquire + release of proper-lockfile", cost.properCpu, "µs of CPU")
  detail("acquire + release on a store that isn't asked directly", cost.slowCpu, "µs of CPU")
  ratio("file-lock-rate/proper-lockfile", cost.proper / cost.leasehold, ">=", 3)
}

/** The store, without its answers at once. */
function later(store: LeaseStore): LeaseStore {
  return new Proxy(store, {
    get(of, name) {
      if (name === "prompt") return undefined
      const value: unknown = Reflect.get(of, name)
      return typeof value === "function" ? value.bind(of) : value
    },
  })
}

/** Microseconds of each of many cycles. */
async function perCycle(measure: typeof wallOf, cycle: () => Promise<void>): Promise<number> {
  const all = await measure(async () => {
    for (let done = 0; done < CYCLES; done++) await cycle()
  })
  return all / CYCLES
}

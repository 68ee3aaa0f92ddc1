/**
 * What a call costs: here, against a bare queue for each key; sent on by a worker, against a bare handler behind one
 * proxy of node:http; durable and a hundred at a time, against one at a time.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { fileStore } from "../src/locks/stores/file/mod.ts"
import { defineSandbox, memoryStore, SandboxManager, unchecked } from "../src/mod.ts"
import { liveClock } from "../src/runtime/time/clock.ts"
import { detail, inTurns, median, ratio, wallOf } from "./ratio.ts"

const ROUNDS = 7
const CALLS = 5000
const DURABLE = 200
/** Requests through two processes, for each concurrency. */
const FORWARDED = 1000

const counter = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
  calls: {
    add: { handle: (state: { n: number }) => ++state.n },
    keep: { durable: true, handle: (state: { n: number }) => ++state.n },
  },
})

/** Prints the figures. */
export async function benchCalls(): Promise<void> {
  await benchLocal()
  await benchDurable()
  await benchForwarded()
}

/** Calls in a row at one sandbox of this process. */
async function benchLocal(): Promise<void> {
  await using manager = await SandboxManager.start({ store: memoryStore(), sandboxes: [counter] })
  const queue = new KeyedQueue()
  let n = 0
  const cost = await inTurns(ROUNDS, {
    call: () => wallOf(() => inARow(CALLS, () => manager.call(counter, "k", "add"))),
    queue: () => wallOf(() => inARow(CALLS, () => queue.run("k", () => ++n))),
  })
  detail("a call here", cost.call / CALLS, "µs")
  detail("a turn of a bare queue", cost.queue / CALLS, "µs")
  ratio("call-here/bare-queue, calls a second", cost.queue / cost.call, ">=", 0.5)
}

/** The least that a call can be: one at a time for each key, seen from inside, between two looks at a deadline. */
class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>()
  readonly #inside = new AsyncLocalStorage<string>()

  run<A>(key: string, work: () => A): Promise<A> {
    const deadline = liveClock.mono() + 30_000
    const turn = async (): Promise<A> => {
      if (liveClock.mono() > deadline) throw new Error("too late")
      const answer = await this.#inside.run(key, work)
      if (liveClock.mono() > deadline) throw new Error("too late")
      return answer
    }
    const ran = (this.#tails.get(key) ?? Promise.resolve()).then(turn)
    this.#tails.set(key, ran)
    return ran
  }
}

async function inARow(times: number, work: () => Promise<unknown>): Promise<void> {
  for (let time = 0; time < times; time++) await work()
}

/** Many callers, each of which makes its calls in a row. */
async function atOnce(callers: number, times: number, work: () => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: callers }, () => inARow(times / callers, work)))
}

async function benchDurable(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-bench-"))
  {
    await using manager = await SandboxManager.start({ store: fileStore({ directory }), sandboxes: [counter] })
    const keep = () => manager.call(counter, "k", "keep")
    const cost = await inTurns(ROUNDS, {
      one: () => wallOf(() => inARow(DURABLE / 10, keep)).then((us) => us * 10),
      many: () => wallOf(() => atOnce(100, DURABLE * 10, keep)).then((us) => us / 10),
    })
    detail("a durable call, one at a time", cost.one / DURABLE, "µs")
    detail("a durable call, a hundred at a time", cost.many / DURABLE, "µs")
    ratio("durable-calls, 100 at a time/one at a time", cost.one / cost.many, ">=", 20)
  }
  await rm(directory, { recursive: true })
}

/** Requests to a process that hands each to the one behind it. */
async function benchForwarded(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-bench-"))
  const processes: ChildProcess[] = []
  const start = async (script: string, ...args: string[]): Promise<string> => {
    const file = fileURLToPath(new URL(`calls/${script}.ts`, import.meta.url))
    const env = { ...process.env, LEASEHOLD_SECRET: "a-secret-of-these-two-workers" }
    const child = fork(file, args, { execArgv: ["--conditions=leasehold-source"], env })
    processes.push(child)
    const [address] = (await once(child, "message")) as [string]
    return address
  }
  try {
    await start("worker", directory, "owns")
    const worker = await start("worker", directory)
    const proxy = await start("proxy", await start("bare"))
    for (const concurrency of [1, 50]) {
      const cost = await inTurns(ROUNDS, {
        call: () => latency(worker, concurrency),
        proxy: () => latency(proxy, concurrency),
      })
      detail(`a call that is sent on, ${concurrency} at a time`, cost.call, "µs")
      detail(`a bare handler behind a proxy, ${concurrency} at a time`, cost.proxy, "µs")
      ratio(`call-sent-on/proxied-handler, ${concurrency} at a time`, cost.call / cost.proxy, "<=", 2.5)
    }
  } finally {
    for (const child of processes) child.kill("SIGKILL")
    await rm(directory, { recursive: true, force: true })
  }
}

/** The median, in microseconds. */
async function latency(address: string, concurrency: number): Promise<number> {
  const took: number[] = []
  await atOnce(concurrency, FORWARDED, async () => {
    took.push(await wallOf(async () => void (await (await fetch(address)).text())))
  })
  return median(took)
}

/**
 * A process of a chaos run: `worker.ts '<options as JSON>'`. Its clients use random keys one after the other, as fast
 * as they get them, until SIGTERM; then it drains and ends with exit code 0. Every effect goes to the log, with its
 * token, and all that its locks, sandboxes and store do to its trace.
 */
import process from "node:process"
import { gcsStore } from "../../src/locks/stores/gcs/mod.ts"
import { type HookContext, LockError, SandboxManager } from "../../src/mod.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import { SeededRandom } from "../../src/runtime/time/random.ts"
import { ledger, type Rows } from "./ledger.ts"
import { Log } from "./log.ts"
import { ProcessTrace } from "./traces.ts"

/** What the run tells it. */
export interface WorkerOptions {
  readonly name: string
  /** Its place in the fleet, by whose name its trace goes. */
  readonly berth: string
  readonly log: string
  readonly trace: string
  readonly endpoint: string
  readonly bucket: string
  readonly prefix: string
  readonly keys: number
  readonly clients: number
  readonly seed: number
}

/** What a use may wait for its key, in milliseconds. */
const budget = 20_000
/** What it has to drain, in milliseconds. */
const grace = 40_000
/** What settling may take beyond: the write that makes it durable, and the event loop of a busy machine. */
const slack = 25_000

/** Of one act. */
const steps = 4

const options = JSON.parse(process.argv[2]!) as WorkerOptions
const { name, endpoint, bucket, prefix, keys, clients, seed } = options
const log = new Log(options.log)
const trace = new ProcessTrace(options.trace).recorder.worker(options.berth)
const rows = trace.sandbox(ledger)
const random = new SeededRandom(seed)
let acts = 0
let isLeaving = false
/** When the process was found to have stood still: ticks come twice a second where it runs. */
const gaps: number[] = []
tick(liveClock.mono())

const store = trace.store(gcsStore({ bucket, prefix, endpoint }))
const manager = await started()
trace.locks(manager.events$)
manager.events$.subscribe((event) => {
  const { key } = event
  if (event.type === "Acquired")
    log.write({ what: "acquired", process: name, key: keyOf(key), token: event.token, how: event.how })
  if (event.type === "Lost") log.write({ what: "lost", process: name, key: keyOf(key) })
})
process.once("SIGTERM", () => void leave())
console.log("ready")
await Promise.all(Array.from({ length: clients }, client))

async function started(): Promise<SandboxManager> {
  for (;;) {
    try {
      const { inspect } = trace
      const parts = { store, sandboxes: [rows], ttl: "6 s", minTenure: 0, onError: note, inspect } as const
      return await trace.call({ call: "start" }, () => SandboxManager.start(parts))
    } catch (error) {
      if (!(error instanceof LockError)) throw error
      await sleep(500)
    }
  }
}

async function client(): Promise<void> {
  while (!isLeaving) {
    const from = liveClock.mono()
    await once(`k${Math.floor(random.next() * keys)}`)
    const took = liveClock.mono() - from
    // A process that was stopped meanwhile can't have settled in time.
    if (took > budget + slack && !wasStopped(from)) problem(`a use took ${Math.round(took)} ms`)
    await sleep(20 + random.next() * 100)
  }
}

async function once(key: string): Promise<void> {
  const row = `${name}.${++acts}`
  try {
    await use(key, async (state, { token, lease, clock }) => {
      const confirm = (): void => {
        if (lease.isHeld()) log.write({ what: "held", act: row })
      }
      log.write({ what: "start", process: name, act: row, key, token, rows: state.rows.length })
      confirm()
      state.rows.push(row)
      for (let step = 0; step < steps; step++) {
        await clock.sleep(5 + 150 * random.next())
        log.write({ what: "step", act: row })
        confirm()
      }
    })
    log.write({ what: "stored", process: name, key, row })
  } catch (error) {
    if (!(error instanceof LockError)) problem(`a use failed with ${String(error)}`)
  }
}

/** A durable use. Its trace tells of two calls: the use, and the wait until fn begins, which alone has a budget. */
function use(key: string, fn: (state: Rows, context: HookContext) => Promise<void>): Promise<void> {
  const lockKey = `${ledger.name}/${key}`
  return trace.call({ call: "use", durable: true, key: lockKey }, () => {
    const begun = Promise.withResolvers<void>()
    const begins: typeof fn = (state, context) => {
      begun.resolve()
      return fn(state, context)
    }
    const used = manager.use(rows, key, trace.use(begins), { durable: true, timeout: budget, contention: "retry" })
    used.catch(begun.reject)
    trace.call({ call: "acquire", key: lockKey, budget }, () => begun.promise).catch(() => {})
    return used
  })
}

async function leave(): Promise<void> {
  isLeaving = true
  const { stuck } = await trace.call({ call: "drain", budget: grace }, () => manager.drain({ grace }))
  if (stuck.length > 0) problem(`it is stuck in ${stuck.join(", ")}`)
  await trace.call({ call: "close" }, async () => manager[Symbol.asyncDispose]())
  await store.close()
  process.exit(0)
}

function note(error: unknown): void {
  if (!(error instanceof LockError)) problem(`in the background: ${String(error)}`)
}

function problem(message: string): void {
  log.write({ what: "problem", process: name, message })
}

function tick(last: number): void {
  const now = liveClock.mono()
  if (now - last > 1500) gaps.push(now)
  liveClock.after(500, () => tick(now), { background: true })
}

function wasStopped(since: number): boolean {
  return gaps.some((at) => at >= since)
}

function sleep(ms: number): Promise<void> {
  return new Promise((settle) => void liveClock.after(ms, settle))
}

function keyOf(lockKey: string): string {
  return lockKey.slice(lockKey.indexOf("/") + 1)
}

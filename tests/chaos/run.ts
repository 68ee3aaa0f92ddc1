/**
 * A chaos run: real processes on a real GCS server, under everything that a machine and a network do to them, and
 * strangers beside them; then calm, a drain of all, and the verdict on what they wrote down. Not promised: that two
 * runs of one seed are the same; the machine has its own part in them.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Runtime } from "../../examples/sqlite-workers/runtimes.ts"
import { gcsStore } from "../../src/locks/stores/gcs/mod.ts"
import { SandboxManager } from "../../src/mod.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import { SeededRandom } from "../../src/runtime/time/random.ts"
import type { Violation } from "../../src/testing/invariants/mod.ts"
import { formatTrace } from "../../src/trace/trace-text.ts"
import { startGcsServer } from "../integration/support/gcs-server.ts"
import { WriteLimiter } from "../support/fault-proxy/limiter.ts"
import { startFaultProxy } from "../support/fault-proxy/proxy.ts"
import { Berth, type FleetOptions, sleep } from "./fleet.ts"
import { ledger } from "./ledger.ts"
import { Log, readLog } from "./log.ts"
import { judge, type Verdict } from "./oracle.ts"
import { visit } from "./stranger.ts"
import { judgeLive, RunTrace } from "./traces.ts"

/** How a run is made. */
export interface ChaosRunOptions {
  readonly minutes: number
  readonly runtime: Runtime | "mixed"
  readonly seed: number
}

const workers = ["a", "b", "c"]
const keys = 120
const bucket = "leasehold-chaos"

/** What a run comes to, by its log and by its trace. */
export interface ChaosVerdict extends Verdict {
  /** What of the trace goes against an invariant. */
  readonly violations: readonly Violation[]
  /** How many lines the trace has. */
  readonly lines: number
  /** Where `log.ndjson` and `trace.ndjson` are, unless nothing was wrong. */
  readonly folder: string
}

/** Runs, and judges. */
export async function chaosRun(options: ChaosRunOptions): Promise<ChaosVerdict> {
  const folder = mkdtempSync(join(tmpdir(), "leasehold-chaos-"))
  const path = join(folder, "log.ndjson")
  const trace = new RunTrace()
  const traces: string[] = []
  const traceOf = (life: string): string => {
    const own = join(folder, `${life}.ndjson`)
    traces.push(own)
    return own
  }
  await using server = await startGcsServer()
  await server.createBucket(bucket)
  const prefix = `run-${options.seed}`
  {
    using log = new Log(path)
    const random = new SeededRandom(options.seed)
    const runtimes = options.runtime === "mixed" ? (["node", "deno"] as const) : [options.runtime]
    const worker = { log: path, bucket, prefix, keys, clients: 40 }
    const limit = new WriteLimiter(liveClock)
    const fleet = { log, trace, traceOf, random, runtimes, target: server.endpoint, limit, worker }
    await torment(fleet, options.minutes * 60_000)
  }
  const saved = await savedRows(server.endpoint, prefix)
  const verdict = judge(readLog(path), saved)
  const whole = trace.with(traces)
  const violations = judgeLive(whole)
  const isClean = [verdict.overlaps, verdict.lost, verdict.problems, violations].every((list) => list.length === 0)
  if (isClean) rmSync(folder, { recursive: true })
  else writeFileSync(join(folder, "trace.ndjson"), formatTrace(whole))
  return { ...verdict, violations, lines: whole.lines.length, folder }
}

async function torment(options: FleetOptions, ms: number): Promise<void> {
  await using fleet = new AsyncDisposableStack()
  const berths = await Promise.all(
    workers.map((name, index) => Berth.open(name, options.runtimes[index % options.runtimes.length]!, options)),
  )
  for (const berth of berths) fleet.use(berth)
  const end = liveClock.mono() + ms
  for (const berth of berths) berth.proxy.chaos({ seed: Math.floor(options.random.next() * 2 ** 31) })
  await Promise.all([...berths.map((berth) => befall(berth, options, end)), strangers(options, end)])
  await Promise.all(berths.map((berth) => berth.leave()))
}

/** One thing after the other, to one process. */
async function befall(berth: Berth, { random }: FleetOptions, end: number): Promise<void> {
  const between = (least: number, most: number): number => Math.round(least + random.next() * (most - least))
  while (liveClock.mono() < end) {
    await sleep(Math.min(between(2000, 10_000), Math.max(0, end - liveClock.mono())))
    if (liveClock.mono() >= end) return
    const luck = random.next()
    if (luck < 0.25) await berth.kill(between(100, 3000))
    else if (luck < 0.4) await berth.stop(between(7000, 10_000))
    else if (luck < 0.55) await berth.stop(between(200, 4000))
    else if (luck < 0.7) await berth.cutOff(between(2000, 10_000))
    else if (luck < 0.8) await berth.muffle(between(2000, 8000), "after")
    else if (luck < 0.9) await berth.muffle(between(2000, 8000), "before")
    else await berth.drain()
  }
}

/** A stranger visits one key after the other. */
async function strangers({ log, trace, random, target, limit, worker }: FleetOptions, end: number): Promise<void> {
  await using proxy = await startFaultProxy({ target, limit, record: false })
  const store = gcsStore({ bucket, prefix: worker.prefix, endpoint: proxy.url })
  while (liveClock.mono() < end) {
    await sleep(2000 + 4000 * random.next())
    await visit(`k${Math.floor(random.next() * keys)}`, { store, log, trace, random })
  }
  await store.close()
}

/** What is saved when all have left. */
async function savedRows(endpoint: string, prefix: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const store = gcsStore({ bucket, prefix, endpoint })
  const manager = await SandboxManager.start({ store, sandboxes: [ledger] })
  const rows = new Map<string, readonly string[]>()
  for await (const key of manager.list(ledger)) rows.set(key, (await manager.readCheckpoint(ledger, key))?.rows ?? [])
  await manager[Symbol.asyncDispose]()
  await store.close()
  return rows
}

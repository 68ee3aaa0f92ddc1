// Hammers the file store's compare-and-swap with real processes on both runtimes that are killed and stopped at random
// moments, and checks from their logs that no write was applied twice, lost, or built on anything but the one before.
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { describe, expect, it, onTestFinished } from "vitest"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import type { Area } from "../../src/locks/stores/port.ts"
import { SeededRandom } from "../../src/runtime/time/random.ts"
import { type Entry, type Final, violations } from "./support/history.ts"
import { type Runtime, type Spawned, spawnScript } from "./support/spawn.ts"

/** Enough of it: so many kills and stops, and so many generations meanwhile. However slow the machine, no longer. */
const ENOUGH = { interruptions: 200, generations: 1000 }
const LIMIT_MS = 75_000
const script = new URL("./hammer-worker.ts", import.meta.url)
const runtimes: readonly Runtime[] = ["node", "node", "node", "node", "deno", "deno", "deno", "deno"]

/** Eight places for a worker; one that is killed is followed by another with a log of its own. */
class Fleet {
  readonly logs: string[] = []
  readonly failures: string[] = []
  readonly kills = { node: 0, deno: 0 }
  stops = 0
  readonly #directory: string
  readonly #workers: Spawned[]

  constructor(directory: string) {
    this.#directory = directory
    this.#workers = runtimes.map((runtime) => this.#start(runtime))
  }

  #start(runtime: Runtime): Spawned {
    const log = join(this.#directory, `${this.logs.length}-${runtime}.log`)
    this.logs.push(log)
    const worker = spawnScript({ runtime, script, args: [join(this.#directory, "store"), log] })
    void worker.ended.then(({ signal, stderr }) => {
      if (signal !== "SIGKILL") this.failures.push(`${log}: ${stderr}`)
    })
    return worker
  }

  async kill(place: number): Promise<void> {
    const runtime = runtimes[place]!
    this.#workers[place]!.signal("SIGKILL")
    await this.#workers[place]!.ended
    this.kills[runtime]++
    this.#workers[place] = this.#start(runtime)
  }

  async stop(place: number, ms: number): Promise<void> {
    const worker = this.#workers[place]!
    if (!worker.signal("SIGSTOP")) return
    this.stops++
    await setTimeout(ms)
    worker.signal("SIGCONT")
  }

  async end(): Promise<void> {
    for (const worker of this.#workers) worker.signal("SIGKILL")
    await Promise.all(this.#workers.map((worker) => worker.ended))
  }
}

async function hammer(fleet: Fleet, random: SeededRandom, generations: () => Promise<number>): Promise<void> {
  const until = performance.now() + LIMIT_MS
  const stopped: Promise<void>[] = []
  const enough = async (done: number): Promise<boolean> =>
    performance.now() > until || (done >= ENOUGH.interruptions && (await generations()) >= ENOUGH.generations)
  for (let done = 0; !(await enough(done)); done++) {
    await setTimeout(10 + random.next() * 60)
    const place = Math.floor(random.next() * runtimes.length)
    if (random.next() < 0.15) await fleet.kill(place)
    else stopped.push(fleet.stop(place, 1 + random.next() * 60))
  }
  await Promise.all(stopped)
}

async function history(logs: readonly string[], area: Area): Promise<Entry[][]> {
  const texts = await Promise.all(logs.map((log) => readFile(log, "utf8").catch(() => "")))
  return texts.map((text) =>
    text
      .slice(0, text.lastIndexOf("\n") + 1)
      .split("\n")
      .filter((line) => line.startsWith(`${area} `))
      .map((line) => JSON.parse(line.slice(area.length)) as Entry),
  )
}

async function finalValue(directory: string, area: Area, name: string): Promise<Final> {
  const store = fileStore({ directory: join(directory, "store") })
  const read = await store.read({ area, name }, { deadline: 5000, limit: 1000 })
  if (read.kind !== "found") throw new Error(read.kind, { cause: read })
  return { generation: Number(read.generation), op: new TextDecoder().decode(read.body) }
}

describe("the file store, hammered by eight processes", () => {
  // Tests stores: The file store compares and swaps under `kill -9` and SIGSTOP, by eight processes.
  it("applies each generation once, on the value directly before it, and loses none", async () => {
    const directory = await mkdtemp(join(tmpdir(), "leasehold-hammer-"))
    onTestFinished(() => rm(directory, { recursive: true }))
    const fleet = new Fleet(directory)
    onTestFinished(() => fleet.end())
    const seed = Math.floor(Math.random() * 2 ** 31)
    await hammer(
      fleet,
      new SeededRandom(seed),
      async () => (await finalValue(directory, "leases", "counter")).generation,
    )
    await fleet.end()

    const leases = await finalValue(directory, "leases", "counter")
    const states = await finalValue(directory, "state", "counter/head")
    expect({
      seed,
      failures: fleet.failures,
      leases: violations(await history(fleet.logs, "leases"), leases).slice(0, 20),
      states: violations(await history(fleet.logs, "state"), states).slice(0, 20),
    }).toEqual({ seed, failures: [], leases: [], states: [] })
    expect(leases.generation).toBeGreaterThanOrEqual(ENOUGH.generations)
    expect(states.generation).toBeGreaterThan(1)
    expect(Math.min(fleet.kills.node, fleet.kills.deno)).toBeGreaterThan(0)
    expect(fleet.stops).toBeGreaterThan(ENOUGH.interruptions / 2)
  })
})

describe("the check of the hammer", () => {
  const first = [
    { type: "read", generation: 0, op: "-" },
    { type: "try", op: "a", base: 0, previous: "-" },
    { type: "applied", op: "a", generation: 1 },
  ] as const
  const second = [
    { type: "read", generation: 1, op: "a" },
    { type: "try", op: "b", base: 1, previous: "a" },
    { type: "applied", op: "b", generation: 2 },
  ] as const
  const rival: Entry = { type: "try", op: "c", base: 1, previous: "a" }
  const end: Final = { generation: 2, op: "b" }

  it.each<readonly [string, readonly (readonly Entry[])[]]>([
    ["a chain of two", [first, second]],
    ["a write that was refused", [first, second, [rival, { type: "refused", op: "c" }]]],
    ["a write that didn't count and whose answer was lost", [first, second, [rival, { type: "unknown", op: "c" }]]],
    ["a writer that was killed before its answer", [first, second.slice(0, 2), [rival]]],
  ])("passes %s", (_, logs) => {
    expect(violations(logs, end)).toEqual([])
  })

  it.each<readonly [string, readonly (readonly Entry[])[], Final, string]>([
    [
      "two writes acknowledged for one generation",
      [first, second, [rival, { type: "applied", op: "c", generation: 2 }]],
      end,
      "generation 2 was acknowledged to b and to c",
    ],
    [
      "an acknowledged write that is gone",
      [first, second],
      { generation: 1, op: "a" },
      "b was acknowledged as generation 2 and lost",
    ],
    [
      "an acknowledged write that another overwrote unseen",
      [first, second, [rival, { type: "try", op: "d", base: 2, previous: "c" }]],
      { generation: 3, op: "d" },
      "b was acknowledged as generation 2 and lost",
    ],
    [
      "a refused write that counts",
      [first, [...second.slice(0, 2), { type: "refused", op: "b" }]],
      end,
      "b was refused and applied",
    ],
    ["a value that nobody wrote", [first], end, "generation 2 holds b, which nobody wrote"],
    [
      "a write that was built on an older value",
      [first, [{ type: "try", op: "b", base: 0, previous: "-" }]],
      end,
      "generation 2 holds b, which was built on generation 0",
    ],
    ["a chain without a beginning", [second], { generation: 2, op: "b" }, "generation 1 holds a, which nobody wrote"],
    [
      "a generation that was skipped",
      [[{ type: "try", op: "b", base: 1, previous: "-" }]],
      end,
      "the chain ends at generation 1",
    ],
    [
      "a read of what never counted",
      [first, second, [{ type: "read", generation: 2, op: "c" }]],
      end,
      "generation 2 was read as c, which it never was",
    ],
    [
      "a read that went back",
      [first, [...second, { type: "read", generation: 1, op: "a" }]],
      end,
      "generation 1 was read after 2",
    ],
  ])("finds %s", (_, logs, final, violation) => {
    expect(violations(logs, final)).toContain(violation)
  })
})

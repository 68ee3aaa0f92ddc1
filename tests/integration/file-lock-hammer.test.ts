// Hammers one lock on a directory with eight real processes on both runtimes, some of which are killed at random
// moments, and checks from their logs that no two were ever in it at once. The full size is 2,000 cycles each:
// LEASEHOLD_HAMMER_CYCLES=2000 npx vitest run --project processes tests/integration/file-lock-hammer.test.ts
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { setTimeout } from "node:timers/promises"
import { describe, expect, it, onTestFinished } from "vitest"
import { SeededRandom } from "../../src/runtime/time/random.ts"
import { type Log, overlaps, type Section, sectionsOf } from "./support/sections.ts"
import { type Runtime, type Spawned, spawnScript } from "./support/spawn.ts"

const CYCLES = Number(process.env["LEASEHOLD_HAMMER_CYCLES"] ?? 40)
/** One kill for so many sections of all. */
const SECTIONS_A_KILL = Math.max(10, CYCLES / 20)
/** The work isn't done before so many were killed: who kills may be slow, and so many the run must have seen. */
const KILLS = 11
const script = new URL("./hammer-lock-worker.ts", import.meta.url)
const runtimes: readonly Runtime[] = ["node", "node", "node", "node", "deno", "deno", "deno", "deno"]

/** Eight places for a worker; one that is killed is followed by another, with a log of its own and the cycles left. */
class Crew {
  readonly logs: string[] = []
  readonly failures: string[] = []
  kills = 0
  readonly #directory: string
  readonly #workers: (Spawned | undefined)[]
  readonly #ends: Promise<void>[] = []

  constructor(directory: string) {
    this.#directory = directory
    this.#workers = runtimes.map((runtime, place) => this.#start(runtime, place, CYCLES))
  }

  /** Settles when every place has done its cycles, and enough were killed. */
  async done(): Promise<void> {
    for (let next = 0; next < this.#ends.length; next++) await this.#ends[next]
  }

  get working(): boolean {
    return this.#workers.some((worker) => worker !== undefined)
  }

  /** What the sections have counted so far. */
  async count(): Promise<number> {
    return (await this.text("counter")).length
  }

  kill(place: number): void {
    this.#workers[place]?.signal("SIGKILL")
  }

  async text(name: string): Promise<string> {
    return readFile(join(this.#directory, name), "utf8").catch(() => "")
  }

  end(): void {
    for (const worker of this.#workers) worker?.signal("SIGKILL")
  }

  #start(runtime: Runtime, place: number, cycles: number): Spawned {
    const name = `${place}-${this.logs.length}-${runtime}`
    this.logs.push(name)
    const worker = spawnScript({
      runtime,
      script,
      args: [this.#directory, join(this.#directory, name), String(cycles)],
    })
    this.#ends.push(this.#follow(worker, { name, runtime, place, cycles }))
    return worker
  }

  async #follow(
    worker: Spawned,
    { name, runtime, place, cycles }: { name: string; runtime: Runtime; place: number; cycles: number },
  ): Promise<void> {
    const { code, signal, stderr } = await worker.ended
    if (signal === "SIGKILL") this.kills++
    else if (code !== 0) this.failures.push(`${name}: ${code} ${signal} ${stderr}`)
    const done = sectionsOf({ process: name, text: await this.text(name) }).length
    const left = this.failures.length > 0 ? 0 : Math.max(cycles - done, this.kills < KILLS ? SECTIONS_A_KILL : 0)
    this.#workers[place] = left > 0 ? this.#start(runtime, place, left) : undefined
  }
}

/**
 * A kill for so many sections, of a process that has got so far as to have some: others would only be started in vain.
 */
async function hammer(crew: Crew, random: SeededRandom): Promise<void> {
  const done = crew.done()
  let counted = 0
  while (crew.working) {
    await setTimeout(5 + random.next() * 50)
    const count = await crew.count()
    if (count - counted < 2 * SECTIONS_A_KILL) continue
    counted = count
    crew.kill(Math.floor(random.next() * runtimes.length))
  }
  await done
}

describe("a lock on a directory, hammered by eight processes", () => {
  // Tests stores: Eight processes, some killed, take and give back one lock, and no two are in it at once.
  it("never has two in it at once, is taken over from the killed, and is left by all", async () => {
    const directory = await mkdtemp(join(tmpdir(), "leasehold-hammer-"))
    onTestFinished(() => rm(directory, { recursive: true }))
    await writeFile(join(directory, "counter"), "")
    const crew = new Crew(directory)
    onTestFinished(() => crew.end())
    const seed = Math.floor(Math.random() * 2 ** 31)
    await hammer(crew, new SeededRandom(seed))
    const logs: Log[] = await Promise.all(
      crew.logs.map(async (name) => ({ process: name, text: await crew.text(name) })),
    )
    const sections = logs.flatMap(sectionsOf)
    expect({ seed, failures: crew.failures, overlaps: overlaps(sections) }).toEqual({
      seed,
      failures: [],
      overlaps: [],
    })
    expect(sections.length).toBeGreaterThanOrEqual(CYCLES * runtimes.length)
    expect(crew.kills).toBeGreaterThanOrEqual(KILLS)
  }, 1_800_000)
})

describe("the check of the hammer", () => {
  const a: Section = { process: "a", token: 1, counts: [1, 2] }
  const b: Section = { process: "b", token: 2, counts: [3, 4] }

  it("passes sections one after the other, whatever was killed in between", () => {
    expect(overlaps([b, a])).toEqual([])
    expect(overlaps([a, b, { process: "c", token: 3, counts: [] }, { process: "d", token: 3, counts: [6] }])).toEqual(
      [],
    )
  })

  it("finds two that were in it at once, and tokens that don't grow", () => {
    expect(overlaps([a, { ...b, counts: [2, 3] }])).toEqual(["a (1) and b (2) were in it at once"])
    expect(
      overlaps([
        { ...a, counts: [1, 3] },
        { ...b, counts: [2, 4] },
      ]),
    ).toEqual(["a (1) and b (2) were in it at once"])
    expect(overlaps([a, { ...b, token: 1 }])).toEqual(["a (1) and b (1) have tokens out of order"])
  })

  it("reads what a killed process counted until its kill", () => {
    const killed: Log = { process: "a", text: "enter 1\ncount 1\ncount 2\nleave 1\nenter 2\ncount 3\ncou" }
    expect(sectionsOf(killed)).toEqual([a, { process: "a", token: 2, counts: [3] }])
  })
})

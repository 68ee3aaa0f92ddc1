/** Simulations, by the package's own name: what a user's test sees of one. */
import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defineSandbox, unchecked } from "leasehold"
import { type FaultLine, isTraceLine, parseTrace, simulate, SimulationError } from "leasehold/testing"
import { describe, expect, it } from "vitest"
import { KeptSeeds } from "../../../src/testing/simulate/kept-seeds.ts"

interface Count {
  n: number
}

const hooks = {
  name: "counter",
  schema: unchecked<Count>(),
  restore: ({ checkpoint }: { readonly checkpoint: Count | undefined }): Count => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }: Count): Count => ({ n }),
}
const counter = defineSandbox(hooks)
/** Saves what it was before the last use. */
const forgetful = defineSandbox({ ...hooks, checkpoint: ({ n }: Count) => ({ n: Math.max(0, n - 1) }) })

/** Adds one, durably, and asks that no acknowledged one is missing. */
function counting(): NonNullable<Parameters<typeof simulate<Count, Count>>[0]["workload"]> {
  const acknowledged = new WeakMap<object, number>()
  return async (world) => {
    const worker = world.random.pick(world.workers)
    const before = acknowledged.get(world) ?? 0
    const n = await worker.use(
      (state) => {
        if (state.n < before) world.fail(`${before} were acknowledged and ${state.n} are there`)
        return ++state.n
      },
      { durable: true, contention: "retry" },
    )
    acknowledged.set(world, Math.max(n, acknowledged.get(world) ?? 0))
  }
}

/** All die, and what comes back has forgotten what the last use did: whatever else a seed draws. */
const allCrash = (["a", "b", "c"] as const).map((worker) => ({ at: 20_000, kind: "crash", worker, ms: 1000 }) as const)
const quick = { store: "exact", manager: { ttl: "6 s" }, script: allCrash } as const

const brief = { duration: "1 min", keys: 1, shrinkFor: "2 s" } as const

async function failure(promise: Promise<unknown>): Promise<SimulationError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof SimulationError) return error
  throw new Error("the simulation didn't fail", { cause: error })
}

describe("a simulation", () => {
  // Tests simulations: A simulation finds what is wrong with a sandbox, is the same each time, and keeps failed seeds.
  it("passes where the sandbox is right, and has the same hash again", async () => {
    const run = () => simulate({ sandbox: counter, seeds: 3, workload: counting(), ...brief })
    const first = await run()
    expect(first).toMatchObject({ seeds: 3, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(first.requests).toBeGreaterThan(100)
    expect((await run()).hash).toBe(first.hash)
  })

  it("finds a checkpoint that forgets, and says with which seed and faults", async () => {
    const error = await failure(simulate({ sandbox: forgetful, seeds: 20, workload: counting(), ...brief }))
    expect(error.violations[0]).toMatchObject({ message: expect.stringMatching(/were acknowledged and \d+ are there/) })
    expect(error.message).toContain(`seed ${error.seed}`)
    expect(error.message).toContain(`simulate({ …, seeds: [${error.seed}] })`)
  })

  it("does what a script says, and nothing else", async () => {
    const folder = mkdtempSync(join(tmpdir(), "leasehold-simulate-"))
    try {
      const options = { sandbox: forgetful, seeds: [7], workload: counting(), reports: folder, ...quick, ...brief }
      const error = await failure(simulate({ ...options, shrinkFor: 0 }))
      const trace = parseTrace(readFileSync(join(folder, "seed-7.ndjson"), "utf8"))
      const begun = trace.lines.find((line) => isTraceLine(line))?.at ?? 0
      const struck = trace.lines.filter(isTraceLine).filter(({ kind }) => kind === "fault") as FaultLine[]
      expect(
        struck.filter(({ fault }) => fault !== "clock").map(({ at, fault, worker }) => [at - begun, fault, worker]),
      ).toEqual([
        ...["a", "b", "c"].map((worker) => [20_000, "crash", worker]),
        ...["a", "b", "c"].map((worker) => [21_000, "restart", worker]),
        [60_000, "heal", null],
      ])
      expect(error.plan.faults).toEqual(allCrash)
      expect(readFileSync(join(folder, "failing-seeds.json"), "utf8")).toBe("[7]\n")
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("ends what is slow with all other faults: it keeps nobody from leaving", async () => {
    const busy = defineSandbox({
      ...hooks,
      async run(_state, { clock, signal }) {
        while (!signal.aborted) await clock.sleep("1 s")
      },
    })
    const slow = ["a", "b", "c"].map(
      (worker) => ({ at: 0, kind: "slowHook", worker, hook: "run", ms: 300_000 }) as const,
    )
    const simulated = await simulate({ sandbox: busy, seeds: [7], script: slow, ...brief })
    expect(simulated).toMatchObject({ seeds: 1 })
  })

  it("runs the seeds first that failed before, until they pass", async () => {
    const folder = mkdtempSync(join(tmpdir(), "leasehold-simulate-"))
    try {
      const failing = { sandbox: forgetful, seeds: [9], workload: counting(), reports: folder, ...quick, ...brief }
      await failure(simulate({ ...failing, shrinkFor: 0 }))
      const order: number[] = []
      const onSeed = (seed: number) => void order.push(seed)
      const again = { sandbox: counter, seeds: [1], workload: counting(), reports: folder, onSeed, ...brief }
      expect(await simulate(again)).toMatchObject({ seeds: 2 })
      expect(await simulate(again)).toMatchObject({ seeds: 1 })
      expect(order).toEqual([9, 1, 1])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  // Tests simulations: The file of failed seeds is whole or not there; one that is no list is refused by name.
  it.each(["[9, 1", "", '{"seeds":[9]}', "[0.5]"])(
    "names a file of failed seeds that is none, and says what to do, until it is one: %j",
    async (torn) => {
      const folder = mkdtempSync(join(tmpdir(), "leasehold-simulate-"))
      try {
        const file = join(folder, "failing-seeds.json")
        writeFileSync(file, torn)
        const run = () => simulate({ sandbox: counter, seeds: [1], reports: folder, ...brief, duration: "1 s" })
        const refused = {
          _tag: "InvalidConfigError",
          message: expect.stringContaining(file),
          next: expect.stringMatching(/^Delete it/),
        }
        await expect(run()).rejects.toMatchObject(refused)
        expect(readFileSync(file, "utf8")).toBe(torn)
        rmSync(file)
        await expect(run()).resolves.toMatchObject({ seeds: 1 })
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  )

  it("leaves no half of a file of failed seeds: it takes the place of the former one when it is whole", () => {
    const folder = mkdtempSync(join(tmpdir(), "leasehold-simulate-"))
    try {
      const file = join(folder, "failing-seeds.json")
      writeFileSync(file, "[9]")
      linkSync(file, join(folder, "former"))
      new KeptSeeds(folder).note(7, false)
      expect(JSON.parse(readFileSync(file, "utf8"))).toEqual([9, 7])
      expect(readFileSync(join(folder, "former"), "utf8")).toBe("[9]") // never written into
      expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("fails where the sandbox asks the machine for the time, and names the caller", async () => {
    const timed = defineSandbox({ ...hooks, restore: () => ({ n: Date.now() }) })
    const error = await failure(simulate({ sandbox: timed, seeds: [1], ...brief }))
    expect(error.message).toMatch(/Date\.now\(\) was called by .*simulate\.test/)
  })

  it("fails where the workload throws what the library doesn't", async () => {
    const workload = async (): Promise<void> => {
      throw new TypeError("my own mistake")
    }
    const error = await failure(simulate({ sandbox: counter, seeds: [1], workload, ...brief }))
    expect(error.message).toContain("TypeError: my own mistake")
  })

  // Tests simulations: A simulation fails where two runs of a seed differ, and where none came to what it must.
  it("fails where the second run of a seed differs from the first, whatever else is right", async () => {
    let restored = 0
    const moody = defineSandbox({
      ...hooks,
      async restore({ checkpoint, clock }) {
        await clock.sleep(++restored) // no seed controls this
        return { n: checkpoint?.n ?? 0 }
      },
    })
    const error = await failure(simulate({ sandbox: moody, seeds: [3], faults: [], ...brief }))
    expect(error.violations).toMatchObject([{ invariant: "the same seed gives the same run" }])
    const [first] = error.message.split("\n")
    expect(first).toMatch(
      /^seed 3: the same seed gives the same run: of two runs one is \d+ lines with the hash [0-9a-f]{64}, the other \d+ with [0-9a-f]{64}$/,
    )
  })

  // Tests simulations: A simulation that would run nothing is refused.
  it("refuses options that nobody reads or that can't work", async () => {
    const refused = { _tag: "InvalidConfigError" }
    await expect(simulate({ sandbox: counter, seeds: 1, wrokers: 2 } as never)).rejects.toMatchObject(refused)
    await expect(simulate({ sandbox: counter, seeds: 0 })).rejects.toMatchObject(refused)
    await expect(simulate({ sandbox: counter, seeds: [] })).rejects.toMatchObject({
      ...refused,
      next: "Give one seed or more",
    })
    await expect(simulate({ sandbox: counter, seeds: 1, duration: 0 })).rejects.toMatchObject(refused)
    await expect(simulate({ sandbox: counter, seeds: [-1] })).rejects.toMatchObject(refused)
    await expect(simulate({ sandbox: counter, seeds: 1, workers: 27 })).rejects.toMatchObject(refused)
    await expect(simulate({ sandbox: counter, seeds: 1, clocks: { drift: 0.06 } })).rejects.toMatchObject(refused)
    await expect(simulate({ sandbox: counter, seeds: 1, faults: ["flood" as never] })).rejects.toMatchObject(refused)
    await expect(simulate({ sandbox: counter, seeds: 1, manager: { ttl: "soon" as never } })).rejects.toMatchObject(
      refused,
    )
  })
})

it("a simulation fails where a rejection is heard by nobody", async () => {
  const careless = defineSandbox({
    ...hooks,
    restore: () => {
      void Promise.reject(new RangeError("heard by nobody"))
      return { n: 0 }
    },
  })
  const error = await failure(simulate({ sandbox: careless, seeds: [1], ...brief }))
  expect(error.violations[0]).toMatchObject({
    invariant: "no unhandled rejection",
    message: expect.stringContaining("RangeError: heard by nobody"),
  })
})

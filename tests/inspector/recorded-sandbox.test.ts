// Pins that a sandbox's work is told where it begins and ends, with whose it is, and that telling changes none of it.
import { describe, expect, it } from "vitest"
import { TraceRecorder } from "../../src/inspector/recorder.ts"
import { defineSandbox, unchecked } from "../../src/mod.ts"
import type { TraceLine, WorkLine } from "../../src/trace/trace.ts"
import { counter, type Counter, World } from "../actors/world.ts"

function recording(world: World, definition: Counter) {
  const lines: TraceLine[] = []
  const onLine = (line: TraceLine): number => lines.push(line)
  const worker = new TraceRecorder({ source: "simulated", clock: world.time, onLine }).worker("w")
  const work = (): WorkLine[] => lines.filter((line): line is WorkLine => line.kind === "work")
  return { worker, sandbox: worker.sandbox(definition), work, lines }
}

const told = (lines: readonly WorkLine[]): string[] => lines.map(({ work, edge }) => `${work} ${edge}`)

describe("a recorded sandbox", () => {
  it("tells of each section under the lock key and the token of its lease, also of several keys at once", async () => {
    const world = new World()
    const { sandbox, work } = recording(world, counter({ run: async () => {} }))
    const manager = await world.manager("a", sandbox)
    for (const key of ["one", "two"]) await world.run(manager.use(sandbox, key, ({ n }) => n))
    const tokens = Object.fromEntries(
      [...manager.sandboxes()].map(({ key, lease }) => [`counter/${key}`, lease?.token]),
    )
    await world.end()
    for (const key of ["counter/one", "counter/two"]) {
      const mine = work().filter((line) => line.key === key)
      expect(new Set(mine.map(({ token }) => token))).toEqual(new Set([tokens[key]]))
      expect(told(mine)).toEqual([
        ...["restore began", "restore ended", "run began", "run ended"],
        ...["checkpoint began", "checkpoint ended", "close began", "close ended"],
      ])
      expect(mine.at(-1)!.reason).toBe(undefined)
      expect(mine.at(-2)!.reason).toBe("drain")
    }
  })

  it("joins each beginning with its own end", async () => {
    const world = new World()
    const { sandbox, work } = recording(world, counter({ run: (_, { clock }) => clock.sleep("1 h") }))
    const manager = await world.manager("a", sandbox)
    await world.run(manager.use(sandbox, "k", ({ n }) => n))
    await world.end()
    const run = work().filter((line) => line.work === "run")
    expect(told(run)).toEqual(["run began", "run failed"])
    expect(run[0]!.id).toBe(run[1]!.id)
    const others = work().filter((line) => line.work !== "run")
    expect(others.every(({ id }) => id !== run[0]!.id)).toBe(true)
  })

  // Tests traces: Recording changes nothing of what is recorded.
  it("tells what a hook throws, and lets it through", async () => {
    const world = new World()
    const restore = (): never => {
      throw new RangeError("no state")
    }
    const { sandbox, work } = recording(world, counter({ restore }))
    const manager = await world.manager("a", sandbox)
    expect(await world.failure(manager.restoreSandbox(sandbox, "k"))).toMatchObject({ message: "no state" })
    expect(told(work())).toEqual(["restore began", "restore failed"])
    expect(work()[1]!.error).toEqual({ tag: "RangeError", code: null, message: "no state" })
    await world.end()
  })

  it("tells no checkpoint and no close of a state that is no object: nobody knows whose it is", async () => {
    const world = new World()
    const plain = defineSandbox({ name: "n", schema: unchecked<number>(), restore: () => 7, checkpoint: (n) => n })
    const { sandbox, work } = recording(world, plain as unknown as Counter)
    const manager = await world.manager("a", sandbox)
    await world.run(manager.restoreSandbox(sandbox, "k"))
    await world.end()
    expect(told(work())).toEqual(["restore began", "restore ended"])
    expect(await world.run(manager.readCheckpoint(sandbox, "k").catch(() => 7))).toBe(7)
  })

  it("has uses that tell too, and give what they give", async () => {
    const world = new World()
    const { worker, sandbox, work } = recording(world, counter())
    const manager = await world.manager("a", sandbox)
    expect(
      await world.run(
        manager.use(
          sandbox,
          "k",
          worker.use((state: { n: number }) => ++state.n),
        ),
      ),
    ).toBe(1)
    const broken = worker.use(async () => Promise.reject(new TypeError("no")))
    expect(await world.failure(manager.use(sandbox, "k", broken))).toBeInstanceOf(TypeError)
    expect(told(work().filter((line) => line.work === "use"))).toEqual([
      ...["use began", "use ended", "use began", "use failed"],
    ])
    await world.end()
  })
})

describe("a recorded call", () => {
  it("tells how it settled, and settles so", async () => {
    const world = new World()
    const { worker, lines } = recording(world, counter())
    const asked = { call: "use", key: "k", budget: 5 } as const
    expect(await worker.call(asked, async () => 3)).toBe(3)
    await expect(worker.call({ call: "drain" }, () => Promise.reject(new RangeError("no")))).rejects.toThrow("no")
    expect(lines.map((line) => ({ ...line, at: 0 }))).toEqual([
      { kind: "call", at: 0, worker: "w", id: 1, ...asked, edge: "began" },
      { kind: "call", at: 0, worker: "w", id: 1, ...asked, edge: "ended" },
      { kind: "call", at: 0, worker: "w", id: 2, call: "drain", edge: "began" },
      {
        ...{ kind: "call", at: 0, worker: "w", id: 2, call: "drain", edge: "failed" },
        error: { tag: "RangeError", code: null, message: "no" },
      },
    ])
  })
})

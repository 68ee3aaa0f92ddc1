/** Fleets on a store whose time is that of a boot: machines with clocks of their own, and reboots, by scripts. */
import type { LockLine, TraceLine, WorkLine } from "leasehold/testing"
import { describe, expect, it } from "vitest"
import { inTurns, run } from "./scripted.ts"

const isAcquired = (line: TraceLine): line is LockLine => line.kind === "lock" && line.type === "Acquired"
const restored = (lines: readonly TraceLine[]): readonly WorkLine[] =>
  lines.filter((line): line is WorkLine => line.kind === "work" && line.work === "restore" && line.edge === "began")

describe("a fleet on a store whose time is that of a boot", () => {
  it("hands over from machine to machine, whose clocks know nothing of each other", async () => {
    const { lines } = await run({ script: [], workload: inTurns, store: "file" })
    expect(lines.filter(isAcquired).map(({ worker, how }) => `${worker} ${how}`)).toEqual([
      "a created",
      "b granted",
      "c granted",
    ])
  })

  it("takes over from a machine that was rebooted with a wrong clock only when its lease was over by any clock", async () => {
    const { lines, at } = await run({
      script: [{ at: 55_000, kind: "reboot", worker: "a", ms: 60_000, wall: 3_600_000 }],
      ...{ workload: inTurns, store: "file" },
    })
    const [, taken] = lines.filter(isAcquired)
    expect(taken).toMatchObject({ worker: "b", how: "takeover" })
    expect(at(taken!)).toBeGreaterThan(55_000 + 20_000)
  })

  it("ends all processes of a machine with it", async () => {
    const machines = ["m1", "m2", "m1"] as const
    const script = [{ at: 30_000, kind: "reboot", worker: "a", ms: 1000, wall: 0 }] as const
    const { lines } = await run({ script, workload: inTurns, store: "file", machines })
    const crashes = lines.flatMap((line) => (line.kind === "fault" && line.fault === "crash" ? [line.worker] : []))
    expect(crashes).toEqual(["a", "c"])
  })

  it("lets a worker that is stopped twice at once go on when the last stop is over, whichever came first", async () => {
    for (const [first, second] of [
      [20_000, 1000],
      [1000, 20_000],
    ] as const) {
      const { lines, at } = await run({
        script: [
          { at: 30_000, kind: "pause", worker: "a", ms: first },
          { at: 30_500, kind: "suspend", worker: "a", ms: second },
        ],
        ...{ workload: inTurns, store: "file" },
      })
      const resumed = lines.filter((line) => line.kind === "fault" && line.fault === "resume")
      expect(resumed.map(at)).toEqual([Math.max(30_000 + first, 30_500 + second)])
    }
  })

  it("suspends all processes of a machine with it", async () => {
    const machines = ["m1", "m2", "m1"] as const
    const script = [{ at: 30_000, kind: "suspend", worker: "c", ms: 1000 }] as const
    const { lines } = await run({ script, workload: inTurns, store: "file", machines })
    const asleep = lines.flatMap((line) => (line.kind === "fault" && line.fault === "suspend" ? [line.worker] : []))
    expect(new Set(asleep)).toEqual(new Set(["a", "c"]))
  })

  it("takes over from an owner that died though the clock of who watches it is set back meanwhile (seed 503513)", async () => {
    const { lines, at } = await run({
      script: [
        { at: 59_000, kind: "crash", worker: "a", ms: 120_000 },
        { at: 70_000, kind: "stepWall", worker: "b", ms: -275_000 },
      ],
      ...{ workload: inTurns, store: "file", bootless: ["b"] },
    })
    const taken = lines.filter(isAcquired).find(({ worker }) => worker === "b")!
    expect(taken.how).toBe("takeover")
    expect(at(taken)).toBeGreaterThan(60_000 + 20_000)
    expect(at(taken)).toBeLessThan(60_000 + 40_000)
  })

  // Tests simulations: Simulated workers may know only the last release's record; machines tell ended processes truly.
  it("takes over at once from an owner whose end its machine tells, and from one elsewhere by time", async () => {
    const script = [{ at: 59_000, kind: "crash", worker: "a", ms: 120_000 }] as const
    const taken = async (machines: readonly [string, string, string], oracles: boolean): Promise<number> => {
      const { lines, at } = await run({ script, workload: inTurns, store: "file", machines, oracles })
      const line = lines.filter(isAcquired).find(({ worker }) => worker === "b")!
      expect(line.how).toBe("takeover")
      expect(lines.some(({ kind }) => kind === "note")).toBe(oracles && machines[0] === machines[1])
      return at(line) - 60_000
    }
    expect(await taken(["m1", "m1", "m2"], true)).toBeLessThan(1000)
    expect(await taken(["m1", "m2", "m2"], true)).toBeGreaterThan(20_000)
    expect(await taken(["m1", "m1", "m2"], false)).toBeGreaterThan(20_000)
  })

  // Tests rule 12, rule 15: Without one exact clock every owner's token is in the head, and outgrows a deleted record.
  it("never goes back behind a token, though its record was deleted by hand and the clock set back", async () => {
    const { lines } = await run({
      script: [
        { at: 110_000, kind: "reboot", worker: "a", ms: 15_000, wall: -3_600_000 },
        { at: 112_000, kind: "deleteRecord", worker: null, key: "k1" },
      ],
      ...{ workload: inTurns, store: "file", machines: ["m1", "m1", "m1"] as const },
    })
    const tokens = restored(lines).map(({ worker, token }) => ({ worker, token }))
    expect(tokens.map(({ worker }) => worker).join("")).toContain("abc")
    expect(tokens).toEqual(tokens.toSorted((one, other) => one.token - other.token))
  })
})

/** Processes that are asked to leave, again and again. */
import type { CallLine, FaultLine, TimedFault, TraceLine, Workload } from "leasehold/testing"
import { describe, expect, it } from "vitest"
import { run } from "./scripted.ts"

const workload: Workload<{ n: number }, { n: number }> = async (world) => {
  await world.workers[0]?.use((state) => ++state.n, { contention: "retry" })
}

const drains = (lines: readonly TraceLine[]): readonly CallLine[] =>
  lines.filter((line): line is CallLine => line.kind === "call" && line.call === "drain" && line.worker === "a")
const faults = (lines: readonly TraceLine[], kind: string): readonly FaultLine[] =>
  lines.filter((line): line is FaultLine => line.kind === "fault" && line.fault === kind && line.worker === "a")

describe("a process that is asked to leave while it leaves already", () => {
  const script: readonly TimedFault[] = [
    { at: 20_000, kind: "slowHook", worker: "a", hook: "use", ms: 3000 },
    { at: 21_000, kind: "drain", worker: "a", ms: 1000 },
    { at: 22_000, kind: "drain", worker: "a", ms: 30_000 },
  ]

  it("goes on leaving, and isn't killed for it (seeds 500645, 503714, 504564, 504906)", async () => {
    const { lines } = await run({ script, workload })
    expect(faults(lines, "drain")).toHaveLength(1)
    const [began, ended] = drains(lines)
    expect(ended).toMatchObject({ id: began!.id, edge: "ended" })
    expect(faults(lines, "restart")).toHaveLength(1)
  })
})

import { describe, expect, it } from "vitest"
import { hostNow } from "../../examples/sqlite-workers/act-log.ts"
import type { News } from "../../examples/sqlite-workers/reports.ts"
import { stateText } from "../../examples/sqlite-workers/telling.ts"
import { Timeline } from "../../examples/sqlite-workers/timeline.ts"

/** The lines, without their times, of what is reported so many milliseconds from now. */
function told(...reports: readonly (readonly [number, string, News])[]): string[] {
  const printed: string[] = []
  const now = hostNow()
  const timeline = new Timeline("sqlite/k", (line) => printed.push(line))
  for (const [after, who, news] of reports) timeline.report(who, { at: now + after, ...news })
  timeline[Symbol.dispose]()
  return printed.map((line) => line.slice(8))
}

describe("the timeline", () => {
  it("shows the state, the owner and the token at each step, in the order of time", () => {
    const lease = { what: "lease", key: "sqlite/k" } as const
    expect(
      told(
        [50, "B", { ...lease, type: "Waiting", ownerId: "b", peerId: "a" }],
        [10, "A", { what: "state", key: "sqlite/k", state: "acquiring, trying" }],
        [20, "A", { ...lease, type: "Acquired", ownerId: "a", token: 17, detail: "created" }],
        [40, "B", { what: "state", key: "sqlite/k", state: "waiting, watching" }],
        [60, "A", { ...lease, type: "Granted", ownerId: "a", token: 17, peerId: "b", detail: "grant" }],
        [61, "A", { ...lease, type: "Released", ownerId: "a", token: 17, detail: "released" }],
        [70, "B", { ...lease, type: "Acquired", ownerId: "b", token: 18, detail: "granted" }],
        [80, "B", { ...lease, type: "Released", ownerId: "b", token: 18, detail: "released" }],
      ),
    ).toEqual([
      "A       acquiring, trying          -      -",
      "A       acquiring, trying          A      17             owns it (created)",
      "B       waiting, watching          A      17",
      "B       waiting, watching          A      17             waits for A to hand it over",
      "A       acquiring, trying          B      17             hands it to B (grant)",
      "A       acquiring, trying          B      17             gave it up (released)",
      "B       waiting, watching          B      18             owns it (granted)",
      "B       waiting, watching          -      18             gave it up (released)",
    ])
  })

  it("tells what happens to other sandboxes with their keys, and keeps their owners apart", () => {
    const other = {
      what: "lease",
      key: "sqlite/other",
      type: "Acquired",
      ownerId: "b",
      token: 5,
      detail: "free",
    } as const
    const own = { ...other, key: "sqlite/k", ownerId: "a", token: 17, detail: "created" } as const
    expect(
      told(
        [10, "A", own],
        [20, "B", other],
        [30, "A", { what: "drained", stuck: ["sqlite/k"] }],
        [40, "B", { what: "drained", stuck: [] }],
      ),
    ).toEqual([
      "A                                  A      17             owns it (created)",
      "B                                  B      5              [sqlite/other] owns it (free)",
      "A                                  A      17             has drained, but these are stuck: sqlite/k",
      "B                                  A      17             has drained",
    ])
  })

  it("says in words where a chart is", () => {
    expect(stateText({ acquiring: "trying" })).toBe("acquiring, trying")
    expect(stateText({ owning: { work: "running", lease: "healthy" } })).toBe("owning, running")
    expect(stateText({ handingOff: { work: "stuck", lease: "degraded" } })).toBe("handingOff, stuck, degraded")
  })
})

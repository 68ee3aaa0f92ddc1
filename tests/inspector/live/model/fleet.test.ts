// Pins the model of a fleet: what lines and messages make of it, what changes, and what it keeps.
import { beforeAll, describe, expect, it } from "vitest"
import { ERRORS_KEPT, Fleet, MOST_ROWS_EACH, RELEASED_KEPT } from "../../../../src/inspector/live/model/fleet.ts"
import { HANDOFFS_WITHIN, rowOf } from "../../../../src/inspector/live/model/live-row.ts"
import type { Hello } from "../../../../src/inspector/live/model/wire.ts"
import type { LockLine, StateLine, TraceLine } from "../../../../src/trace/trace.ts"
import { recorded, type Recording } from "../../scenario.ts"
import { row } from "../made.ts"

const hello: Hello = { version: 1, source: "live", now: 1000, actions: false, rows: 0, title: null }
const state = (key: string, value: StateLine["value"], at = 1000, more: Partial<StateLine> = {}): StateLine => ({
  ...{ kind: "state", at, worker: "a", key, value, token: null, ...more },
})
const lock = (key: string, type: LockLine["type"], more: Partial<LockLine> = {}): LockLine => ({
  ...{ kind: "lock", at: 1000, wall: 1000, worker: "a", key, type, ownerId: "a1", ...more },
})
const running = { owning: { work: "running", lease: "healthy" } } as const
const settling = { handingOff: { work: "settling", lease: "healthy" } } as const
const stuck = { handingOff: { work: "stuck", lease: "healthy" } } as const

function fleetOf(...lines: TraceLine[]): Fleet {
  const fleet = new Fleet()
  fleet.apply("hello", hello)
  fleet.apply("lines", { lines, left: 0 })
  return fleet
}

it("a worker with more sandboxes than a page is made for keeps nobody else's out", () => {
  const fleet = fleetOf()
  const many = Array.from({ length: MOST_ROWS_EACH + 1 }, (_, index) => row({ worker: "loud", key: `k${index}` }))
  fleet.apply("rows", many)
  fleet.apply("rows", [row({ worker: "other" })])
  expect(fleet.size).toBe(MOST_ROWS_EACH + 1)
})

describe("a fleet", () => {
  let recording: Recording
  beforeAll(async () => {
    recording = await recorded(7)
  })

  it("knows where a sandbox is, since when, and what it holds", () => {
    const fleet = fleetOf(
      state("k", { acquiring: "trying" }, 1000),
      lock("k", "Waiting", { at: 1100, owner: { ownerId: "b1", address: "http://b", token: 3, expiresAt: 9 } }),
      state("k", { waiting: "watching" }, 1100),
    )
    expect(fleet.find("a", "k")).toMatchObject({
      ...{ state: "waiting", since: 1100, ownedSince: null },
      owner: { ownerId: "b1", address: "http://b" },
    })
    // The worker's clock is 500 ms behind: a lease that ends at 31,500 of that ends at 32,000 by the lines'.
    fleet.line(lock("k", "Acquired", { at: 2000, wall: 1500, token: 7, deadline: 31_500, how: "granted" }))
    fleet.line(state("k", running, 2000, { token: 7 }))
    expect(fleet.find("a", "k")).toMatchObject({
      ...{ state: "owning", since: 2000, ownedSince: 2000, token: 7, deadline: 32_000, owner: null, handoffs: 1 },
      lastEdge: "waiting.watching>owning.work.running",
    })
    fleet.line(lock("k", "ReleaseRequested", { at: 3000, token: 7, waiterId: "b1" }))
    fleet.line(state("k", settling, 3000, { token: 7, leaving: "handoff" }))
    expect(fleet.find("a", "k")).toMatchObject({
      ...{ state: "handingOff", since: 3000, ownedSince: 2000, waiterId: "b1", leaving: "handoff" },
    })
    fleet.line(lock("k", "Released", { at: 3100, token: 7 }))
    fleet.line(state("k", { released: "handedOff" }, 3100, { token: 7 }))
    expect(fleet.find("a", "k")).toMatchObject({ state: "released", ownedSince: null, deadline: null, waiterId: null })
  })

  it("counts states, and steps of each sandbox", () => {
    const fleet = fleetOf(state("k", running), state("l", running), state("k", settling), state("k", running))
    expect(fleet.counts).toEqual({ acquiring: 0, waiting: 0, owning: 2, handingOff: 0, released: 0 })
    fleet.line(state("k", settling))
    expect(fleet.counts).toMatchObject({ owning: 1, handingOff: 1 })
    expect(fleet.find("a", "k")?.edges).toEqual({
      "owning.work.running>handingOff.work.settling": 2,
      "handingOff.work.settling>owning.work.running": 1,
    })
  })

  it("names the hook that hangs: of the open sections the oldest that isn't run", () => {
    const work = { kind: "work", at: 1, worker: "a", key: "k", token: 1, edge: "began" } as const
    const fleet = fleetOf(
      state("k", running),
      { ...work, id: 1, work: "run" },
      { ...work, id: 2, work: "use" },
      { ...work, id: 2, work: "use", edge: "ended" },
      { ...work, id: 3, work: "checkpoint" },
      state("k", stuck),
    )
    expect(fleet.find("a", "k")?.stuck).toBe("checkpoint")
    fleet.line(state("k", settling))
    expect(fleet.find("a", "k")?.stuck).toBeNull()
  })

  it("lets changes of hands count for five minutes", () => {
    const fleet = fleetOf(state("k", running), lock("k", "Acquired", { token: 1, how: "takeover" }))
    fleet.tick(1000 + HANDOFFS_WITHIN)
    expect(fleet.find("a", "k")?.handoffs).toBe(1)
    fleet.takeChanges()
    fleet.tick(1001 + HANDOFFS_WITHIN)
    expect(fleet.find("a", "k")?.handoffs).toBe(0)
    expect([...fleet.takeChanges().rows].map(({ key }) => key)).toEqual(["k"])
  })

  it("lets changes of hands that a row tells of count from when it comes, however long ago the stream began", () => {
    const fleet = fleetOf()
    fleet.tick(1000 + 10 * HANDOFFS_WITHIN)
    fleet.apply("rows", [row({ key: "k", handoffs: 8 })])
    fleet.tick(2000 + 10 * HANDOFFS_WITHIN)
    expect(fleet.find("a", "k")?.handoffs).toBe(8)
  })

  it("tells what has changed since it was asked last, once", () => {
    const fleet = fleetOf(state("k", running))
    expect(fleet.takeChanges()).toMatchObject({ all: true, workers: true })
    fleet.line(state("l", running))
    fleet.line({ kind: "note", at: 1, worker: "a", note: "n" })
    const { all, rows, gone } = fleet.takeChanges()
    expect([all, [...rows].map(({ key }) => key), [...gone]]).toEqual([false, ["l"], []])
    expect(fleet.takeChanges().rows.size).toBe(0)
  })

  it("gives the slots of forgotten rows to others", () => {
    const fleet = fleetOf(state("k", running), { ...state("m", running), worker: "b" })
    const { slot } = fleet.find("a", "k")!
    fleet.takeChanges()
    fleet.apply("forget", { workers: ["a"] })
    expect([...fleet.takeChanges().gone].map(({ key }) => key)).toEqual(["k"])
    expect([fleet.size, fleet.counts.owning, fleet.slots[slot]]).toEqual([1, 1, undefined])
    fleet.line(state("n", running))
    expect(fleet.slots[slot]?.key).toBe("n")
  })

  it("keeps the last of the released and of the errors, and no more", () => {
    const error = { tag: "E", code: null, message: "m" }
    const fleet = fleetOf()
    for (let n = 0; n < RELEASED_KEPT + 10; n++) {
      fleet.line(state(`k${n}`, { released: "clean" }))
      fleet.line(state(`k${n}`, { released: "clean" }, n, { error: { ...error, message: `${n}` } }))
    }
    expect([fleet.size, fleet.counts.released]).toEqual([RELEASED_KEPT, RELEASED_KEPT])
    expect(fleet.find("a", "k9")).toBeUndefined()
    expect(fleet.errors).toHaveLength(ERRORS_KEPT)
    expect(fleet.errors.at(-1)).toMatchObject({ key: `k${RELEASED_KEPT + 9}` })
  })

  it("gives as rows what another fleet makes the same of", () => {
    const fleet = new Fleet()
    for (const line of recording.lines) fleet.line(line)
    const copy = new Fleet()
    copy.apply("hello", hello)
    copy.apply("rows", [...fleet.rows()].map(rowOf))
    copy.apply("workers", [...fleet.workers.values()])
    expect([...copy.rows()].map(rowOf)).toEqual([...fleet.rows()].map(rowOf))
    expect(copy.counts).toEqual(fleet.counts)
    expect(fleet.size).toBeGreaterThan(1)
  })

  it("counts of a recorded trace what its workers did, as a manager counts it", () => {
    const fleet = new Fleet()
    const { lines } = recording
    for (const line of lines) fleet.line(line)
    const renewed = lines.filter((line) => line.kind === "lock" && /^Re(newed|covered)$/.test(line.type))
    const told = [...fleet.workers.values()].map(({ stats }) => stats["renewals"] ?? 0)
    expect(told.reduce((sum, count) => sum + count, 0)).toBe(renewed.length)
    expect(renewed.length).toBeGreaterThan(0)
  })

  it("takes lines of kinds that it doesn't know for nothing", () => {
    const fleet = fleetOf()
    fleet.line({ kind: "weather", worker: "a", key: "k" })
    expect(fleet.size).toBe(0)
  })
})

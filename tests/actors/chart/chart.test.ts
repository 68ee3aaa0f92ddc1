import { describe, expect, it } from "vitest"
import { createActor, initialTransition, transition } from "xstate"
import { getShortestPaths } from "xstate/graph"
import { sandboxChart } from "../../../src/actors/chart/chart.ts"
import type { ChartEvent } from "../../../src/actors/chart/types.ts"
import {
  allEvents,
  chartKeyOf,
  limitsOf,
  healthOf,
  keyOf,
  leafOf,
  silence,
  told,
  walk,
  type Step,
} from "../chart-walk.ts"

const inputs = [{ key: "k" }, { key: "k", backOff: 1000 }, { key: "k", purpose: "remove" }] as const
const steps = inputs.flatMap(walk)
const places = [...new Map(steps.flatMap(({ from, to }) => [from, to]).map((place) => [keyOf(place), place])).values()]
const into = (leaf: string): readonly Step[] =>
  steps.filter(({ from, to }) => leafOf(to.snapshot) === leaf && leafOf(from.snapshot) !== leaf)
const withCommand = (command: string): readonly Step[] => steps.filter(({ commands }) => commands.includes(command))
const owned = ({ snapshot }: Step["to"]): boolean => healthOf(snapshot) !== undefined

/** All that the chart draws: each transition of each state, without the eventless ones. */
const drawn = new Set(nodesOf(sandboxChart.root).flatMap((node) => [...node.transitions.values()].flat()))
function nodesOf(node: typeof sandboxChart.root): readonly (typeof sandboxChart.root)[] {
  return [node, ...Object.values(node.states).flatMap(nodesOf)]
}

describe("the sandbox chart, walked", () => {
  it("reaches every state and takes every transition that it draws", () => {
    const leaves = nodesOf(sandboxChart.root).filter(({ type }) => type === "atomic" || type === "final")
    const reached = new Set(places.flatMap(({ snapshot }) => snapshot._nodes))
    const start = sandboxChart.getStateNodeById("sandbox.acquiring.beginning")
    expect(leaves.filter((leaf) => leaf !== start && !reached.has(leaf)).map(({ id }) => id)).toEqual([])
    const taken = new Set(steps.flatMap(({ from, event }) => sandboxChart.getTransitionData(from.snapshot, event)))
    const missed = [...drawn].filter((one) => !taken.has(one))
    expect(missed.map(({ eventType, source }) => [source.id, eventType])).toEqual([])
  })

  // Tests chart: Every effect ends in one event, none is started twice, and no event in any state throws.
  it("handles every event in every state, also those that should not come, without an error", () => {
    const events: readonly ChartEvent[] = [...allEvents, { type: "nonsense" } as unknown as ChartEvent]
    const snapshots = new Map(places.map(({ snapshot }) => [chartKeyOf(snapshot), snapshot]))
    const outcomes = [...snapshots.values()].flatMap((snapshot) =>
      events.map((event) => transition(sandboxChart, snapshot, event)[0].status),
    )
    expect(outcomes.length).toBeGreaterThan(1000)
    expect(outcomes.filter((status) => status === "error")).toEqual([])
  })

  // Tests input: The chart is done where it is released; a late observer gets the last snapshot and completes.
  it("is done where it is released, and nowhere else", () => {
    const ends = places.filter(({ snapshot }) => "released" in snapshot.value)
    expect(new Set(ends.map(({ snapshot }) => leafOf(snapshot))).size).toBe(7)
    expect(new Set(ends.map(({ snapshot }) => snapshot.status))).toEqual(new Set(["done"]))
    const others = places.filter(({ snapshot }) => !("released" in snapshot.value))
    expect(new Set(others.map(({ snapshot }) => snapshot.status))).toEqual(new Set(["active"]))
  })

  it("is done as an actor too, with commands of one's own, and says how", () => {
    const actor = createActor(sandboxChart.provide({ actions: { acquire: () => {} } }), { input: { key: "k" } })
    let completed = false
    actor.subscribe({ complete: () => void (completed = true) })
    actor.start()
    actor.send({ type: "lock.refused", how: "contended", error: new Error("as scripted") })
    expect(actor.getSnapshot()).toMatchObject({ status: "done", value: { released: "contended" } })
    expect(actor.getSnapshot().matches({ released: "contended" })).toBe(true)
    expect(completed).toBe(true)
  })

  // Tests chart: The lease is renewed in owning and handingOff, and its health carries over.
  it("(a) renews the lease in owning and in handingOff, and keeps how it does from one to the other", () => {
    const parts = places.filter(({ snapshot }) => /^(owning|handingOff)/.test(leafOf(snapshot)))
    expect(parts.filter((place) => !owned(place))).toEqual([])
    expect(parts.filter(({ snapshot }) => healthOf(snapshot) !== snapshot.context.lease)).toEqual([])
    const moves = steps.filter((step) => owned(step.from) && owned(step.to))
    const changes = moves.filter(({ from, to }) => healthOf(from.snapshot) !== healthOf(to.snapshot))
    const names = new Set(changes.map(({ event }) => event.type))
    expect([...names].toSorted()).toEqual(["lock.degraded", "lock.recovered", "lock.suspect"])
    const leaving = moves.filter(({ from, to }) => "owning" in from.snapshot.value && "handingOff" in to.snapshot.value)
    expect(new Set(leaving.map(({ to }) => healthOf(to.snapshot)))).toEqual(new Set(["healthy", "degraded", "suspect"]))
  })

  // Tests chart: `releasing` comes only after settled work and its checkpoint, stored or reported failed.
  it("(b) releases only what has settled and is closed, its checkpoint stored, or failed for good and reported", () => {
    const releases = withCommand("release")
    expect(releases.length).toBeGreaterThan(10)
    expect(releases.filter(({ to }) => to.runtime.effects.some((effect) => effect !== "release")).map(told)).toEqual([])
    expect(releases.filter(({ to }) => to.runtime.open).map(told)).toEqual([])
    expect(releases.filter(({ to }) => to.runtime.goesOn.length > 0).map(told)).toEqual([])
    const unsaved = releases.filter(({ to }) => to.snapshot.context.saved !== "stored")
    const harmless = ({ from, to }: Step): boolean => to.runtime.reported || !from.runtime.open
    expect(unsaved.filter((step) => !harmless(step)).map(told)).toEqual([])
    expect(
      into("handingOff.releasing")
        .filter(({ from }) => leafOf(from.snapshot) === "owning.running")
        .map(told),
    ).toEqual([])
  })

  // Tests chart: Work that ignores the abort is `stuck`: drawn, reported, and renewed until it settles.
  it("(b) keeps the lease of a hook that ran over its limit, and begins nothing else, until it has ended", () => {
    const overran = steps.filter(({ from, to }) => to.runtime.goesOn.length > from.runtime.goesOn.length)
    const begins = overran.map(({ from, to }) => `${leafOf(from.snapshot)} -> ${leafOf(to.snapshot)}`)
    expect(new Set(begins)).toEqual(
      new Set(["owning.restoring -> handingOff.settling", "handingOff.checkpointing -> handingOff.settling"]),
    )
    const waiting = new Set(["handingOff.settling", "handingOff.stuck", "released.lost"])
    const after = steps.filter(({ to }) => to.runtime.goesOn.length > 0)
    expect(after.filter(({ to }) => !waiting.has(leafOf(to.snapshot))).map(told)).toEqual([])
  })

  // Tests chart: Nothing is saved of work that hasn't settled.
  it("(b) never saves what has not settled", () => {
    const saves = withCommand("checkpoint")
    expect(saves.length).toBeGreaterThan(5)
    expect(saves.filter(({ to }) => to.runtime.effects.some((effect) => effect !== "checkpoint")).map(told)).toEqual([])
  })

  it("(b) calls work that ignores the abort stuck, and keeps its lease until it settles", () => {
    const stuck = into("handingOff.stuck")
    expect(stuck.length).toBeGreaterThan(0)
    expect(stuck.filter(({ commands }) => !commands.includes("reportStuck")).map(told)).toEqual([])
    expect(stuck.filter(({ to }) => !to.runtime.aborted && leafOf(to.snapshot) === "handingOff.settling")).toEqual([])
    const exits = steps.filter(
      ({ from, to }) => leafOf(from.snapshot) === "handingOff.stuck" && leafOf(to.snapshot) !== "handingOff.stuck",
    )
    expect(new Set(exits.map(({ event }) => event.type))).toEqual(
      new Set(["work.queued", "work.settled", "work.closed", "lock.lost"]),
    )
  })

  // Tests chart: Loss aborts the work, and nothing is saved or released after it.
  it("(c) aborts the work on loss, saves nothing and releases nothing from then on", () => {
    const losses = steps.filter(({ event, from }) => event.type === "lock.lost" && owned(from))
    expect(losses.length).toBeGreaterThan(10)
    expect(losses.filter(({ to }) => leafOf(to.snapshot) !== "released.lost").map(told)).toEqual([])
    expect(new Set(losses.map(({ commands }) => commands.join()))).toEqual(new Set(["abortWork,abandon"]))
    const ends = allEvents.map((event) => transition(sandboxChart, losses[0]!.to.snapshot, event))
    expect(ends.filter(([snapshot, actions]) => leafOf(snapshot) !== "released.lost" || actions.length > 0)).toEqual([])
  })

  // Tests chart: Leaving asked for while restoring is honoured after it, without running.
  it("(d) honours a handoff asked for while restoring after it, without running", () => {
    const asked = steps.filter(
      ({ event, from }) => event.type === "lock.releaseRequested" && leafOf(from.snapshot) === "owning.restoring",
    )
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.filter(({ to }) => leafOf(to.snapshot) !== "owning.restoring" || !to.runtime.aborted)).toEqual([])
    for (const { to } of asked) {
      const [next, actions] = transition(sandboxChart, to.snapshot, { type: "work.restored", token: 9 })
      expect(leafOf(next)).toBe("handingOff.checkpointing")
      expect(next.context).toMatchObject({ token: 9 })
      expect(actions.map(({ type }) => type)).not.toContain("run")
    }
  })

  it("(e) gives each effect one event to end in, and starts none twice", () => {
    const twice = places.filter(({ runtime }) => new Set(runtime.effects).size !== runtime.effects.length)
    expect(twice).toEqual([])
    const mute = places.filter(({ runtime, snapshot }) => {
      const leaf = leafOf(snapshot)
      return runtime.effects.length === 0 && !leaf.startsWith("released.") && !leaf.endsWith("running")
    })
    expect(mute.map(({ snapshot }) => snapshot.value)).toEqual([])
  })

  // Tests chart: Every state that waits has a deadline or a way out, but for `stuck` and `queued`.
  it("(f) gives every state that waits a deadline, or a way out for a hook past its limit, but for stuck work and the queue", () => {
    const open = places.filter(({ snapshot }) => limitsOf(snapshot).length === 0)
    const waiting = new Set(
      open.map(({ snapshot }) => leafOf(snapshot)).filter((leaf) => !leaf.startsWith("released.")),
    )
    expect(waiting).toEqual(new Set(["owning.running", "handingOff.stuck", "handingOff.queued"]))
  })

  // Tests chart: Every state that waits says for what and for how long.
  it("(f) says of every state that waits what it waits for, and for how long", () => {
    const leaves = nodesOf(sandboxChart.root).filter(({ type, parent }) => type === "atomic" && parent?.key !== "lease")
    const waiting = leaves.filter(({ always }) => always === undefined || always.length === 0)
    expect(waiting.length).toBe(11)
    const mute = waiting.filter(({ description = "" }) => !/Waits\b.*(for as long|at most|limit)/.test(description))
    expect(mute.map(({ id, description }) => [id, description])).toEqual([])
  })

  it("(f) comes to an end by deadlines alone when nothing is ever heard again", () => {
    const ends = new Set(places.map(silence))
    expect([...ends].filter((leaf) => !/^released|^owning.running$|^handingOff.(stuck|queued)$/.test(leaf))).toEqual([])
    const acquiring = places.filter(({ snapshot }) => /^(acquiring|waiting)/.test(leafOf(snapshot)))
    expect(new Set(acquiring.map(silence))).toEqual(new Set(["released.timedOut", "released.cancelled"]))
  })

  it("keeps the reason of the first request to leave and the first failure", () => {
    const [snapshot] = initialTransition(sandboxChart, { key: "k" })
    const run = (events: readonly ChartEvent[]) =>
      events.reduce((now, event) => transition(sandboxChart, now, event)[0], snapshot).context
    const running: readonly ChartEvent[] = [
      { type: "lock.acquired", token: 1 },
      { type: "work.restored", token: 2 },
    ]
    const left = run([...running, { type: "lock.releaseRequested" }, { type: "leave", reason: "drain" }])
    expect(left).toMatchObject({ leaving: "handoff", token: 2 })
    const first = new Error("run")
    const late = new Error("late")
    const broken = run([
      ...running,
      { type: "work.failed", error: first },
      { type: "work.settled" },
      { type: "checkpoint.failed", error: late },
    ])
    expect(broken.failure).toEqual({ during: "run", error: first })
  })
})

describe("the sandbox chart in XState's own tools", () => {
  it("is data: its definition survives JSON", () => {
    const text = JSON.stringify(sandboxChart)
    expect(JSON.parse(text)).toMatchObject({ id: "sandbox", initial: { target: ["#sandbox.acquiring"] } })
    for (const command of ["acquire", "restore", "abortWork", "checkpoint", "close", "release"]) {
      expect(text).toContain(`"${command}"`)
    }
  })

  it("is explored by xstate/graph to every end", () => {
    const paths = getShortestPaths(sandboxChart, {
      input: { key: "k" },
      events: [...allEvents],
      limit: 100_000,
      serializeState: (snapshot) => JSON.stringify([snapshot.value, snapshot.context.leaving, snapshot.context.closed]),
    })
    const ends = new Set(paths.map(({ state }) => leafOf(state)).filter((leaf) => leaf.startsWith("released.")))
    expect(ends.size).toBe(7)
  })
})

/** Which parts of the chart runs come to: how it is told, and that what no fleet comes to is out of its reach. */
import { describe, expect, it } from "vitest"
import { SandboxManager } from "../../../../src/actors/manager/manager.ts"
import { TraceRecorder } from "../../../../src/inspector/recorder.ts"
import { LockCancelledError } from "../../../../src/locks/api/errors.ts"
import type { Lock } from "../../../../src/locks/api/lock.ts"
import { StoreLock } from "../../../../src/locks/lock/store-lock.ts"
import { VirtualHost } from "../../../../src/runtime/time/virtual-host.ts"
import { VirtualTime } from "../../../../src/runtime/time/virtual-time.ts"
import { Draw } from "../../../../src/testing/simulate/plan/draw.ts"
import { ChartCoverage, chartParts, outOfReach } from "../../../../src/testing/simulate/report/coverage.ts"
import { SimulatedConnection } from "../../../../src/testing/simulated-store/connection.ts"
import { SimulatedStore } from "../../../../src/testing/simulated-store/store.ts"
import type { StateLine, TraceLine } from "../../../../src/trace/trace.ts"
import { counter } from "../../../actors/world.ts"
import { failure } from "../../../support/lock-world.ts"

const state = (worker: string, value: StateLine["value"], key = "k"): StateLine => ({
  ...{ kind: "state", at: 0, worker, key, value, token: null },
})
const owning = (work: "restoring" | "running", lease: "healthy" | "degraded" = "healthy"): StateLine["value"] => ({
  owning: { work, lease },
})

describe("the coverage of a chart", () => {
  // Tests simulations: Simulations come to every state and transition of the chart, but for those shown out of reach.
  it("knows every state that is one, and every transition that shows, but those out of reach", () => {
    expect(chartParts).toContain("handingOff.work.stuck")
    expect(chartParts).toContain("owning.work.restoring -> owning.work.running")
    expect(chartParts).toContain("owning -> released.lost")
    expect(chartParts.filter((name) => outOfReach.has(name))).toEqual([])
    expect(chartParts).not.toContain("owning")
    expect(chartParts).not.toContain("acquiring.beginning") // left at once
    expect(chartParts).not.toContain("owning.work.restoring -> owning.work.restoring")
    expect(new Set(chartParts).size).toBe(chartParts.length)
  })

  it("tells a state where it is come to, and the way there from the state before", () => {
    const coverage = new ChartCoverage()
    expect(coverage.reached(state("a", { acquiring: "trying" }))).toEqual(["acquiring.trying"])
    expect(coverage.reached(state("a", owning("restoring")))).toEqual([
      ...["owning.lease.healthy", "owning.work.restoring", "acquiring.trying -> owning"],
    ])
    expect(coverage.reached(state("a", owning("restoring", "degraded")))).toEqual([
      ...["owning.lease.degraded", "owning.work.restoring", "owning.lease.healthy -> owning.lease.degraded"],
    ])
    expect(coverage.reached(state("a", { released: "lost" }))).toEqual(["released.lost", "owning -> released.lost"])
  })

  it("tells no way where a state is only told again, and none from another worker's state, or another key's", () => {
    const coverage = new ChartCoverage()
    coverage.reached(state("a", owning("restoring")))
    for (const again of [
      state("a", owning("restoring")),
      state("b", owning("running")),
      state("a", owning("running"), "l"),
    ])
      expect(coverage.reached(again).filter((name) => name.includes("->"))).toEqual([])
  })

  it("names only parts of the chart", () => {
    const coverage = new ChartCoverage()
    const told = [
      owning("restoring"),
      owning("running"),
      { handingOff: { work: "settling", lease: "healthy" } } as const,
    ]
    for (const value of told) for (const name of coverage.reached(state("a", value))) expect(chartParts).toContain(name)
  })
})

/** One process, or two of which the other owns the key first, on a simulated store; what its chart comes to. */
class World {
  readonly time = new VirtualTime()
  readonly store = new SimulatedStore({ time: this.time, chance: new Draw(1), profile: "exact" })
  readonly sandbox = counter()
  readonly ways = new Set<string>()
  /** At which times the process under test was answered, or set to work. */
  readonly moments = new Set<number>()
  readonly host = new VirtualHost(this.time, { name: "a" })
  readonly #coverage = new ChartCoverage()
  readonly #recorder = new TraceRecorder({ source: "simulated", clock: this.time, onLine: (line) => this.#note(line) })

  /** A manager, of the lock that is given, or of one of ours. */
  manager(name: string, alter?: (lock: StoreLock) => Lock): Promise<SandboxManager> {
    const worker = this.#recorder.worker(name)
    const clock = name === "a" ? this.host : new VirtualHost(this.time, { name })
    const store = worker.store(new SimulatedConnection(this.store, name, clock))
    const incarnation = { id: name }
    const locks =
      alter === undefined
        ? { store, incarnation }
        : {
            checkpoints: store,
            lockFactory: (key: string) => alter(new StoreLock(key, { store, clock, incarnation })),
          }
    const { sandbox } = this
    const { inspect } = worker
    return this.time.runUntil(
      SandboxManager.start({ ...locks, clock, sandboxes: [sandbox], inspect, minTenure: 0, onError: () => {} }),
    )
  }

  #note(line: TraceLine): void {
    if (line.kind === "fault" || line.kind === "applied" || line.worker !== "a") return
    this.moments.add(this.time.mono())
    if (line.kind !== "state") return
    for (const name of this.#coverage.reached(line)) if (name.includes("->")) this.ways.add(name)
  }
}

const cancelled = new LockCancelledError({ key: "counter/k", message: "m", next: "n" })

describe("what no fleet comes to is come to otherwise:", () => {
  it.each(["trying", "watching"])("a lock that cancels by itself ends a sandbox in %s", async (where) => {
    const world = new World()
    const { time, sandbox, ways } = world
    if (where === "watching") await time.runUntil((await world.manager("b")).restoreSandbox(sandbox, "k"))
    const manager = await world.manager("a", (lock) => {
      const cancels = Promise.withResolvers<never>()
      lock.events$.subscribe(({ type }) => type === "Waiting" && cancels.reject(cancelled))
      const acquire = lock.acquire.bind(lock)
      const value = () => (where === "trying" ? Promise.reject(cancelled) : Promise.race([acquire(), cancels.promise]))
      return Object.defineProperty(lock, "acquire", { value })
    })
    await time.runUntil(failure(manager.restoreSandbox(sandbox, "k")))
    expect([...ways]).toContain(`${where === "trying" ? "acquiring" : "waiting"}.${where} -> released.cancelled`)
  })

  // Tests simulations.
  it("a lock that keeps nobody's time is cancelled by the chart, for a call that would wait longer", async () => {
    const world = new World()
    const { time, sandbox, ways } = world
    const manager = await world.manager("a", (lock) =>
      Object.defineProperty(lock, "acquire", {
        value: ({ signal }: { readonly signal: AbortSignal }) =>
          new Promise((_, reject) => signal.addEventListener("abort", () => reject(cancelled))),
      }),
    )
    const first = failure(manager.restoreSandbox(sandbox, "k", { timeout: "1 s" }))
    const second = failure(manager.restoreSandbox(sandbox, "k", { timeout: "5 min" }))
    await time.runUntil(Promise.all([first, second]))
    expect([...ways]).toContain("acquiring.reconciling -> released.timedOut")
  })

  it("a process that begins to drain in the turn in which the lock settles has the lease released", async () => {
    const world = new World()
    const { time, sandbox, ways } = world
    const manager = await world.manager("a")
    manager.events$.subscribe(({ type }) => type === "Acquired" && void manager.drain())
    await time.runUntil(failure(manager.restoreSandbox(sandbox, "k")))
    await time.advance(1000)
    expect([...ways]).toContain("acquiring.reconciling -> handingOff.work.releasing")
    const other = await world.manager("b")
    await time.runUntil(other.restoreSandbox(sandbox, "k", { timeout: 0 }))
  })
})

/** What happens to the process in a turn of its own, after so many turns at a time. */
interface Blow {
  readonly what: "gives up" | "stops"
  readonly at: number
  readonly turns: number
}

async function underBlow(
  isOwned: boolean,
  blow?: Blow,
): Promise<{ readonly moments: readonly number[]; readonly ways: ReadonlySet<string> }> {
  const world = new World()
  const { time, sandbox, host } = world
  if (isOwned) await time.runUntil((await world.manager("b")).restoreSandbox(sandbox, "k"))
  const manager = await world.manager("a")
  const caller = new AbortController()
  world.moments.clear()
  const strike = (turns: number): void => {
    if (turns > 0) return void time.after(0, () => strike(turns - 1))
    if (blow?.what === "gives up") return caller.abort()
    host.pause()
    time.after(60_000, () => host.resume())
  }
  if (blow !== undefined) time.after(blow.at - time.mono(), () => strike(blow.turns))
  const call = manager.restoreSandbox(sandbox, "k", { timeout: "4 s", signal: caller.signal })
  await time.runUntil(call.catch(() => {}))
  const moments = [...world.moments]
  await time.advance(blow?.what === "stops" ? 80_000 : 20_000)
  return { moments, ways: world.ways }
}

describe("a lock of ours", () => {
  it.each([
    ["free", false],
    ["owned", true],
  ])(
    "leads to none of it, in whatever turn its caller gives up or its process stops, while the key is %s",
    async (_, isOwned) => {
      const { moments } = await underBlow(isOwned)
      const ways = new Set<string>()
      for (const at of moments)
        for (const what of ["gives up", "stops"] as const)
          for (const turns of [0, 1, 2])
            for (const way of (await underBlow(isOwned, { what, at, turns })).ways) ways.add(way)
      expect([...ways].filter((way) => outOfReach.has(way))).toEqual([])
      expect(ways).toContain("acquiring.reconciling -> released.cancelled")
      expect(ways).toContain(isOwned ? "waiting.watching -> acquiring.reconciling" : "acquiring.trying -> owning")
    },
  )
})

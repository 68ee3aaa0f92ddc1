/**
 * A simulated fleet: runs one plan from its first process to the quiet after its last fault. Owns the order of a run:
 * begin, faults and workload side by side, heal, what the workload checks afterwards, drain, and that nothing is left.
 *
 * Not promised: to judge what the trace tells. That is done by the judges, which get its lines.
 */
import type { SandboxDefinition } from "../../../actors/api/sandbox.ts"
import { TraceRecorder } from "../../../inspector/recorder.ts"
import { InvalidConfigError } from "../../../locks/api/errors.ts"
import { sleep } from "../../../runtime/time/sleep.ts"
import { VirtualTime } from "../../../runtime/time/virtual-time.ts"
import { appliedWrite } from "../../../trace/applied.ts"
import type { TraceLine } from "../../../trace/trace.ts"
import { SimulatedConnection } from "../../simulated-store/connection.ts"
import type { StoreFault } from "../../simulated-store/faults.ts"
import { SimulatedStore } from "../../simulated-store/store.ts"
import { Machine } from "../machines/machine.ts"
import { Draw } from "../plan/draw.ts"
import { type Fault, isOfStore, type Plan, type PlannedWorker, type TimedFault } from "../plan/plan.ts"
import { describe, isExpected } from "./expected.ts"
import { Intruders, type Intrusion, isIntrusion, isOperation } from "./intruders.ts"
import { Member } from "./member.ts"
import { Moments } from "./moments.ts"
import type { SimulatedWorker, SimulatedWorld, Workload } from "./world.ts"

/** What a run is made of beside its plan. */
export interface SimulatedFleetParts<S, C> {
  readonly sandbox: SandboxDefinition<S, C>
  /** What has saved each key once when the run begins. */
  readonly former: SandboxDefinition<S, C> | undefined
  readonly workload: Workload<S, C>
  /** Called once when all faults are over and the fleet is calm. */
  readonly afterwards: Workload<S, C> | undefined
  /** What a call may wait where it doesn't say, in milliseconds. */
  readonly budget: number
  /** Gets every line of the trace. */
  readonly onLine: (line: TraceLine) => void
  /** The run has failed, for a reason that isn't in the trace. */
  readonly onFailure: (what: string, message: string) => void
}

/** How long everything is left in peace after the last process has left, in milliseconds: every wait ends in it. */
const calm = 60_000

/** After so long without faults whatever hasn't settled never will, in milliseconds. */
const patience = 900_000

/**
 * Runs a plan to its end: settles with how long it took, in simulated milliseconds. What it leaves behind it tells.
 * Rejects with InvalidConfigError where the managers refuse their options.
 */
export function runFleet<S, C>(plan: Plan, parts: SimulatedFleetParts<S, C>): Promise<number> {
  return new SimulatedFleet(plan, parts).run()
}

class SimulatedFleet<S, C> {
  readonly #plan: Plan
  readonly #parts: SimulatedFleetParts<S, C>
  readonly #time: VirtualTime
  readonly #recorder: TraceRecorder
  readonly #store: SimulatedStore
  readonly #intruders: Intruders
  readonly #members: ReadonlyMap<string, Member<S, C>>
  readonly #world: SimulatedWorld<S, C>
  readonly #moments = new Moments()
  /** When the run began. */
  #epoch: number
  #isOver = false
  /** Why no process can start. */
  #refusal: InvalidConfigError | undefined

  constructor(plan: Plan, parts: SimulatedFleetParts<S, C>) {
    const { seed } = plan
    this.#plan = plan
    this.#parts = parts
    this.#time = new VirtualTime({ seed, maxSteps: 50_000_000 })
    this.#epoch = this.#time.mono()
    this.#recorder = new TraceRecorder({
      source: "simulated",
      seed,
      clock: this.#time,
      onLine: (line) => this.#tell(line),
    })
    this.#store = new SimulatedStore({
      ...plan.store,
      time: this.#time,
      chance: new Draw(seed, "store"),
      onApplied: (write) => this.#recorder.applied(appliedWrite(write)),
    })
    this.#intruders = new Intruders({
      ...{ sandbox: parts.sandbox.name, seed, time: this.#time, store: this.#store, recorder: this.#recorder },
    })
    const clocks = Object.entries(plan.workers)
    const machines = new Map(clocks.map(([, { machine }]) => [machine, new Machine(machine, this.#time)]))
    this.#members = new Map(
      clocks.map(([name, clock]) => [name, this.#member(name, clock, machines.get(clock.machine)!)]),
    )
    this.#world = this.#makeWorld()
  }

  async run(): Promise<number> {
    const time = this.#time
    if (this.#parts.former !== undefined) await time.runUntil(this.#precede(this.#parts.former))
    this.#epoch = time.mono()
    for (const member of this.#members.values()) this.#start(member)
    for (const fault of this.#plan.faults) time.after(fault.at, () => this.#due(fault))
    const clients = Array.from(this.#members.keys(), (name) => this.#client(name))
    await time.advance(this.#plan.duration)
    if (this.#refusal !== undefined) throw this.#refusal
    this.#heal()
    await this.#within(Promise.all(clients), "a call of the workload")
    // An owner whose record was deleted by hand finds out when it renews, at the latest.
    if (this.#plan.faults.some(isOperation)) await time.advance(this.#plan.times.ttl)
    await this.#look()
    await this.#end()
    return time.mono() - this.#epoch
  }

  /** The release before saves each key, in a process of its own that then leaves. */
  async #precede(former: SandboxDefinition<S, C>): Promise<void> {
    const machine = new Machine("former", this.#time)
    const member = this.#member(
      "former",
      { ...rightClock, machine: machine.name, ttl: this.#plan.times.ttl, release: "this" },
      machine,
      former,
    )
    await member.start()
    for (const key of this.#plan.keys) await member.use(key, () => {}, { durable: true })
    await member.leave()
    member.kill()
  }

  #start(member: Member<S, C>): void {
    void member.start().catch((error: unknown) => {
      if (!(error instanceof InvalidConfigError)) throw error
      this.#refusal ??= error
    })
  }

  #tell(line: TraceLine): void {
    this.#parts.onLine(line)
    const due = this.#moments.reached(line)
    // What is under way is done first: a process is struck between two turns of its event loop, as real ones are.
    if (due !== undefined) this.#time.soon(() => this.#strike(due))
  }

  #due(fault: TimedFault): void {
    if (this.#isOver) return
    if (fault.on === undefined) this.#strike(fault)
    else this.#moments.await(fault)
  }

  /** Makes a fault come true. Its line is written first: what follows from it comes behind. */
  #strike({ at: _at, on: _on, ...fault }: TimedFault): void {
    if (this.#isOver) return
    const { kind, worker, ...detail } = fault
    const member = worker === null ? undefined : this.#members.get(worker)
    if (worker !== null && (member === undefined || !(member.isAlive || isStoreFault(fault)))) return
    if (kind === "drain" && member!.isLeaving) return // it is on its way already
    this.#recorder.fault(kind, { ...(worker !== null && { worker }), detail })
    if (isIntrusion(fault)) this.#intruders.act(fault)
    else if (isStoreFault(fault)) this.#store.inject(fault)
    else this.#befall(member!, fault)
  }

  #befall(member: Member<S, C>, fault: Exclude<Fault, StoreFault | Intrusion>): void {
    switch (fault.kind) {
      case "crash":
        member.kill()
        return this.#restart(member, fault.ms)
      case "drain":
        return void this.#drain(member, fault.ms)
      case "pause":
      case "stall":
        return member.freeze(fault.ms, false)
      case "suspend":
        return this.#ofMachine(member, "suspend", (each) => each.freeze(fault.ms, true))
      case "reboot":
        member.machine.reboot(fault.wall)
        return this.#ofMachine(member, "crash", (each) => {
          each.kill()
          this.#restart(each, fault.ms)
        })
      case "stepWall":
        return member.stepWall(fault.ms)
      case "slowHook":
      case "failingHook":
        return member.hooks?.add(fault)
    }
  }

  /** The same befalls all that run on its machine, itself included: told of each, but of itself where that was told. */
  #ofMachine(member: Member<S, C>, fault: string, befall: (member: Member<S, C>) => void): void {
    for (const each of this.#members.values()) {
      if (each.machine !== member.machine || !each.isAlive) continue
      if (each !== member || fault === "crash") this.#recorder.fault(fault, { worker: each.name })
      befall(each)
    }
  }

  async #drain(member: Member<S, C>, ms: number): Promise<void> {
    const stuck = await member.leave()
    if (this.#isOver || !member.isAlive) return
    if (stuck.length > 0) this.#recorder.fault("crash", { worker: member.name, detail: { stuck: stuck.length } })
    member.kill()
    this.#restart(member, ms)
  }

  #restart(member: Member<S, C>, ms: number): void {
    this.#time.after(ms, () => {
      if (this.#isOver || member.isAlive) return
      this.#recorder.fault("restart", { worker: member.name })
      this.#start(member)
    })
  }

  /** Ends all faults: killed processes come back, stopped ones go on, damage is mended. */
  #heal(): void {
    this.#isOver = true
    this.#moments.clear()
    this.#recorder.fault("heal")
    this.#store.heal()
    for (const key of this.#plan.keys) this.#intruders.leave(key)
    for (const member of this.#members.values()) {
      member.hooks?.clear()
      member.thaw()
      if (!member.isAlive) this.#start(member)
    }
  }

  async #client(name: string): Promise<void> {
    const draw = new Draw(this.#plan.seed, `client/${name}`)
    const world = this.#world
    while (!this.#isOver) {
      await sleep(this.#time, draw.millis(1, 2 * this.#plan.pace))
      if (this.#isOver || world.workers.length === 0) continue
      await this.#attempt("workload", () => this.#parts.workload(world))
    }
  }

  /** What it rejects with must be an error that the library documents, or that the faults explain. */
  async #attempt(what: string, call: () => Promise<void>): Promise<void> {
    try {
      await call()
    } catch (error) {
      if (!isExpected(error)) this.#parts.onFailure(what, `the ${what} threw ${describe(error)}`)
    }
  }

  async #look(): Promise<void> {
    const { afterwards } = this.#parts
    if (afterwards === undefined) return
    const looked = afterwards(this.#world).catch((error: unknown) =>
      this.#parts.onFailure("afterwards", describe(error)),
    )
    await this.#within(looked, "what is done afterwards")
  }

  async #end(): Promise<void> {
    const leaving = Array.from(this.#members.values(), async (member) => {
      const stuck = await member.leave()
      if (stuck.length > 0) this.#parts.onFailure("drain", `${member.name} couldn't leave ${stuck.join(", ")}`)
    })
    await this.#within(Promise.all(leaving), "a drain")
    await this.#time.advance(calm)
    for (const member of this.#members.values()) {
      if (member.pendingTimers > 0)
        this.#parts.onFailure("nothing is left", `${member.pendingTimers} timers of ${member.name} are left behind`)
      member.kill()
    }
  }

  /** Lets time pass until it settles, or it is plain that it never will. */
  async #within(promise: Promise<unknown>, what: string): Promise<void> {
    let settled = false
    const late = sleep(this.#time, patience)
    await this.#time.runUntil(Promise.race([promise.then(() => (settled = true)), late]))
    if (!settled)
      this.#parts.onFailure("every call settles", `${what} hasn't settled after ${patience} ms without faults`)
  }

  #makeWorld(): SimulatedWorld<S, C> {
    const { keys } = this.#plan
    const members = Array.from(this.#members.values())
    const workers = new Map(members.map((member) => [member, this.#worker(member)]))
    const { onFailure } = this.#parts
    return {
      get workers() {
        return members.filter(({ isUp }) => isUp).map((member) => workers.get(member)!)
      },
      keys,
      random: new Draw(this.#plan.seed, "workload"),
      now: () => this.#time.mono() - this.#epoch,
      sleep: (ms) => sleep(this.#time, ms),
      fail: (message) => onFailure("workload", message),
      sometimes: (name) => this.#recorder.note(name),
    }
  }

  #worker(member: Member<S, C>): SimulatedWorker<S, C> {
    const [first = ""] = this.#plan.keys
    const timeout = this.#parts.budget
    return {
      name: member.name,
      use: (fn, { key = first, ...options } = {}) => member.use(key, fn, { timeout, ...options }),
      restore: ({ key = first, ...options } = {}) => member.restore(key, { timeout, ...options }),
      remove: ({ key = first, ...options } = {}) => member.remove(key, { timeout, ...options }),
      ask: (call) => member.ask(call),
      sleep: (ms) => member.sleep(ms),
    }
  }

  #member(name: string, planned: PlannedWorker, machine: Machine, sandbox = this.#parts.sandbox): Member<S, C> {
    return new Member({
      ...{ name, planned, machine },
      ...{ time: this.#time, oracles: this.#plan.oracles },
      times: { ...this.#plan.times, ttl: planned.ttl },
      recorder: this.#recorder,
      sandbox,
      connect: (worker, clock) => new SimulatedConnection(this.#store, worker, clock),
      onError: (error) => {
        if (!isExpected(error)) this.#parts.onFailure("background work", `${name} reported ${describe(error)}`)
      },
    })
  }
}

const rightClock = { wallOffset: 0, rate: 1, bootClock: true }

const isStoreFault = (fault: Fault): fault is StoreFault => isOfStore(fault.kind)

/**
 * One process of a simulated fleet, over all its lives: each an incarnation with a clock, a connection to the store and
 * a manager of its own. Owns how a process starts, ends and is called; what befalls it, and when, is the fleet's to
 * say.
 */
import type { RestoreOptions } from "../../../actors/api/call-options.ts"
import type { HookContext, Sandbox, SandboxDefinition, UseOptions } from "../../../actors/api/sandbox.ts"
import type { SandboxManager } from "../../../actors/manager/manager.ts"
import type { TraceRecorder, WorkerRecorder } from "../../../inspector/recorder.ts"
import { InvalidConfigError } from "../../../locks/api/errors.ts"
import { sandboxLockKey } from "../../../locks/api/keys.ts"
import type { CheckpointStore, LeaseStore } from "../../../locks/stores/port.ts"
import { millis } from "../../../runtime/input/options.ts"
import { sleep } from "../../../runtime/time/sleep.ts"
import type { VirtualHost } from "../../../runtime/time/virtual-host.ts"
import type { VirtualTime } from "../../../runtime/time/virtual-time.ts"
import type { CallDetail } from "../../../trace/worker-lines.ts"
import { type Machine, type MachineProcess, toldOfEnd } from "../machines/machine.ts"
import { SimulatedProcess } from "../machines/process.ts"
import { Stops } from "../machines/stops.ts"
import type { PlannedTimes, PlannedWorker } from "../plan/plan.ts"
import { HookFaults } from "./hook-faults.ts"
import { asLastRelease } from "./last-release.ts"

/** What a call rejects with whose process was killed: a caller elsewhere sees its connection break. */
export class ProcessGone extends Error {
  override readonly name = "ProcessGone"
}

/** What a member is made of. */
export interface MemberParts<S, C> {
  readonly name: string
  readonly time: VirtualTime
  readonly planned: PlannedWorker
  readonly machine: Machine
  /** Records name its processes, and its machine knows of their ends. */
  readonly oracles: boolean
  readonly times: PlannedTimes
  readonly recorder: TraceRecorder
  readonly sandbox: SandboxDefinition<S, C>
  /** A connection of one life to the store: its answers come by that life's clock. */
  readonly connect: (worker: string, clock: VirtualHost) => LeaseStore & CheckpointStore
  /** Gets what background work reports. */
  readonly onError: (error: unknown) => void
}

/** How a workload uses a sandbox. */
export type CallOptions = RestoreOptions & Pick<UseOptions, "durable">

interface Life<S, C> {
  readonly process: SimulatedProcess
  readonly hooks: HookFaults
  readonly sandbox: SandboxDefinition<S, C>
  readonly stops: Stops
  /** As its machine knows it. */
  readonly here: MachineProcess
  /** It takes no new calls. */
  leaving: boolean
}

/** What a process has between being asked to end and being killed. */
const graceOf = ({ settleWithin, checkpointWithin, killGrace }: PlannedTimes): number =>
  killGrace ?? settleWithin + checkpointWithin + 5000

/** A life whose manager has started. */
type Up<S, C> = Life<S, C> & { readonly manager: SandboxManager }
type CallRecorder = <A>(call: CallDetail, make: () => Promise<A>) => Promise<A>

/** A budget of 0 is one try, which takes what its requests take. */
const budgetOf = (timeout: CallOptions["timeout"]): Pick<CallDetail, "budget"> =>
  timeout === undefined || timeout === "infinite" || timeout === 0 ? {} : { budget: millis("timeout", timeout) }

/** How long a process that can't start waits before it tries again, in milliseconds. */
const startAgain = 2000

/** A process that can be killed and started again. */
export class Member<S, C> {
  readonly name: string
  readonly machine: Machine
  readonly #parts: MemberParts<S, C>
  readonly #recorder: WorkerRecorder
  #lives = 0
  #life: Life<S, C> | undefined

  constructor(parts: MemberParts<S, C>) {
    this.name = parts.name
    this.machine = parts.machine
    this.#parts = parts
    this.#recorder = parts.recorder.worker(parts.name)
  }

  /** It runs and takes calls. */
  get isUp(): boolean {
    return this.#life?.process.manager !== undefined && !this.#life.leaving
  }

  /** It was asked to end. */
  get isLeaving(): boolean {
    return this.#life?.leaving === true
  }

  /** It is there, ready or not. */
  get isAlive(): boolean {
    return this.#life !== undefined
  }

  /** Timers that its present life has set and that haven't run. */
  get pendingTimers(): number {
    return this.#life?.process.host.pendingTimers ?? 0
  }

  /** What its hooks are about to do wrong. */
  get hooks(): HookFaults | undefined {
    return this.#life?.hooks
  }

  /**
   * Begins another life, unless one goes on. Settles when it has started, or was killed before. Rejects with
   * InvalidConfigError, which no other try would change.
   */
  async start(): Promise<void> {
    if (this.#life !== undefined) return
    const life = this.#born()
    const { name, times, connect, onError } = this.#parts
    const { process, sandbox } = life
    const connection = connect(name, process.host)
    const recorded = this.#recorder.store(this.#isOld ? asLastRelease(connection) : connection)
    const { oracle } = life.here
    const store = oracle === undefined ? recorded : Object.assign(recorded, { oracle })
    const { inspect } = this.#recorder
    const options = { store, onError, sandboxes: [sandbox], inspect, ...times, killGrace: graceOf(times) }
    while (process.isAlive && process.manager === undefined) {
      try {
        const started = this.#recorder.call({ call: "start" }, () => process.start(options))
        this.#recorder.locks((await process.orGone(started)).manager.events$)
      } catch (error) {
        if (error instanceof ProcessGone) return
        if (error instanceof InvalidConfigError) throw error
        onError(error)
        await process.orGone(sleep(process.host, startAgain)).catch(() => {})
      }
    }
  }

  /** Ends the present life as SIGKILL does. */
  kill(): void {
    const life = this.#life
    if (life === undefined) return
    this.#life = undefined
    life.process.kill()
    life.here.ended()
  }

  /** Lets the present life end in peace, then kills it. Settles with what is stuck. */
  async leave(): Promise<readonly string[]> {
    const life = this.#life
    if (life?.process.manager === undefined || life.leaving) return []
    life.leaving = true
    const { process } = life
    try {
      const { manager } = await this.#up()
      const budget = graceOf(this.#parts.times)
      const draining = this.#recorder.call({ call: "drain", budget }, () => manager.drain())
      const { stuck } = await process.orGone(draining)
      if (stuck.length > 0) return stuck
      await process.orGone(this.#recorder.call({ call: "close" }, async () => manager[Symbol.asyncDispose]()))
      return stuck
    } catch (error) {
      if (!(error instanceof ProcessGone)) throw error
      return []
    }
  }

  /** Stops it for `ms` of true time, as SIGSTOP and SIGCONT do; `asleep`: its machine's suspend. */
  freeze(ms: number, asleep: boolean): void {
    const life = this.#life
    if (life === undefined) return
    const end = life.stops.begin(asleep)
    this.#parts.time.after(ms, () => {
      if (life.process.isAlive && end()) this.#parts.recorder.fault("resume", { worker: this.name })
    })
  }

  /** Ends any freeze. */
  thaw(): void {
    this.#life?.stops.clear()
  }

  /** Its wall clock jumps. */
  stepWall(ms: number): void {
    this.#life?.process.host.stepWall(ms)
  }

  /**
   * Runs fn in the sandbox of a key. Rejects as `SandboxManager.use` does, and with ProcessGone. The trace tells of two
   * calls: the use, and the wait until fn begins, which alone has a budget.
   */
  use<A>(key: string, fn: (state: S, context: HookContext) => A | Promise<A>, options: CallOptions = {}): Promise<A> {
    const { timeout, durable = false } = options
    return this.#call({ call: "use", durable, ...this.#of(key) }, ({ hooks, manager, sandbox }) => {
      const begun = Promise.withResolvers<void>()
      const faulty = async (state: S, context: HookContext): Promise<A> => {
        begun.resolve()
        await hooks.before("use", context.signal)
        return fn(state, context)
      }
      const used = manager.use(sandbox, key, this.#recorder.use(faulty), options)
      used.catch(begun.reject)
      this.#recorder
        .call({ call: "acquire", ...this.#of(key), ...budgetOf(timeout) }, () => begun.promise)
        .catch(() => {})
      return used
    })
  }

  /** A handle of the sandbox of a key. Rejects as `SandboxManager.restoreSandbox` does, and with ProcessGone. */
  restore(key: string, options: RestoreOptions = {}): Promise<Sandbox<S>> {
    return this.#call(
      { call: "restore", ...this.#of(key), ...budgetOf(options.timeout) },
      async ({ manager, sandbox }, record) =>
        this.#handle(await manager.restoreSandbox(sandbox, key, options), this.#of(key), record),
    )
  }

  /** The handle, whose calls are recorded too, and end with the process. */
  #handle(sandbox: Sandbox<S>, of: Pick<CallDetail, "key">, record: CallRecorder): Sandbox<S> {
    return {
      ...{ name: sandbox.name, key: sandbox.key, actor: sandbox.actor, state$: sandbox.state$, ended: sandbox.ended },
      get lease() {
        return sandbox.lease
      },
      use: (fn, options = {}) =>
        record({ call: "use", durable: options.durable ?? false, ...of }, () =>
          sandbox.use((state, context) => this.#recorder.use(fn)(state, context), options),
        ),
      checkpoint: () => record({ call: "checkpoint", ...of }, () => sandbox.checkpoint()),
      release: () => record({ call: "release", ...of }, () => sandbox.release()),
    }
  }

  /** Removes what is saved of a key. Rejects as `SandboxManager.remove` does, and with ProcessGone. */
  remove(key: string, options: RestoreOptions = {}): Promise<void> {
    return this.#call({ call: "remove", ...this.#of(key), ...budgetOf(options.timeout) }, ({ manager, sandbox }) =>
      manager.remove(sandbox, key, options),
    )
  }

  /** Anything else that a manager can do, which the trace doesn't tell. Rejects as that does, and with ProcessGone. */
  async ask<A>(call: (manager: SandboxManager, sandbox: SandboxDefinition<S, C>) => Promise<A>): Promise<A> {
    const life = await this.#up()
    return life.process.orGone(call(life.manager, life.sandbox))
  }

  /** Settles by a timer of its present life, which no lease ends. Rejects with ProcessGone. */
  async sleep(ms: number): Promise<void> {
    const { process } = await this.#up()
    await process.orGone(sleep(process.host, ms))
  }

  /**
   * A killed process settles nothing: its call has no end in the trace, and the caller hears of a broken connection.
   */
  async #call<A>(call: CallDetail, make: (life: Up<S, C>, record: CallRecorder) => Promise<A>): Promise<A> {
    const life = await this.#up()
    const record: CallRecorder = (each, fn) => life.process.orGone(this.#recorder.call(each, fn))
    return record(call, () => make(life, record))
  }

  /** The present life, once a call has reached it: one that is stopped hears of nothing before it goes on. */
  async #up(): Promise<Up<S, C>> {
    const life = this.#life
    const manager = life?.process.manager
    if (life === undefined || manager === undefined) throw new ProcessGone(`the process ${this.name} isn't up`)
    const { process } = life
    await process.orGone(new Promise<void>((resolve) => process.host.soon(resolve)))
    return { ...life, manager }
  }

  #of(key: string): Pick<CallDetail, "key"> {
    return { key: sandboxLockKey(this.#parts.sandbox.name, key) }
  }

  #born(): Life<S, C> {
    const { name, time, planned, sandbox, recorder } = this.#parts
    this.#lives++
    const { boot, wallOff } = this.machine
    const id = `${name}.${this.#lives}`
    const gone = (): ProcessGone => new ProcessGone(`the process ${id} is gone`)
    const drifted = (planned.rate - 1) * time.mono() // so far as the boot clock of its machine has
    const hostClock = { ...planned, name: boot, wallOffset: planned.wallOffset + wallOff + drifted }
    const process = new SimulatedProcess({ id, time, clock: hostClock, gone })
    const hooks = new HookFaults(process.host)
    recorder.fault("clock", { worker: name, detail: { ...planned, boot, wallOff } })
    const recorded = this.#recorder.sandbox(hooks.wrap(sandbox))
    this.#life = {
      ...{ process, hooks, sandbox: recorded, stops: new Stops(process.host), leaving: false },
      here: this.#onMachine(process),
    }
    return this.#life
  }

  #onMachine({ host }: SimulatedProcess): MachineProcess {
    if (!this.#parts.oracles) return { oracle: undefined, ended: () => {} }
    const soon = (wake: () => void): void => host.soon(wake)
    return this.machine.runs({ bootId: host.bootId, soon }, () => this.#parts.recorder.note(toldOfEnd))
  }

  /** It runs the release before this one. */
  get #isOld(): boolean {
    const { release } = this.#parts.planned
    return release === "last" || (release === "upgraded" && this.#lives === 1)
  }
}

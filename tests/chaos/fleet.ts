/**
 * The processes of a chaos run, each behind a fault proxy of its own: started, killed, stopped, cut off, asked to
 * leave, and started again under another name. Owns them all, and leaves none behind.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { commandFor, type Runtime } from "../../examples/sqlite-workers/runtimes.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import type { SeededRandom } from "../../src/runtime/time/random.ts"
import type { FaultLine } from "../../src/trace/trace.ts"
import type { WriteLimiter } from "../support/fault-proxy/limiter.ts"
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy/proxy.ts"
import { appliedLine, faultLine } from "../support/fault-proxy/trace.ts"
import type { Log } from "./log.ts"
import type { RunTrace } from "./traces.ts"
import type { WorkerOptions } from "./worker.ts"

const program = fileURLToPath(new URL("worker.ts", import.meta.url))

/** How a fleet is made. */
export interface FleetOptions {
  readonly log: Log
  readonly trace: RunTrace
  /** Where a process of this name writes its trace. */
  readonly traceOf: (life: string) => string
  readonly random: SeededRandom
  /** The server itself. */
  readonly target: string
  /** What the server takes of writes: of all workers together. */
  readonly limit: WriteLimiter
  /** Of each worker, in turn. */
  readonly runtimes: readonly Runtime[]
  readonly worker: Pick<WorkerOptions, "log" | "bucket" | "prefix" | "keys" | "clients">
}

/** A place in the fleet: one process after the other. */
export class Berth implements AsyncDisposable {
  readonly name: string
  readonly #options: FleetOptions
  readonly #runtime: Runtime
  readonly #proxy: FaultProxy
  #lives = 0
  #child: ChildProcess | undefined
  #isStopped = false

  /** Starts its proxy and its first process. */
  static async open(name: string, runtime: Runtime, options: FleetOptions): Promise<Berth> {
    const { target, limit, trace, worker } = options
    const proxy = await startFaultProxy({
      ...{ target, limit, record: false },
      log: (line) => trace.add(faultLine(name, line)),
      delivered: (delivered) => trace.add(appliedLine(name, worker.prefix, delivered)),
    })
    const berth = new Berth(name, runtime, options, proxy)
    await berth.start()
    return berth
  }

  constructor(name: string, runtime: Runtime, options: FleetOptions, proxy: FaultProxy) {
    this.name = name
    this.#runtime = runtime
    this.#options = options
    this.#proxy = proxy
  }

  /** The present life. */
  get life(): string {
    return `${this.name}${this.#lives}`
  }

  get proxy(): FaultProxy {
    return this.#proxy
  }

  /** Starts a process. Settles when it is ready, or has ended before. */
  async start(): Promise<void> {
    this.#lives++
    const { worker, random, traceOf } = this.#options
    const options: WorkerOptions = {
      ...worker,
      ...{ name: this.life, berth: this.name, trace: traceOf(this.life) },
      ...{ endpoint: this.#proxy.url, seed: Math.floor(random.next() * 2 ** 31) },
    }
    const [command, ...args] = commandFor(this.#runtime, program)
    const child = spawn(command, [...args, JSON.stringify(options)], { stdio: ["ignore", "pipe", "inherit"] })
    this.#child = child
    this.#isStopped = false
    const { life } = this
    child.once("exit", (code, signal) => this.#ended(life, code, signal))
    await Promise.race([once(child.stdout, "data"), once(child, "exit")])
  }

  #ended(life: string, code: number | null, signal: NodeJS.Signals | null): void {
    const { log } = this.#options
    if (signal !== "SIGKILL" && code !== 0)
      log.write({ what: "problem", process: life, message: `it ended with ${code ?? signal}` })
    log.write({ what: "dead", process: life })
    if (code !== 0) this.#trace("crash")
  }

  /** SIGKILL, and another after `ms`. */
  async kill(ms: number): Promise<void> {
    this.#tell("SIGKILL", ms)
    this.#trace("kill", { ms }) // its life is over, for the trace, when it is seen dead
    await this.#end("SIGKILL")
    await sleep(ms)
    await this.start()
  }

  /** SIGTERM, and another once it has left. */
  async drain(): Promise<void> {
    this.#tell("SIGTERM")
    this.#trace("drain")
    await this.#end("SIGTERM")
    await this.start()
  }

  /** SIGSTOP, and SIGCONT after `ms`. */
  async stop(ms: number): Promise<void> {
    this.#tell("SIGSTOP", ms)
    this.#trace("pause", { ms })
    this.#signal("SIGSTOP")
    this.#isStopped = true
    await sleep(ms)
    this.#goOn()
  }

  /** Nothing gets through, either way, for `ms`. */
  async cutOff(ms: number): Promise<void> {
    this.#tell("partition", ms)
    this.#trace("partition", { forMs: ms })
    this.#proxy.partition()
    await sleep(ms)
    this.#proxy.heal()
  }

  /** Requests get through for `ms`, answers don't; or the other way round. */
  async muffle(ms: number, when: "before" | "after"): Promise<void> {
    this.#tell(`one-way partition, ${when}`, ms)
    this.#trace(when === "after" ? "mutePartition" : "partition", { forMs: ms, when })
    using _muffled = this.#proxy.always({ fault: { kind: "stall", when } })
    await sleep(ms)
  }

  /** Nothing goes wrong any more; it drains and ends for good. */
  async leave(): Promise<void> {
    this.#proxy.heal()
    this.#proxy.calm()
    if (this.#isStopped) this.#goOn()
    this.#trace("drain")
    await this.#end("SIGTERM")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGKILL")
    await this.#proxy[Symbol.asyncDispose]()
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, "exit")
    this.#signal(signal)
    await exit
  }

  /** By id: Deno's own `child.kill` refuses a second signal. */
  #signal(signal: NodeJS.Signals): void {
    const child = this.#child
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(child.pid, signal)
  }

  #goOn(): void {
    this.#isStopped = false
    this.#trace("resume")
    this.#signal("SIGCONT")
  }

  #trace(fault: string, detail: FaultLine["detail"] = {}): void {
    this.#options.trace.recorder.fault(fault, { worker: this.name, detail })
  }

  #tell(fault: string, ms?: number): void {
    this.#options.log.write({ what: "fault", process: this.life, fault, ...(ms !== undefined && { ms }) })
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((settle) => void liveClock.after(ms, settle))

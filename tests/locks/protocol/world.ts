/**
 * A world of a few processes, one key and one store, in which nothing happens unless a test says so or time, moved by
 * the test, makes it happen. No promises, no real clock: the same script gives the same world. The network of each
 * process is up (requests take `latency` each way), slow (they take any time), held (the test delivers, answers or
 * loses each request itself) or down. A write that its sender gave up on may still be delivered, at any later time, as
 * over a real network.
 */
import type { Command, Input, LockConfig, ReadResult, WriteResult } from "../../../src/locks/protocol/rules/state.ts"
import { Watchdog } from "./invariants.ts"
import { acquire, type Clocks, ProcessModel } from "./process-model.ts"
import { silence, StoreModel, type StoreTraits } from "./store-model.ts"

/** What a store answers. */
export type Result = ReadResult | WriteResult

/** A request on its way, or what became of it. */
export interface Request {
  readonly process: ProcessModel
  readonly command: Exclude<Command, { type: "abandon" }>
  readonly sentAt: number
  /** What the store answered; undefined before it arrived. */
  result: Result | undefined
  /** Its sender has heard of it, or no longer listens. */
  over: boolean
  deliverAt: number
  answerAt: number
  /** At `answerAt` its sender gives it up, whatever became of it. */
  readonly doomed: boolean
}

/** What all processes of a world share. */
export interface WorldOptions extends Partial<StoreTraits> {
  /** One way, in milliseconds. */
  readonly latency?: number
  /** One way where the network is slow, in milliseconds; what takes too long arrives all the same. */
  readonly delay?: () => number
  /** In [0,1): jitter of all processes. */
  readonly draw?: () => number
  /** A request that the test holds is given up after this, as every real request is; without one, never. */
  readonly heldFor?: number
  /** Changes the answers on their way, as by clocks that differ or by a fault. */
  readonly twist?: (request: Request, result: Result, store: StoreModel) => Result
}

/** How one process differs from the others. */
export type ProcessOptions = Partial<LockConfig> & Partial<Clocks> & { readonly wallAhead?: number }

/** A request that its sender hears nothing of ends after this, in milliseconds. */
export const REQUEST_DEADLINE = 5000
/** More steps than this at one time are a loop that would burn a processor. */
const HOT = 500

export class World {
  readonly store: StoreModel
  readonly processes: ProcessModel[] = []
  readonly requests: Request[] = []
  readonly watchdog: Watchdog
  readonly latency: number
  /** True time, in milliseconds. */
  at = 0
  readonly #options: WorldOptions
  readonly #scheduled = new Set<Request>()
  #hot = 0

  constructor(options: WorldOptions = {}) {
    const { clock = "coarse", spacing = 1000, latency = 20 } = options
    this.store = new StoreModel({ clock, spacing })
    this.latency = latency
    this.#options = options
    this.watchdog = new Watchdog(this)
  }

  /** A new process. Without options: a lease of 30 s on a store like GCS. */
  process(id: string, options: ProcessOptions = {}): ProcessModel {
    const { rate = 1, bootClock = true, sleepUnnoticed = false, stale = false, wallAhead = 0, ...config } = options
    const { clock, spacing } = this.store.traits
    const ttl = config.ttl ?? 30_000
    const standard: LockConfig = {
      key: "k",
      id,
      life: id,
      ttl,
      guard: Math.max(2000, ttl / 10),
      waiterTtl: 12_000,
      strangerTtl: 60_000,
      clock,
      bootId: null,
      cheapReads: spacing === 0,
      spacing,
      watchEvery: spacing === 0 ? 500 : 2000,
      beat: 0,
      deletes: false,
      strict: false,
      address: null,
      host: null,
    }
    const draw = this.#options.draw ?? (() => 0.5)
    const clocks = { rate, bootClock, sleepUnnoticed, stale }
    const process = new ProcessModel({ ...standard, ...config }, clocks, wallAhead, draw, this.at)
    this.processes.push(process)
    return process
  }

  /** A new process that owns the key. */
  owner(id: string, options: ProcessOptions = {}, wish: Parameters<typeof acquire>[0] = {}): ProcessModel {
    const process = this.process(id, options)
    this.send(process, acquire(wish))
    this.until(() => process.holds(this.at), 5000)
    return process
  }

  /** A new process whose mark stands beside a live owner. */
  waiter(id: string, options: ProcessOptions = {}, wish: Parameters<typeof acquire>[0] = {}): ProcessModel {
    const process = this.process(id, options)
    this.send(process, acquire(wish))
    this.until(() => process.count("Waiting") > 0)
    return process
  }

  /** One input to one process, now. */
  send(process: ProcessModel, input: Input): void {
    if (process.crashed) return
    const commands = process.step(input, this.at)
    for (const command of commands) this.#carry(process, command)
    this.watchdog.stepped(process)
  }

  /** The request of a process that is under way. */
  open(process: ProcessModel): Request | undefined {
    return this.requests.findLast((each) => each.process === process && !each.over)
  }

  /** Moves time until a process has a request under way, of that type if one is named. */
  next(process: ProcessModel, type?: Request["command"]["type"]): Request {
    const open = (): Request | undefined => {
      const request = this.open(process)
      return type === undefined || request?.command.type === type ? request : undefined
    }
    this.until(() => open() !== undefined)
    return open()!
  }

  /** Holds a process's network, and answers its reads until it writes. */
  nextWrite(process: ProcessModel): Request {
    process.network = "held"
    for (let reads = 0; reads < 100; reads++) {
      const request = this.next(process)
      if (request.command.type !== "read") return request
      this.answer(request)
    }
    throw new Error(`${process.id} only reads`)
  }

  /** Requests that may still reach the store. */
  get undelivered(): readonly Request[] {
    return this.requests.filter(({ result, command }) => result === undefined && command.type !== "read")
  }

  /** Lets a request take effect in the store; a second time, where the network doubled it. */
  deliver(request: Request): void {
    const { command, process } = request
    const result =
      command.type === "read"
        ? this.store.read(command.known, this.at)
        : this.store.write(command.expected, command.type === "put" ? command.body : undefined, this.at)
    const skewed = "storeTime" in result ? { ...result, storeTime: result.storeTime + process.storeSkew } : result
    request.result ??= this.#options.twist?.(request, skewed, this.store) ?? skewed
    this.watchdog.wrote()
  }

  /** Brings a request's answer to its sender, delivering it first if need be. */
  answer(request: Request, instead?: Result): void {
    if (instead === undefined && request.result === undefined) this.deliver(request)
    const wasOver = request.over
    request.over = true
    const answer = instead ?? request.result!
    if (wasOver && instead !== undefined) return
    const { id, type } = request.command
    if (type === "read") this.send(request.process, { type: "read", id, answer: answer as ReadResult })
    else this.send(request.process, { type: "wrote", id, answer: answer as WriteResult })
  }

  /** Whatever is on its way never arrives. */
  forget(): void {
    for (const request of this.requests) request.deliverAt = Infinity
    this.requests.splice(0, Infinity, ...this.requests.filter(({ over }) => !over))
  }

  /** The sender gives the request up, which may still arrive. */
  lose(request: Request): void {
    const error = silence()
    this.answer(request, request.command.type === "read" ? { kind: "failed", error } : { kind: "unknown", error })
  }

  /** The request arrives, and its answer doesn't. */
  loseAnswer(request: Request): void {
    this.deliver(request)
    this.lose(request)
  }

  /** It is gone, with its memory; its requests may still arrive. */
  crash(process: ProcessModel): void {
    process.crashed = true
    for (const request of this.requests) if (request.process === process) request.over = true
  }

  /** A process sleeps for that long without its monotonic clock noticing. */
  suspend(process: ProcessModel, ms: number): void {
    process.freeze("suspended", this.at)
    this.advance(ms)
    process.thaw(this.at)
  }

  /** A process is stopped for that long, as by SIGSTOP or a stall of its event loop. */
  stop(process: ProcessModel, ms: number): void {
    process.freeze("stopped", this.at)
    this.advance(ms)
    process.thaw(this.at)
  }

  /** Moves true time, and with it all that is due. */
  advance(ms: number): void {
    this.#run(this.at + ms, () => false)
  }

  /** Moves true time until something holds, at most that long. */
  until(condition: () => boolean, limit = 120_000): void {
    this.#run(this.at + limit, condition)
    if (!condition()) throw new Error(`still not so after ${limit} ms: ${String(condition)}`)
  }

  #run(end: number, enough: () => boolean): void {
    while (!enough()) {
      const due = this.#next()
      if (due === undefined || due.at > end) {
        this.at = end
        break
      }
      this.#hot = due.at > this.at ? 0 : this.#hot + 1
      if (this.#hot > HOT) throw new Error(`${HOT} steps at one time`)
      this.at = Math.max(this.at, due.at)
      due.happen()
    }
    this.watchdog.looked()
  }

  #next(): { readonly at: number; happen(): void } | undefined {
    const due: { at: number; happen(): void }[] = []
    for (const request of this.#scheduled) {
      const { deliverAt, answerAt, over, process } = request
      if (deliverAt < Infinity) due.push({ at: deliverAt, happen: () => this.#arrive(request) })
      if (!over && process.frozen === "no") due.push({ at: answerAt, happen: () => this.#comeBack(request) })
      if (over && deliverAt === Infinity) this.#scheduled.delete(request)
    }
    for (const process of this.processes) {
      if (process.crashed || process.frozen !== "no") continue
      const at = process.wakesAt(this.at)
      if (at !== undefined) due.push({ at, happen: () => this.send(process, { type: "tick" }) })
    }
    return due.reduce<(typeof due)[number] | undefined>((a, b) => (a === undefined || b.at < a.at ? b : a), undefined)
  }

  #arrive(request: Request): void {
    request.deliverAt = Infinity
    this.deliver(request)
  }

  #comeBack(request: Request): void {
    if (request.doomed) this.lose(request)
    else this.answer(request)
  }

  #carry(process: ProcessModel, command: Command): void {
    if (command.type === "abandon") {
      for (const each of this.requests) if (each.process === process && each.command.id === command.id) each.over = true
      return
    }
    const { network } = process
    const { latency } = this
    const { heldFor = Infinity, delay = () => latency } = this.#options
    const connected = network === "up" || network === "slow"
    const [out, back] = network === "slow" ? [delay(), delay()] : [latency, latency]
    const patience = network === "held" ? heldFor : REQUEST_DEADLINE
    const doomed = !connected || out + back > patience
    const request: Request = {
      process,
      command,
      sentAt: this.at,
      result: undefined,
      over: false,
      deliverAt: connected ? this.at + out : Infinity,
      answerAt: this.at + (doomed ? patience : out + back),
      doomed,
    }
    this.requests.push(request)
    if (request.answerAt < Infinity) this.#scheduled.add(request)
    this.watchdog.sent(process, command)
  }
}

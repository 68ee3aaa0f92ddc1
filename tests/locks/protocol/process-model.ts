/**
 * One process of the world: the reducer's state for one key, three clocks that may be wrong in every way the protocol
 * allows for, and what it asked for and told so far. It does nothing by itself: the world ticks it and carries its
 * requests.
 */
import type { LockError } from "../../../src/locks/api/errors.ts"
import { initialState, nextWake, step, watched } from "../../../src/locks/protocol/reducer.ts"
import { isHeld } from "../../../src/locks/protocol/rules/authority.ts"
import type {
  Command,
  Input,
  LockConfig,
  LockState,
  Phase,
  ProtocolEvent,
} from "../../../src/locks/protocol/rules/state.ts"
import type { Now } from "../../../src/locks/protocol/rules/time.ts"
import { EPOCH } from "./store-model.ts"

/** How its clocks differ from true time. */
export interface Clocks {
  /** How fast they go: 1.05 is 5 % fast. */
  readonly rate: number
  /** False: the wall clock stands in for the boot clock. */
  readonly bootClock: boolean
  /** Sabotage: the boot clock stands still in suspend like the monotonic one, against what is assumed of it. */
  readonly sleepUnnoticed: boolean
  /** Sabotage: what should be unique to a step never changes. */
  readonly stale: boolean
}

/** An event and the true time it was told at. */
export interface Told {
  readonly at: number
  readonly event: ProtocolEvent
}

type Acquire = Extract<Input, { type: "acquire" }>

/** An acquire with the library's defaults. */
export const acquire = (wish: Partial<Omit<Acquire, "type">> = {}): Acquire => ({
  type: "acquire",
  budgetMs: 30_000,
  budgetSource: { name: "the timeout option", change: "Pass a longer timeout" },
  whenOwned: "request",
  contention: "fail",
  minTenure: 0,
  stateVersion: null,
  ...wish,
})

export class ProcessModel {
  readonly config: LockConfig
  readonly clocks: Clocks
  readonly told: Told[] = []
  state: LockState
  /** Its requests arrive and are answered soon or whenever, wait for the test, or never arrive. */
  network: "up" | "slow" | "held" | "down" = "up"
  /** Stopped or suspended: nothing reaches it. */
  frozen: "no" | "stopped" | "suspended" = "no"
  crashed = false
  /** The wall clock's error, in milliseconds. */
  wallAhead: number
  /** What the answers it gets are off the store's true time, in milliseconds. */
  storeSkew = 0
  #slept = 0
  #frozenAt = 0
  #steps = 0
  readonly #draw: () => number

  constructor(config: LockConfig, clocks: Clocks, wallAhead: number, draw: () => number, at: number) {
    this.config = config
    this.clocks = clocks
    this.wallAhead = wallAhead
    this.#draw = draw
    this.state = initialState(config, this.now(at))
  }

  get id(): string {
    return this.config.id
  }

  get phase(): Phase["name"] {
    return this.state.phase.name
  }

  /** The token of its ownership; undefined while it has none. */
  get token(): number | undefined {
    return this.state.phase.name === "owning" ? this.state.phase.hold.token : undefined
  }

  /** What it told, without the times. */
  get events(): readonly ProtocolEvent[] {
    return this.told.map(({ event }) => event)
  }

  /** The kinds of what it told. */
  get types(): readonly string[] {
    return this.events.map(({ type }) => type)
  }

  /** The error of its last loss or failed attempt. */
  get error(): LockError | undefined {
    const event = this.events.findLast(({ type }) => type === "GaveUp" || type === "Lost")
    return event !== undefined && "error" in event ? event.error : undefined
  }

  /** The last event of a kind. */
  last<T extends ProtocolEvent["type"]>(type: T): Extract<ProtocolEvent, { type: T }> | undefined {
    return this.events.findLast((event): event is Extract<ProtocolEvent, { type: T }> => event.type === type)
  }

  /** How often it told a kind of event. */
  count(type: ProtocolEvent["type"]): number {
    return this.types.filter((each) => each === type).length
  }

  /** One step of the reducer; what it asks for comes back. */
  step(input: Input, at: number): readonly Command[] {
    this.#steps++
    const { state, commands, events } = step(this.state, input, this.now(at))
    this.state = state
    for (const event of events) this.told.push({ at, event })
    return commands
  }

  /** From now on it is told of all that it waits for, or no longer is. Its next input ticks it anew. */
  watched(hears: boolean, at: number): void {
    this.state = watched(this.state, hears, this.now(at))
  }

  /** Whether it may act at that time; of a frozen process: what it would say if it woke just then. */
  holds(at: number): boolean {
    return !this.crashed && isHeld(this.state, this.now(at))
  }

  /** The true time at which it wants to be ticked. */
  wakesAt(at: number): number | undefined {
    const wake = nextWake(this.state, this.now(at))
    // A little late, as timers are: what is left of a wait after a conversion between rates is rounding.
    return wake === undefined ? undefined : Math.max(at, wake / this.clocks.rate + this.#asleep(at) + 0.001)
  }

  now(at: number): Now {
    const { rate, bootClock, sleepUnnoticed, stale } = this.clocks
    const wall = EPOCH + at + this.wallAhead
    const mono = (at - this.#asleep(at)) * rate
    const boot = sleepUnnoticed ? mono : bootClock ? at * rate + 7_000_000 : wall
    return { wall, mono, boot, fresh: stale ? this.id : `${this.config.life}-${this.#steps}`, draw: this.#draw() }
  }

  freeze(how: "stopped" | "suspended", at: number): void {
    this.frozen = how
    this.#frozenAt = at
  }

  thaw(at: number): void {
    this.#slept = this.#asleep(at)
    this.frozen = "no"
  }

  #asleep(at: number): number {
    return this.#slept + (this.frozen === "suspended" ? at - this.#frozenAt : 0)
  }
}

/**
 * Plays a script of random moves on a world: what processes are asked, what the network does to each request, what the
 * machines suffer, what strangers do. The world's watchdog looks after every step; at the end the faults stop, and then
 * whoever gave up must come to rest and a newcomer must get the key.
 */
import fc from "fast-check"
import type { LockConfig } from "../../../src/locks/protocol/state.ts"
import { SeededRandom } from "../../../src/runtime/random.ts"
import { acquire, type ProcessModel, type Told } from "./process-model.ts"
import { StrangerModel, type StrangerMove } from "./stranger-model.ts"
import { type ProcessOptions, REQUEST_DEADLINE, type Request, World } from "./world.ts"

/** The stores that differ in what the protocol does on them. */
const stores = {
  gcs: { clock: "coarse", spacing: 1000 },
  memory: { clock: "exact", spacing: 0 },
  clockless: { clock: "none", spacing: 0 },
} as const

/** A run, complete: the same script gives the same world. */
export interface Script {
  readonly store: keyof typeof stores
  readonly seed: number
  readonly stranger: "none" | "keep" | "drop"
  /** How slow the stranger's clock is, in milliseconds. */
  readonly slow: number
  readonly processes: readonly { readonly ttl: number; readonly rate: number; readonly bootClock: boolean }[]
  readonly moves: readonly (readonly [kind: number, who: number, how: number])[]
}

/** What a test breaks on purpose, to see that the watchdog notices. */
export interface Sabotage {
  readonly config?: Partial<LockConfig>
  /** How far the store's answers may disagree, in milliseconds. */
  readonly disagreement?: number
  /** The boot clock doesn't count suspend, and nobody can tell. */
  readonly sleepUnnoticed?: boolean
  /** All that is fresh in a process is the same. */
  readonly stale?: boolean
}

export const scripts: fc.Arbitrary<Script> = fc.record({
  store: fc.constantFrom("gcs", "gcs", "memory", "clockless"),
  seed: fc.nat(2 ** 31 - 1),
  stranger: fc.constantFrom("none", "none", "keep", "drop"),
  slow: fc.constantFrom(0, 0, 60_000),
  processes: fc.array(
    fc.record({
      ttl: fc.constantFrom(6000, 12_000, 30_000),
      rate: fc.constantFrom(1, 0.975, 1.025),
      bootClock: fc.constantFrom(true, true, false),
    }),
    { minLength: 2, maxLength: 3 },
  ),
  moves: fc.array(fc.tuple(fc.nat(99), fc.nat(7), fc.nat(999)), { minLength: 10, maxLength: 150, size: "max" }),
})

type Act = (play: Play, process: ProcessModel, how: number) => void

/** Each kind of move with its share of a hundred. */
const acts: readonly (readonly [share: number, act: Act])[] = [
  [24, (play, _, how) => play.world.advance(how)],
  [8, (play, _, how) => play.world.advance(how * 10)],
  [2, (play, _, how) => play.world.advance(how * 40)],
  [8, (play, _, how) => pick(play.world.undelivered, how, (request) => play.world.deliver(request))],
  [8, (play, process) => each(play.world.open(process), (request) => play.world.answer(request))],
  [3, (play, process) => each(play.world.open(process), (request) => play.world.lose(request))],
  [3, (play, process) => each(play.world.open(process), (request) => play.world.loseAnswer(request))],
  [2, (play, _, how) => pick(play.writes, how, (request) => play.world.deliver(request))],
  [9, (play, process, how) => play.acquire(process, how)],
  [3, (play, process) => play.world.send(process, { type: "cancel" })],
  [5, (play, process) => play.world.send(process, { type: "release" })],
  [3, (play, process, how) => play.renew(process, how)],
  [2, (play, process) => play.crash(process)],
  [5, (play, process) => play.freeze(process, "stopped")],
  [3, (play, process) => play.freeze(process, "suspended")],
  [4, (_, process, how) => void (process.network = networks[how % networks.length]!)],
  [7, (play, _, how) => play.stranger?.move(strangerMoves[how % strangerMoves.length]!)],
  [1, (play, process) => play.world.send(process, { type: "leaveToExpire" })],
]

const networks = ["up", "up", "slow", "slow", "slow", "held", "held", "down", "down"] as const
const strangerMoves: readonly StrangerMove[] = [
  "own",
  "own",
  "own",
  "own",
  "mark",
  "mark",
  "grant",
  "release",
  "delete",
]
/** One way, at most, in milliseconds. */
const delays = [100, 100, 100, 2000, 20_000] as const
const budgets = [30_000, 5000, 1000, 0, 120_000, undefined] as const

const pick = <A>(from: readonly A[], index: number, then: (one: A) => void): void =>
  each(from[from.length === 0 ? 0 : index % from.length], then)
const each = <A>(one: A | undefined, then: (one: A) => void): void => (one === undefined ? undefined : then(one))

/** A script being played. */
export class Play {
  readonly world: World
  readonly stranger: StrangerModel | undefined
  readonly #script: Script
  readonly #sabotage: Sabotage
  #born = 0

  constructor(script: Script, sabotage: Sabotage = {}) {
    const random = new SeededRandom(script.seed)
    const { disagreement = 1000 } = sabotage
    this.#script = script
    this.#sabotage = sabotage
    this.world = new World({
      ...stores[script.store],
      latency: 20,
      heldFor: REQUEST_DEADLINE,
      draw: () => random.next(),
      delay: () => 5 + delays[Math.floor(random.next() * delays.length)]! * random.next(),
      twist: (_, result) =>
        script.store === "gcs" && result.storeTime !== undefined
          ? { ...result, storeTime: result.storeTime + (random.next() - 0.5) * disagreement }
          : result,
    })
    if (script.stranger !== "none") {
      this.stranger = new StrangerModel(this.world, "stranger", script.stranger, script.slow)
      this.world.watchdog.parties.push(this.stranger)
    }
    for (const one of script.processes) this.#spawn(one)
  }

  /** Writes of any age, which the network may double. */
  get writes(): readonly Request[] {
    return this.world.requests.filter(({ command }) => command.type !== "read")
  }

  run(): void {
    for (const [kind, who, how] of this.#script.moves) {
      const { processes } = this.world
      actOf(kind)(this, processes[who % processes.length]!, how)
    }
    this.#end()
  }

  acquire(process: ProcessModel, how: number): void {
    const budgetMs = budgets[how % budgets.length]
    const whenOwned = how % 7 === 0 ? "report" : "request"
    const contention = how % 2 === 0 ? "fail" : "retry"
    const minTenure = how % 5 === 0 ? 5000 : 0
    this.world.send(process, acquire({ budgetMs, whenOwned, contention, minTenure }))
  }

  renew(process: ProcessModel, how: number): void {
    const { token } = process
    const raise = how % 3 === 0 && token !== undefined ? { tokenAbove: token + 3 } : {}
    this.world.send(process, { type: "renew", ...raise })
  }

  /** It dies, and another starts in its place. */
  crash(process: ProcessModel): void {
    if (this.world.processes.length >= 6 || process.crashed) return
    const index = this.world.processes.indexOf(process)
    this.world.crash(process)
    this.#spawn(this.#script.processes[index % this.#script.processes.length]!)
  }

  /** It stands still, or goes on where it did. */
  freeze(process: ProcessModel, how: "stopped" | "suspended"): void {
    if (process.frozen === "no") process.freeze(how, this.world.at)
    else process.thaw(this.world.at)
  }

  #spawn({ ttl, rate, bootClock }: Script["processes"][number]): ProcessModel {
    const { store } = this.#script
    const sameClock = store === "memory"
    const guard = sameClock ? ttl / 10 : Math.max(2000, ttl / 10)
    const { sleepUnnoticed = false, stale = false, config } = this.#sabotage
    const clocks = { rate: sameClock ? 1 : rate, bootClock, sleepUnnoticed, stale }
    const options: ProcessOptions = { ttl, guard, ...clocks, ...config }
    return this.world.process(`p${this.#born++}`, options)
  }

  /** The faults stop: all come to rest, and a newcomer gets the key. */
  #end(): void {
    const { world } = this
    world.forget()
    for (const process of world.processes) {
      if (process.frozen !== "no") process.thaw(world.at)
      process.network = "up"
      world.send(process, { type: "cancel" })
    }
    world.advance(60_000)
    const alive = world.processes.filter(({ crashed }) => !crashed)
    const restless = alive.filter(({ phase }) => phase !== "idle" && phase !== "owning")
    if (restless.length > 0)
      throw new Error(`${restless.map(({ id, phase }) => `${id} is ${phase}`).join()} for a minute`)
    this.#newcomer(alive)
  }

  #newcomer(others: readonly ProcessModel[]): void {
    const { world } = this
    const newcomer = this.#spawn({ ttl: 12_000, rate: 1, bootClock: true })
    world.send(newcomer, acquire({ budgetMs: undefined, contention: "retry" }))
    const start = world.at
    const asked = ({ at, event }: Told): boolean => at >= start && event.type === "ReleaseRequested"
    while (!newcomer.holds(world.at)) {
      if (world.at > start + 240_000) throw new Error(`a newcomer is still ${newcomer.phase}: ${world.store.text}`)
      world.advance(250)
      for (const other of others) {
        if (other.told.some(asked)) world.send(other, { type: "release" })
      }
    }
    world.send(newcomer, { type: "release" })
    world.advance(15_000)
    if (newcomer.last("Released")?.result !== "released") throw new Error("a newcomer can't release the key")
  }
}

function actOf(kind: number): Act {
  let share = kind
  for (const [shares, act] of acts) {
    if (share < shares) return act
    share -= shares
  }
  throw new RangeError(`no act ${kind}`)
}

/** Plays a script; throws what was violated. */
export function play(script: Script, sabotage?: Sabotage): void {
  new Play(script, sabotage).run()
}

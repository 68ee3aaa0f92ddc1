/**
 * Plays a script of random moves on a world: what processes are asked, what the network does to each request, what the
 * machines suffer, what strangers do. The world's watchdog looks after every step; at the end the faults stop, and then
 * whoever gave up must come to rest and a newcomer must get the key.
 */
import fc from "fast-check"
import { guardOf } from "../../../src/locks/engine/options.ts"
import { parseRecord } from "../../../src/locks/record.ts"
import { SeededRandom } from "../../../src/runtime/time/random.ts"
import { acquire, type ProcessModel } from "./process-model.ts"
import { type Sabotage, saboteur } from "./sabotage.ts"
import { StrangerModel, type StrangerMove } from "./stranger-model.ts"
import { type ProcessOptions, REQUEST_DEADLINE, type Request, World } from "./world.ts"

/** The stores that differ in what the protocol does on them. */
const stores = {
  gcs: { clock: "coarse", spacing: 1000 },
  memory: { clock: "exact", spacing: 0 },
  clockless: { clock: "none", spacing: 0 },
  /** The store's time is that of each host, as in a directory that two hosts share. */
  hosts: { clock: "exact", spacing: 0 },
} as const

interface Machine {
  readonly ttl: number
  readonly rate: number
  readonly bootClock: boolean
  readonly strict: boolean
}

/** A run, complete: the same script gives the same world. */
export interface Script {
  readonly store: keyof typeof stores
  readonly seed: number
  readonly stranger: "none" | "keep" | "drop"
  /** How slow the stranger's clock is, in milliseconds. */
  readonly slow: number
  readonly processes: readonly Machine[]
  /** Locks without checkpoints, whose records are deleted on release. */
  readonly deletes: boolean
  /** An operator deletes records, also under live owners; `seen`: only such as everybody knows as they are. */
  readonly operator: "none" | "any" | "seen"
  readonly moves: readonly (readonly [kind: number, who: number, how: number])[]
}

export const scripts: fc.Arbitrary<Script> = fc.record({
  store: fc.constantFrom("gcs", "gcs", "memory", "clockless", "hosts"),
  seed: fc.nat(2 ** 31 - 1),
  stranger: fc.constantFrom("none", "none", "keep", "drop"),
  slow: fc.constantFrom(0, 0, 60_000),
  processes: fc.array(
    fc.record({
      ttl: fc.constantFrom(6000, 12_000, 30_000),
      rate: fc.constantFrom(1, 0.975, 1.025),
      bootClock: fc.constantFrom(true, true, false),
      strict: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 2, maxLength: 3 },
  ),
  deletes: fc.constantFrom(false, false, false, true),
  operator: fc.constantFrom("none", "none", "none", "none", "any", "seen"),
  moves: fc.array(fc.tuple(fc.nat(99), fc.nat(7), fc.nat(999)), { minLength: 10, maxLength: 150, size: "max" }),
})

type Act = (game: Play, process: ProcessModel, how: number) => void

/** Each kind of move with its share of a hundred. */
const acts: readonly (readonly [share: number, act: Act])[] = [
  [24, (game, _, how) => game.world.advance(how)],
  [8, (game, _, how) => game.world.advance(how * 10)],
  [2, (game, _, how) => game.world.advance(how * 40)],
  [8, (game, _, how) => pick(game.world.undelivered, how, (request) => game.world.deliver(request))],
  [8, (game, process) => each(game.world.open(process), (request) => game.world.answer(request))],
  [3, (game, process) => each(game.world.open(process), (request) => game.world.lose(request))],
  [3, (game, process) => each(game.world.open(process), (request) => game.world.loseAnswer(request))],
  [1, (game, _, how) => pick(game.writes, how, (request) => game.world.deliver(request))],
  [1, (game, _, how) => pick(game.answered, how, (request) => game.world.answer(request))],
  [9, (game, process, how) => game.acquire(process, how)],
  [3, (game, process) => game.world.send(process, { type: "cancel" })],
  [5, (game, process) => game.world.send(process, { type: "release" })],
  [3, (game, process, how) => game.renew(process, how)],
  [2, (game, process) => game.crash(process)],
  [5, (game, process) => game.freeze(process, "stopped")],
  [3, (game, process) => game.freeze(process, "suspended")],
  [4, (_, process, how) => void (process.network = networks[how % networks.length]!)],
  [7, (game, _, how) => game.stranger?.move(strangerMoves[how % strangerMoves.length]!)],
  [1, (game, process) => game.operate(process)],
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
/** How far the dates of a store's answers are apart, in milliseconds: half the least guard. */
const DISAGREEMENT = 1000
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
  #isDeleted = false

  constructor(script: Script, sabotage: Sabotage = {}) {
    const random = new SeededRandom(script.seed)
    const spoil = saboteur(sabotage)
    this.#script = script
    this.#sabotage = sabotage
    this.world = new World({
      ...stores[script.store],
      latency: 20,
      heldFor: REQUEST_DEADLINE,
      draw: () => random.next(),
      delay: () => 5 + delays[Math.floor(random.next() * delays.length)]! * random.next(),
      twist: (request, result, store) => {
        const { storeTime } = result
        const jitter = script.store === "gcs" ? (random.next() - 0.5) * (DISAGREEMENT / 2) : 0
        return spoil(request, storeTime === undefined ? result : { ...result, storeTime: storeTime + jitter }, store)
      },
    })
    // Tokens without a record are the store's time, as far as a sample tells.
    // And a create that the network doubles may land again after a deletion.
    if (script.deletes || script.operator !== "none") this.world.watchdog.excuse("growing tokens", "clean rest")
    // The promise of a lock without checkpoints ends where an operator deletes its record, but for those who knew it.
    if (script.operator === "any") this.world.watchdog.excuse("one holder")
    if (script.stranger !== "none" && script.store !== "hosts") {
      this.stranger = new StrangerModel(this.world, "stranger", script.stranger, script.slow)
      this.world.watchdog.parties.push(this.stranger)
    }
    for (const one of script.processes) this.#spawn(one)
  }

  /** Writes of any age, which the network may double. */
  get writes(): readonly Request[] {
    return this.world.requests.filter(({ command }) => command.type !== "read")
  }

  /** Requests whose answers were heard of or given up: they may come again, or late. */
  get answered(): readonly Request[] {
    return this.world.requests.filter(({ over, result }) => over && result !== undefined)
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

  /** Now and then an operator deletes the record, or stuck work leaves its lease to run out. */
  operate(process: ProcessModel): void {
    const { operator } = this.#script
    if (operator === "none") this.world.send(process, { type: "leaveToExpire" })
    else if (operator === "any" || this.#isKnownToAll()) this.#delete()
  }

  #delete(): void {
    this.#isDeleted = true
    this.world.store.remove(this.world.at)
  }

  /** Whether everybody has seen the record's owner as it stands; afterwards nobody comes who hasn't. */
  #isKnownToAll(): boolean {
    const { store, processes } = this.world
    const record = store.text === undefined ? undefined : parseRecord("k", store.text)
    if (record?.owner === undefined || record.owner.deletes || this.stranger !== undefined) return false
    return processes.every(
      ({ crashed, id, state }) => crashed || id === record.ownerId || state.remembered?.expiresAt === record.expiresAt,
    )
  }

  /** It dies, and another starts in its place. */
  crash(process: ProcessModel): void {
    if (this.world.processes.length >= 6 || process.crashed) return
    if (this.#isDeleted && this.#script.operator === "seen") return
    const index = this.world.processes.indexOf(process)
    this.world.crash(process)
    this.#spawn(this.#script.processes[index % this.#script.processes.length]!)
  }

  /** It stands still, or goes on where it did. */
  freeze(process: ProcessModel, how: "stopped" | "suspended"): void {
    if (process.frozen === "no") process.freeze(how, this.world.at)
    else process.thaw(this.world.at)
  }

  #spawn({ ttl, rate, bootClock, strict }: Machine): ProcessModel {
    const { store, deletes } = this.#script
    const sameClock = store === "memory" || store === "hosts"
    const guard = guardOf(ttl, { sameClock })
    const { sleepUnnoticed = false, stale = false, disagreement = DISAGREEMENT / 2, config } = this.#sabotage
    const clocks = { rate: sameClock ? 1 : rate, bootClock, sleepUnnoticed, stale }
    const number = this.#born++
    const options: ProcessOptions = { ttl, guard, strict, deletes, ...clocks, ...config }
    const side = number % 2
    const host = { name: "h", pid: number, startedAt: null, bootId: `boot-${side}`, pidNs: null, groups: [] }
    const home = store === "hosts" ? { bootId: host.bootId, host } : {}
    const process = this.world.process(`p${number}`, { ...options, ...home })
    const apart = { gcs: disagreement, hosts: 1_000_000, memory: 0, clockless: 0 }[store]
    process.storeSkew = (side - 0.5) * apart
    return process
  }

  /** The faults stop: all come to rest, and a newcomer gets the key. */
  #end(): void {
    const { world } = this
    world.forget()
    for (const process of world.processes) {
      if (process.frozen !== "no") process.thaw(world.at)
      process.network = "up"
    }
    if (this.#script.seed % 2 === 0) this.#serve()
    for (const process of world.processes) world.send(process, { type: "cancel" })
    world.advance(60_000)
    const alive = world.processes.filter(({ crashed }) => !crashed)
    const restless = alive.filter(({ phase }) => phase !== "idle" && phase !== "owning")
    if (restless.length > 0)
      throw new Error(`${restless.map(({ id, phase }) => `${id} is ${phase}`).join()} for a minute`)
    this.#newcomer(alive)
  }

  /** Whoever wants the key gets it in turn, or gives up in time: nobody waits for ever. */
  #serve(): void {
    const { world } = this
    const seekers = world.processes.filter(({ crashed, phase }) => !crashed && phase === "seeking")
    this.#leaveWhenAsked(world.processes, () => seekers.every(({ phase }) => phase !== "seeking"), "some still seek")
  }

  /** Time goes by until something holds, and owners who were asked to leave leave. */
  #leaveWhenAsked(owners: readonly ProcessModel[], until: () => boolean, problem: string): void {
    const { world } = this
    for (const start = world.at; !until(); world.advance(250)) {
      if (world.at > start + 600_000) throw new Error(`${problem}: ${world.store.text}`)
      for (const owner of owners) if (asked(owner)) world.send(owner, { type: "release" })
    }
  }

  #newcomer(others: readonly ProcessModel[]): void {
    const { world } = this
    const newcomer = this.#spawn({ ttl: 12_000, rate: 1, bootClock: true, strict: false })
    world.send(newcomer, acquire({ budgetMs: undefined, contention: "retry" }))
    const start = world.at
    this.#leaveWhenAsked(others, () => newcomer.holds(world.at), "a newcomer doesn't get the key")
    if (world.at > start + 240_000) throw new Error("a newcomer got the key late")
    world.send(newcomer, { type: "release" })
    world.advance(15_000)
    if (newcomer.last("Released")?.result !== "released") throw new Error("a newcomer can't release the key")
  }
}

/** Whether an owner was asked to leave since it acquired the key. */
const asked = ({ types }: ProcessModel): boolean =>
  types.lastIndexOf("ReleaseRequested") > types.lastIndexOf("Acquired")

function actOf(kind: number): Act {
  let share = kind
  for (const [shares, act] of acts) {
    if (share < shares) return act
    share -= shares
  }
  throw new RangeError(`no act ${kind}`)
}

/** Plays a number of scripts; what was violated first, with the smallest script that violates it. */
export function interleave(runs: number, seed: number, sabotage?: Sabotage): fc.RunDetails<[Script]> {
  const holds = fc.property(scripts, (script) => new Play(script, sabotage).run())
  return fc.check(holds, { numRuns: runs, seed, endOnFailure: sabotage !== undefined })
}

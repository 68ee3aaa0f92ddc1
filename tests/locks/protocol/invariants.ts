/**
 * What must be true in every world after every step, whatever a test or chance does to it. A violation is thrown at the
 * step that made it. Assumes what protocol.md assumes; `excuse` is for tests that leave those assumptions on purpose.
 */
import { assertSoundWrites } from "../../../src/locks/protocol/rules/invariant.ts"
import type { Command, LockState } from "../../../src/locks/protocol/rules/state.ts"
import { past } from "../../../src/locks/protocol/rules/time.ts"
import { type LeaseRecord, parseRecord } from "../../../src/locks/record.ts"
import type { ProcessModel } from "./process-model.ts"
import type { World } from "./world.ts"

/** Without a record tokens are the time of the store, or of a host, which may be this much less. In milliseconds. */
const ROUGHLY = 2_000_000

/** The names of what is watched. */
export type Invariant =
  | "one holder"
  | "growing tokens"
  | "silence after leaving"
  | "one signal"
  | "in budget"
  | "clean rest"
  | "one flight"

/** Somebody outside the protocol who may act on the key, such as a stranger. */
export interface Party {
  readonly id: string
  holds(at: number): boolean
}

export class Violation extends Error {
  readonly invariant: Invariant

  constructor(invariant: Invariant, message: string) {
    super(`${invariant}: ${message}`)
    this.invariant = invariant
  }
}

/** The halves that count in a body, and the line; none in one that is no record. */
function halvesOf(text: string): Partial<Pick<LeaseRecord, "owner" | "waiter" | "line">> {
  try {
    return parseRecord("k", text)
  } catch {
    return {}
  }
}

export class Watchdog {
  /** Others who may hold the key. */
  readonly parties: Party[] = []
  readonly #world: World
  readonly #excused = new Set<Invariant>()
  readonly #left = new Set<string>()
  readonly #signalled = new Set<string>()
  readonly #seen = new Map<ProcessModel, number>()
  readonly #before = new Map<ProcessModel, LockState>()
  #topToken = -1

  constructor(world: World) {
    this.#world = world
  }

  /** The test breaks an assumption on which this rests. */
  excuse(...invariants: readonly Invariant[]): void {
    for (const invariant of invariants) this.#excused.add(invariant)
  }

  /** A process has made a step. */
  stepped(process: ProcessModel): void {
    const { at } = this.#world
    this.#oneHolder()
    assertSoundWrites(process.state)
    const from = this.#seen.get(process) ?? 0
    this.#seen.set(process, process.told.length)
    for (const { event } of process.told.slice(from)) {
      if (event.type === "Acquired") this.#acquired(process, event.token)
      if (event.type === "ReleaseRequested") this.#asked(process)
    }
    if (process.token !== undefined) this.#topToken = Math.max(this.#topToken, process.token)
    this.#inBudget(process, at)
    this.#rested(process, this.#before.get(process))
    this.#before.set(process, process.state)
  }

  /** The store may have changed. */
  wrote(): void {
    this.#oneHolder()
  }

  /** Time has passed. */
  looked(): void {
    this.#oneHolder()
    for (const process of this.#world.processes) this.#inBudget(process, this.#world.at)
  }

  /** A process sends a request. */
  sent(process: ProcessModel, command: Exclude<Command, { type: "abandon" }>): void {
    const open = this.#world.requests.filter((request) => request.process === process && !request.over)
    if (open.length > 1) this.#fail("one flight", `${process.id} has ${open.length} requests under way`)
    if (command.type === "read") return
    const { phase } = process.state
    if (command.type === "remove") {
      if (phase.name === "leaving") this.#left.add(`${process.id} ${phase.hold.token}`)
      return
    }
    const body = JSON.parse(command.body) as { ownerId: string | null; owner: { token?: number } | null }
    const mine = body.ownerId === process.id ? `${process.id} ${body.owner?.token}` : undefined
    if (mine !== undefined && this.#left.has(mine)) {
      this.#fail("silence after leaving", `${process.id} writes as owner under ${body.owner?.token} again`)
    }
    if (phase.name === "leaving") this.#left.add(`${process.id} ${phase.hold.token}`)
  }

  #oneHolder(): void {
    const { processes, at } = this.#world
    const holders = [...processes, ...this.parties].filter((party) => party.holds(at)).map(({ id }) => id)
    if (holders.length > 1) this.#fail("one holder", `${holders.join(" and ")} hold the key at ${at}`)
  }

  #acquired(process: ProcessModel, token: number): void {
    if (this.#excused.has("growing tokens") && token < this.#topToken - ROUGHLY)
      throw new Violation("growing tokens", `${process.id} acquired with ${token} long after ${this.#topToken}`)
    if (token <= this.#topToken) {
      this.#fail("growing tokens", `${process.id} acquired with ${token} after ${this.#topToken}`)
    }
    if (this.#left.has(`${process.id} ${token}`))
      this.#fail("silence after leaving", `${process.id} owns ${token} again`)
    this.#topToken = token
  }

  #asked(process: ProcessModel): void {
    const { phase, view } = process.state
    const nonce = view?.record?.waiter?.nonce
    if (nonce === undefined || phase.name !== "owning") return
    const signal = `${process.id} ${phase.hold.nonce} ${nonce}`
    if (this.#signalled.has(signal)) this.#fail("one signal", `${process.id} was asked twice for ${nonce}`)
    this.#signalled.add(signal)
  }

  /** Who is through with the key leaves no half of its own there, and nothing on its way that can still make one. */
  #rested(process: ProcessModel, before: LockState | undefined): void {
    if (process.phase !== "idle" || before === undefined) return
    const { phase } = before
    if (phase.name === "leaving" && process.last("Released")?.result === "released")
      return this.#leavesNone(process, phase.hold.nonce)
    const gaveUp = phase.name === "clearing" && past(phase.until, process.now(this.#world.at))
    if (phase.name === "seeking" || (phase.name === "clearing" && !gaveUp))
      this.#leavesNone(process, phase.attempt.nonce)
  }

  #leavesNone(process: ProcessModel, nonce: string): void {
    const { store, undelivered } = this.#world
    const coming = undelivered.flatMap(({ process: sender, command }) =>
      sender === process && command.type === "put" && command.expected === store.generation ? [command.body] : [],
    )
    for (const text of [store.text ?? [], ...coming].flat()) {
      const { owner, waiter, line = [] } = halvesOf(text)
      if ([owner, waiter, ...line].some((half) => half?.nonce === nonce))
        this.#fail("clean rest", `${process.id} is through with the key, and has left ${nonce} behind`)
    }
  }

  #inBudget(process: ProcessModel, at: number): void {
    const { phase } = process.state
    if (phase.name !== "seeking" || process.frozen !== "no" || process.crashed) return
    const { budgetMs, startedAt } = phase.attempt
    if (budgetMs === undefined) return
    const late = process.now(at).mono - startedAt.mono - (budgetMs === 0 ? 10_000 : budgetMs)
    if (late > 1) this.#fail("in budget", `${process.id} still seeks ${late} ms after its budget`)
  }

  #fail(invariant: Invariant, message: string): void {
    if (!this.#excused.has(invariant)) throw new Violation(invariant, message)
  }
}

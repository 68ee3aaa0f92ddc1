/**
 * A small world for the head protocol: a compare-and-swap object, owners that run the production function, and a
 * network that delivers, delays and drops requests and answers as a list of choices says. Every owner always believes
 * that it holds its lease, as a process does that was stopped between its check and its write: the head alone has to
 * fence it.
 *
 * Each owner's state is the list of all commits it builds on, so a lost commit is one that a later version doesn't
 * list.
 */
import { Buffer } from "node:buffer"
import type { Head, Saved } from "../../../src/actors/checkpoints/head/head.ts"
import { dueAt, initialState, leftBy, step } from "../../../src/actors/checkpoints/head/protocol.ts"
import type {
  HeadAnswer,
  HeadCommand,
  HeadInput,
  HeadOutcome,
  HeadSettings,
  HeadState,
  HeadTask,
} from "../../../src/actors/checkpoints/head/types.ts"
import { ABSENT, type Generation } from "../../../src/locks/stores/port.ts"

export const settings: HeadSettings = {
  key: "counter/a",
  type: "counter",
  version: 1,
  leases: "memory",
  ttlMs: 30_000,
  past: [],
  keep: 1,
  spacingMs: 0,
  requestMs: 5000,
}

type Sent = Extract<HeadCommand, { type: "read" | "put" }>

interface Message {
  readonly owner: number
  readonly command: Sent
  readonly answer?: HeadAnswer
}

interface Owner {
  state: HeadState
  at: number
  /** What it has restored or committed; undefined until its claim is known applied. */
  log: readonly string[] | undefined
  /** The commit under way. */
  commit: string | undefined
  /** It has granted the key: it begins nothing more. */
  isGone: boolean
}

export interface Tally {
  claimed: number
  stored: number
  rejected: number
  unknown: number
  raised: number
  /** Claims that wrote nothing, after a grant. */
  skipped: number
}

export const emptyTally = (): Tally => ({ claimed: 0, stored: 0, rejected: 0, unknown: 0, raised: 0, skipped: 0 })

export const savedLog = (log: readonly string[]): Saved => {
  const json = JSON.stringify(log)
  return { state: "inline", inline: Buffer.from(json).toString("base64"), sha256: json, bytes: json.length }
}

const logOf = (head: Head | null): readonly string[] =>
  head?.saved.state === "inline" ? (JSON.parse(Buffer.from(head.saved.inline, "base64").toString()) as string[]) : []

/** How owners follow one another, and what is broken on purpose. */
export interface HeadWorldOptions {
  /** True: by grants more than by takeovers. */
  readonly grants?: boolean
  /** False breaks rule 15: owners run on what they read. */
  readonly claims?: boolean
  /** True breaks it in another way: a grant names the head's generation even where a write of the granter is open. */
  readonly leavesOpen?: boolean
}

export class HeadWorld {
  readonly history: Head[] = []
  readonly #owners: Owner[] = []
  readonly #acknowledged: string[] = []
  readonly #rejected: string[] = []
  readonly #tally: Tally
  readonly #options: HeadWorldOptions
  /** Whose activation began on the latest version of the head: nobody else's writes may land after that. */
  #latest = { began: -1, owner: -1 }
  #messages: Message[] = []
  #generation = ABSENT
  #head: Head | null = null
  #writes = 0
  #fresh = 0
  #token = 100

  constructor(tally: Tally, options: HeadWorldOptions = {}) {
    this.#tally = tally
    this.#options = options
  }

  /** Takes one of the steps that are possible now. */
  choose(choice: number): void {
    const steps = this.#possible()
    steps[choice % steps.length]?.()
  }

  /** Delivers everything that is still under way and lets every task end. */
  finish(): void {
    for (let left = 1000; left > 0; left--) {
      const message = this.#messages[0]
      const owner = this.#owners.findIndex(({ state }) => dueAt(state) !== undefined)
      if (message !== undefined) this.#deliver(message)
      else if (owner >= 0) this.#tick(owner)
      else break
    }
    for (const id of this.#rejected)
      if (this.history.some((head) => logOf(head).includes(id))) throw new Error(`${id} was rejected, and it landed`)
  }

  #possible(): (() => void)[] {
    const steps: (() => void)[] = []
    const hasRoom = this.#owners.length < 3
    const byGrant = this.#options.grants === true && this.#owners.length > 0
    if (hasRoom && !byGrant)
      steps.push(
        () => this.#takeOver(1),
        () => this.#takeOver(0),
        () => this.#takeOver(-1),
      )
    for (const message of this.#messages) {
      steps.push(
        () => this.#deliver(message),
        () => this.#deliver(message),
        () => this.#drop(message),
      )
    }
    this.#owners.forEach((owner, index) => {
      if (dueAt(owner.state) !== undefined) steps.push(() => this.#tick(index))
      if (owner.state.job !== null || owner.isGone) return
      if (owner.log === undefined) return void steps.push(() => this.#begin(index, { kind: "claim" }))
      steps.push(
        () => this.#commit(index),
        () => this.#commit(index),
        () => this.#begin(index, { kind: "settle" }),
      )
      if (hasRoom) steps.push(() => this.#grant(owner))
      if (hasRoom && byGrant) steps.push(() => this.#takeOver(1))
    })
    return steps
  }

  /** A next owner; `ahead` says how its token compares with the highest so far, as after records deleted by hand. */
  #takeOver(ahead: number, left?: Generation): void {
    this.#token += Math.max(0, ahead)
    const past = this.#owners.map(({ state }) => state.nonce)
    const state = initialState({ ...settings, left, past }, this.#token + Math.min(0, ahead), this.#id())
    const owner: Owner = { state, at: 0, log: undefined, commit: undefined, isGone: false }
    const index = this.#owners.push(owner) - 1
    if (this.#options.claims !== false) return this.#begin(index, { kind: "claim" })
    owner.state = { ...state, phase: "owner", base: { generation: this.#generation, head: this.#head } }
    owner.log = logOf(this.#head)
  }

  #grant(owner: Owner): void {
    owner.isGone = true
    this.#takeOver(1, this.#options.leavesOpen ? owner.state.base!.generation : leftBy(owner.state))
  }

  #commit(index: number): void {
    const owner = this.#owners[index]!
    owner.commit = this.#id()
    owner.log = [...owner.log!, owner.commit]
    this.#begin(index, { kind: "commit", saved: savedLog(owner.log) })
  }

  #begin(index: number, task: HeadTask): void {
    this.#input(index, { type: "begin", task, until: this.#owners[index]!.at + 6000 })
  }

  #tick(index: number): void {
    const owner = this.#owners[index]!
    owner.at = Math.max(owner.at, dueAt(owner.state)!)
    this.#input(index, { type: "tick" })
  }

  #input(index: number, input: HeadInput): void {
    const owner = this.#owners[index]!
    const next = step(owner.state, input, { at: owner.at, draw: 0.5, fresh: this.#id(), held: true, admitted: true })
    owner.state = JSON.parse(JSON.stringify(next.state)) as HeadState
    for (const command of next.commands) {
      if (command.type === "ended") this.#ended(index, command.outcome)
      else if (command.type === "renew") this.#renew(index, command.request)
      else if (command.type === "raise") this.#raise(index, command.request, command.above)
      else this.#messages.push({ owner: index, command })
    }
  }

  /** Every lease stands. */
  #renew(index: number, request: number): void {
    this.#input(index, { type: "answer", request, answer: { kind: "renewed" } })
  }

  #raise(index: number, request: number, above: number): void {
    this.#token = Math.max(this.#token, above) + 1
    this.#tally.raised++
    this.#input(index, { type: "answer", request, answer: { kind: "raised", token: this.#token } })
  }

  #deliver(message: Message): void {
    this.#drop(message)
    const { owner, command, answer } = message
    if (answer !== undefined) return this.#input(owner, { type: "answer", request: command.request, answer })
    this.#messages.push({ owner, command, answer: command.type === "read" ? this.#read() : this.#put(owner, command) })
  }

  #drop(message: Message): void {
    this.#messages = this.#messages.filter((other) => other !== message)
  }

  #read(): HeadAnswer {
    if (this.#head === null) return { kind: "absent" }
    return { kind: "found", generation: this.#generation, head: this.#head }
  }

  #put(index: number, command: Extract<HeadCommand, { type: "put" }>): HeadAnswer {
    if (command.expected !== this.#generation) return { kind: "refused" }
    if (this.#options.claims !== false && this.#owners[index]!.log !== undefined && this.#latest.owner !== index)
      throw new Error("a former owner's write landed after the next one began to run")
    const before = this.#head
    const { token, nonce, seq } = command.head
    if (before?.token === token && before.nonce !== nonce) throw new Error(`two owners wrote under token ${token}`)
    if (before !== null && (token < before.token || (token === before.token && seq <= before.seq)))
      throw new Error(`(${token}, ${seq}) was written over (${before.token}, ${before.seq})`)
    const lost = this.#acknowledged.find((id) => !logOf(command.head).includes(id))
    if (lost !== undefined) throw new Error(`${lost} was acknowledged, and overwritten`)
    this.#head = command.head
    this.history.push(command.head)
    this.#generation = String(++this.#writes)
    return { kind: "applied", generation: this.#generation }
  }

  #ended(index: number, outcome: HeadOutcome): void {
    const owner = this.#owners[index]!
    const id = owner.commit
    owner.commit = undefined
    const { phase, nonce, base } = owner.state
    if (phase === "fenced" && base?.head?.nonce === nonce) throw new Error("an owner was fenced by a write of its own")
    if (outcome.kind === "done" && owner.log === undefined) {
      owner.log = logOf(outcome.before)
      const began = Number(base!.generation)
      if (began >= this.#latest.began) this.#latest = { began, owner: index }
      this.#tally.claimed++
      if (!outcome.written) this.#tally.skipped++
    } else if (outcome.kind === "done" && id !== undefined) {
      if (!logOf(this.#head).includes(id)) throw new Error(`${id} was acknowledged, and isn't stored`)
      this.#acknowledged.push(id)
      this.#tally.stored++
    } else if (outcome.kind === "rejected" && id !== undefined) {
      this.#rejected.push(id)
      this.#tally.rejected++
    } else if (outcome.kind === "unknown") {
      this.#tally.unknown++
    }
  }

  #id(): string {
    return `i${++this.#fresh}`
  }
}

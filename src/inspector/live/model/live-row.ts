/**
 * One sandbox at one worker, kept current line by line. A line costs the same whatever came before it.
 *
 * Not promised: what no line told. A row that began with a line knows its owner, token and deadline from later ones.
 */
import type { SandboxStateValue } from "../../../trace/state-value.ts"
import type { LockLine, StateLine, TraceError, TraceLine, WorkLine } from "../../../trace/trace.ts"
import { partsOf, type StateParts, stepBetween, type TopState } from "./states.ts"
import type { SandboxRow } from "./wire.ts"

/** How long a change of hands counts: `SandboxRow.handoffs` are those of the last five minutes. In milliseconds. */
export const HANDOFFS_WITHIN = 300_000

/** Of one sandbox. More within five minutes are as bad as these, and would only take room. */
const MOST_HANDOFFS = 100

/** A row that lines change. */
export class LiveRow implements SandboxRow {
  readonly worker: string
  readonly key: string
  /** Its place in `Fleet.slots`, while it is there; another row may have it later. */
  readonly slot: number
  value: SandboxStateValue
  parts: StateParts
  since: number
  token: number | null = null
  deadline: number | null = null
  ownedSince: number | null = null
  owner: SandboxRow["owner"] = null
  waiterId: string | null = null
  leaving: string | null = null
  stuck: string | null = null
  error: TraceError | null = null
  /** The step that was taken last, `from>to`. */
  lastEdge: string | null = null
  /** Steps and how often each was taken, one after the other: rows are many, and the steps of each are few. */
  readonly #edges: (string | number)[] = []
  /** When it changed hands, the latest last. */
  readonly #handoffs: number[] = []
  /** Sections of work that have begun and not ended, by their id. */
  #sections: Map<number, string> | undefined

  constructor(worker: string, key: string, slot: number, { value, since }: Pick<SandboxRow, "value" | "since">) {
    this.worker = worker
    this.key = key
    this.slot = slot
    this.value = value
    this.parts = partsOf(value)
    this.since = since
  }

  /** Where it is, of the states at the top. */
  get state(): TopState {
    return this.parts.top
  }

  get handoffs(): number {
    return this.#handoffs.length
  }

  /** How often each step was taken, by `from>to`, since the row is known here. */
  get edges(): Readonly<Record<string, number>> {
    const edges: Record<string, number> = {}
    for (let at = 0; at < this.#edges.length; at += 2) edges[String(this.#edges[at])] = Number(this.#edges[at + 1])
    return edges
  }

  /** Takes over what a worker tells of it. `now`: of the changes of hands that it counts nobody tells the time. */
  become(row: SandboxRow, now: number): void {
    const { value, since, token, deadline, ownedSince, owner, waiterId, leaving, stuck, error, handoffs } = row
    this.value = value
    this.parts = partsOf(value)
    Object.assign(this, { since, token, deadline, ownedSince, owner, waiterId, leaving, stuck, error })
    this.#handoffs.splice(0)
    for (let count = 0; count < Math.min(handoffs, MOST_HANDOFFS); count++) this.#handoffs.push(now)
  }

  /** Takes a line about it. Whether it is another for it. */
  take(line: TraceLine): boolean {
    switch (line.kind) {
      case "state":
        return this.#state(line)
      case "lock":
        return this.#lock(line)
      case "work":
        return this.#work(line)
      case "request":
      case "answer":
      case "handoff":
      case "call":
      case "applied":
      case "note":
      case "fault":
        return false
    }
  }

  /** Drops changes of hands that are long ago. Whether there were any. */
  forgetBefore(at: number): boolean {
    const kept = this.#handoffs.findIndex((each) => each >= at)
    const gone = this.#handoffs.splice(0, kept < 0 ? this.#handoffs.length : kept)
    return gone.length > 0
  }

  #state({ at, value, token, leaving, error }: StateLine): boolean {
    const before = this.parts
    this.value = value
    this.parts = partsOf(value)
    const { top, work } = this.parts
    const step = stepBetween(before, this.parts)
    if (step !== null) this.#count(step)
    if (top !== before.top) this.#entered(top, at)
    if (token !== null) this.token = token
    this.leaving = leaving ?? null
    this.stuck = work === "stuck" ? (this.#oldestSection() ?? this.stuck ?? "work") : null
    if (error !== undefined) this.error = error
    else if (work === "running") this.error = null
    return true
  }

  #entered(top: TopState, at: number): void {
    this.since = at
    const isOwned = top === "owning" || top === "handingOff"
    this.ownedSince = isOwned ? (this.ownedSince ?? at) : null
    if (top !== "waiting") this.owner = null
    if (isOwned) return
    this.deadline = null
    this.waiterId = null
    this.#sections = undefined
  }

  #lock({ at, wall, type, token, deadline, owner, waiterId, how, error }: LockLine): boolean {
    if (error !== undefined) this.error = error
    if (deadline !== undefined) this.deadline = at + (deadline - wall)
    switch (type) {
      case "Acquired":
        if (token !== undefined) this.token = token
        if (how === "granted" || how === "reserved" || how === "takeover") this.#changedHands(at)
        return true
      case "Waiting":
        if (owner !== undefined) this.owner = { ownerId: owner.ownerId, address: owner.address ?? null }
        return true
      case "ReleaseRequested":
        this.waiterId = waiterId ?? null
        return true
      case "Granted":
        this.waiterId = waiterId ?? null
        this.#changedHands(at)
        return true
      case "Lost":
      case "Released":
        this.deadline = null
        return true
      case "Renewed":
      case "Recovered":
      case "Degraded":
      case "Suspect":
      case "GaveUp":
        return true
    }
  }

  #work({ id, work, edge, error }: WorkLine): boolean {
    if (edge === "began") {
      this.#sections ??= new Map()
      if (this.#sections.size < MOST_SECTIONS) this.#sections.set(id, work)
    } else this.#sections?.delete(id)
    if (error === undefined) return false
    this.error = error
    return true
  }

  /** What has begun and not ended: of several the one that goes on longest, but for `run`, which may go on for ever. */
  #oldestSection(): string | undefined {
    const open = [...(this.#sections?.values() ?? [])]
    return open.find((work) => work !== "run") ?? open[0]
  }

  #changedHands(at: number): void {
    if (this.#handoffs.length >= MOST_HANDOFFS) this.#handoffs.shift()
    this.#handoffs.push(at)
  }

  #count(step: string): void {
    this.lastEdge = step
    const index = this.#edges.indexOf(step)
    if (index >= 0) this.#edges[index + 1] = Number(this.#edges[index + 1]) + 1
    else if (this.#edges.length < 2 * MOST_EDGES) this.#edges.push(step, 1)
  }
}

/** The chart has some 60 steps between its innermost states; what others write may have any number. */
const MOST_EDGES = 100

/** Turns and hooks are one at a time; uses that never end are few. */
const MOST_SECTIONS = 50

/** The state of a row in its parts, which a live row has at hand. */
export const stateParts = (row: SandboxRow): StateParts => (row instanceof LiveRow ? row.parts : partsOf(row.value))

/** The row as it goes on the wire. */
export function rowOf(row: LiveRow): SandboxRow {
  const { worker, key, value, since, token, deadline, ownedSince, owner, waiterId, leaving, stuck, error } = row
  const { handoffs } = row
  return { worker, key, value, since, token, deadline, ownedSince, owner, waiterId, leaving, stuck, error, handoffs }
}

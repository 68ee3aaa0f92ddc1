/**
 * All that is known of a fleet, kept current message by message and line by line: rows of sandboxes, workers, how many
 * are in each state, the last errors. The page, the terminal and the server that asks other workers stand on it. A line
 * costs the same for ten rows and for 100,000. It runs in a browser too, and reads no clock: times are those of the
 * lines.
 *
 * Not promised: every sandbox that there ever was. Of the released the last `RELEASED_KEPT` stay.
 */
import { isTraceLine } from "../../../trace/trace-text.ts"
import type { TraceError, TraceLine, UnknownLine } from "../../../trace/trace.ts"
import { HANDOFFS_WITHIN, LiveRow } from "./live-row.ts"
import type { TopState } from "./states.ts"
import type { Forget, Hello, Lines, SandboxRow, WireMessages, WorkerRow } from "./wire.ts"
import { workerAfter } from "./worker-lines.ts"

/** How many released sandboxes stay in sight: as many as a person looks through, not all of a day. */
export const RELEASED_KEPT = 2000

/** More rows are left out: twice as many as the page is made for. Who floods a fleet with names doesn't fill memory. */
export const MOST_ROWS = 200_000

/** Of one worker: so that none, by mistake or on purpose, keeps the others' out. */
export const MOST_ROWS_EACH: number = MOST_ROWS / 2

/** How many of the last errors are kept. */
export const ERRORS_KEPT = 200

/** Something that went wrong, as a line told. */
export interface FleetError {
  readonly at: number
  readonly worker: string
  readonly key: string | null
  readonly error: TraceError
}

/** What is different since it was last asked for. */
export interface FleetChanges {
  /** Everything: there was a `hello`. */
  readonly all: boolean
  /** Rows that are new, or say something else. Those of `gone` aren't among them. */
  readonly rows: ReadonlySet<LiveRow>
  /** Rows that are no more. Their slots may have others. */
  readonly gone: ReadonlySet<LiveRow>
  readonly workers: boolean
  readonly errors: boolean
}

/** A fleet. */
export class Fleet {
  #hello: Hello | undefined
  /** By the last word of time that there was; undefined before one. */
  #now: number | undefined
  #isReady = false
  readonly #slots: (LiveRow | undefined)[] = []
  readonly #freeSlots: number[] = []
  readonly #rows = new Map<string, Map<string, LiveRow>>()
  readonly #workers = new Map<string, WorkerRow>()
  /** Workers of which messages tell: lines needn't. */
  readonly #told = new Set<string>()
  readonly #counts: Record<TopState, number> = noStates()
  /** In the order in which they were released. */
  readonly #released = new Set<LiveRow>()
  /** Those that changed hands in the last minutes. */
  readonly #handed = new Set<LiveRow>()
  #errors: FleetError[] = []
  #size = 0
  #changes: Changes = noChanges()

  /** The beginning of the stream; undefined before there was one. */
  get hello(): Hello | undefined {
    return this.#hello
  }

  /** All rows that there were at the beginning are here. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Rows by their slot: a row keeps it, so that it can be drawn in one place. A free slot is undefined. */
  get slots(): readonly (LiveRow | undefined)[] {
    return this.#slots
  }

  /** How many rows there are. */
  get size(): number {
    return this.#size
  }

  /** How many rows are in each state. */
  get counts(): Readonly<Record<TopState, number>> {
    return this.#counts
  }

  /** By name. */
  get workers(): ReadonlyMap<string, WorkerRow> {
    return this.#workers
  }

  /** The latest last. */
  get errors(): readonly FleetError[] {
    return this.#errors.slice(-ERRORS_KEPT)
  }

  /** All rows, in no order that means something. */
  *rows(): Iterable<LiveRow> {
    for (const row of this.#slots) if (row !== undefined) yield row
  }

  /** The row of a sandbox at a worker. */
  find(worker: string, key: string): LiveRow | undefined {
    return this.#rows.get(worker)?.get(key)
  }

  /** The rows of a key, at every worker that has one. */
  ofKey(key: string): readonly LiveRow[] {
    return [...this.#rows.values()].flatMap((rows) => rows.get(key) ?? [])
  }

  /** The name of the worker with this incarnation. */
  nameOf(ownerId: string): string | undefined {
    for (const { worker, ownerId: id } of this.#workers.values()) if (id === ownerId) return worker
    return undefined
  }

  /** Takes one message. */
  apply<K extends keyof WireMessages>(event: K, message: WireMessages[K]): void {
    this.#appliers[event](message)
  }

  readonly #appliers: { readonly [K in keyof WireMessages]: (message: WireMessages[K]) => void } = {
    hello: (hello) => this.#begin(hello),
    rows: (rows) => this.#take(rows),
    ready: () => {
      this.#isReady = true
    },
    lines: ({ lines }: Lines) => {
      for (const line of lines) this.line(line)
    },
    workers: (workers) => this.#replaceWorkers(workers),
    forget: ({ workers }: Forget) => {
      for (const worker of workers) this.#forget(worker)
    },
  }

  /** Takes one line of a trace. One of a kind that isn't known changes nothing. */
  line(line: TraceLine | UnknownLine): void {
    if (!isOfWorker(line)) return
    const { worker } = line
    if (!this.#told.has(worker)) this.#noteWorker(worker, line)
    if (line.kind === "fault") return this.#fault(worker, line.fault)
    const key = "key" in line && typeof line.key === "string" ? line.key : null
    if ("error" in line && line.error !== undefined) this.#note({ at: line.at, worker, key, error: line.error })
    if (key !== null) this.#ofKey(worker, key, line)
  }

  /** Time goes by: what is long ago counts no more. Once a second is often enough. */
  tick(now: number): void {
    this.#now = now
    for (const row of this.#handed) {
      if (row.forgetBefore(now - HANDOFFS_WITHIN)) this.#changes.rows.add(row)
      if (row.handoffs === 0) this.#handed.delete(row)
    }
  }

  /** What is different since the last call. */
  takeChanges(): FleetChanges {
    const changes = this.#changes
    this.#changes = noChanges()
    return changes
  }

  #begin(hello: Hello): void {
    this.#hello = hello
    this.#now = hello.now
    this.#isReady = false
    this.#slots.length = 0
    this.#freeSlots.length = 0
    for (const known of [this.#rows, this.#workers, this.#told, this.#released, this.#handed]) known.clear()
    Object.assign(this.#counts, noStates())
    this.#errors = []
    this.#size = 0
    this.#changes = { ...noChanges(), all: true, workers: true, errors: true }
  }

  #take(rows: readonly SandboxRow[]): void {
    for (const told of rows) {
      const row = this.find(told.worker, told.key) ?? this.#add(told)
      if (row === undefined) continue
      this.#count(row, -1)
      row.become(told, this.#now ?? told.since)
      this.#count(row, 1)
      this.#settle(row)
    }
  }

  #replaceWorkers(workers: readonly WorkerRow[]): void {
    this.#told.clear()
    this.#workers.clear()
    for (const row of workers) {
      this.#workers.set(row.worker, row)
      this.#told.add(row.worker)
    }
    this.#changes.workers = true
  }

  #noteWorker(worker: string, line: TraceLine): void {
    const before = this.#workers.get(worker)
    const after = workerAfter(before, worker, line)
    if (after === before) return
    this.#workers.set(worker, after)
    this.#changes.workers = true
  }

  #ofKey(worker: string, key: string, line: TraceLine): void {
    let row = this.find(worker, key)
    if (row === undefined) {
      if (line.kind !== "state" && line.kind !== "lock") return
      // A lock that is no sandbox's has no states: what its events tell is shown as one that is on its way.
      const value = line.kind === "state" ? line.value : ({ acquiring: "trying" } as const)
      row = this.#add({ worker, key, value, since: line.at })
      if (row === undefined) return
    }
    this.#count(row, -1)
    const isNews = row.take(line)
    this.#count(row, 1)
    if (isNews) this.#settle(row)
  }

  /** After whatever has changed of it. */
  #settle(row: LiveRow): void {
    this.#changes.rows.add(row)
    if (row.handoffs > 0) this.#handed.add(row)
    this.#released.delete(row)
    if (row.state !== "released") return
    this.#released.add(row)
    const [oldest] = this.#released
    if (this.#released.size > RELEASED_KEPT && oldest !== undefined) this.#remove(oldest)
  }

  #add({ worker, key, value, since }: Pick<SandboxRow, "worker" | "key" | "value" | "since">): LiveRow | undefined {
    const rows = this.#rows.get(worker) ?? new Map<string, LiveRow>()
    if (this.#size >= MOST_ROWS || rows.size >= MOST_ROWS_EACH) return undefined
    const slot = this.#freeSlots.pop() ?? this.#slots.length
    const row = new LiveRow(worker, key, slot, { value, since })
    this.#slots[slot] = row
    this.#rows.set(worker, rows.set(key, row))
    this.#size++
    this.#count(row, 1)
    this.#changes.rows.add(row)
    return row
  }

  #remove(row: LiveRow): void {
    this.#slots[row.slot] = undefined
    this.#freeSlots.push(row.slot)
    this.#rows.get(row.worker)?.delete(row.key)
    this.#released.delete(row)
    this.#handed.delete(row)
    this.#size--
    this.#count(row, -1)
    this.#changes.rows.delete(row)
    this.#changes.gone.add(row)
  }

  #forget(worker: string): void {
    for (const row of [...(this.#rows.get(worker)?.values() ?? [])]) this.#remove(row)
    this.#rows.delete(worker)
  }

  /** A process that was killed has none of its sandboxes, and says nothing of it. */
  #fault(worker: string, fault: string): void {
    if (fault === "crash" || fault === "reboot") this.#forget(worker)
  }

  #note(error: FleetError): void {
    this.#errors.push(error)
    // In one go, as taking the first of a list moves all others.
    if (this.#errors.length >= 2 * ERRORS_KEPT) this.#errors = this.#errors.slice(-ERRORS_KEPT)
    this.#changes.errors = true
  }

  #count({ state }: LiveRow, by: 1 | -1): void {
    this.#counts[state] += by
  }
}

interface Changes {
  readonly all: boolean
  readonly rows: Set<LiveRow>
  readonly gone: Set<LiveRow>
  workers: boolean
  errors: boolean
}

const noChanges = (): Changes => ({ all: false, rows: new Set(), gone: new Set(), workers: false, errors: false })

const noStates = (): Record<TopState, number> => ({ acquiring: 0, waiting: 0, owning: 0, handingOff: 0, released: 0 })

type FleetLine = Extract<TraceLine, { readonly worker: string | null }> & { readonly worker: string }

/** Of somebody: what befell all, and the writes of strangers, are nobody's. */
const isOfWorker = (line: TraceLine | UnknownLine): line is FleetLine =>
  isTraceLine(line) && "worker" in line && typeof line.worker === "string"

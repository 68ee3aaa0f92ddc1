/**
 * A manager as an inspector sees it: its sandboxes as rows, its trace's lines, how it is, and the little that can be
 * asked of it. It listens while somebody looks, and costs nothing else.
 */
import process from "node:process"
import type { AnyStateMachine } from "xstate"
import { insideOf, type ManagerInside } from "../../../actors/inside/inside.ts"
import type { SandboxInside } from "../../../actors/inside/sandbox.ts"
import type { SandboxManager } from "../../../actors/manager/manager.ts"
import { sandboxLockKey } from "../../../locks/api/keys.ts"
import { orAbort } from "../../../runtime/races.ts"
import { type OnError, reporter } from "../../../runtime/report.ts"
import type { Clock, Timer } from "../../../runtime/time/clock.ts"
import { bareAddress, errorOf } from "../../../trace/live/redacted.ts"
import type { TraceLine } from "../../../trace/trace.ts"
import { HANDOFFS_WITHIN } from "../model/live-row.ts"
import type { ActionAnswer, ActionRequest, SandboxDetail, SandboxRow, WorkerRow } from "../model/wire.ts"
import { HISTORY, ROWS_A_MESSAGE } from "../stream/fleet-stream.ts"
import type { FleetSink } from "../stream/source.ts"
import type { LiveWorker, MachineDetail, RecordOwner } from "./live-worker.ts"

/** How often a worker tells how it is: people look at seconds. In milliseconds. */
export const TOLD_EVERY = 1000

/** How many records are read in a row, in search of other workers: a bucket answers so many within a second or two. */
const RECORDS_A_LOOK = 20

/** How long an answer waits for what was asked for; it goes on after that. In milliseconds. */
const DONE_WITHIN = 10_000

/** A manager's inspector stands on it. Throws InvalidConfigError for what is no manager of this process. */
export const managedWorker = (manager: SandboxManager, onError?: OnError): LiveWorker =>
  new ManagedWorker(manager, insideOf(manager), reporter(onError))

class ManagedWorker implements LiveWorker {
  readonly clock: Clock
  readonly worker: string
  readonly ownerId: string
  readonly address: string | null
  readonly #manager: SandboxManager
  readonly #inside: ManagerInside
  readonly #report: OnError
  /** Of those who look now: a callback each on `ended` would keep what each had for as long as the manager lives. */
  readonly #tellings = new Set<Telling>()
  /** A layout takes up to seconds of this process, and a page asks every two seconds. */
  readonly #drawings = new WeakMap<AnyStateMachine, Promise<string>>()
  /** Where the walk through the keys is, in search of other workers. */
  #keys: AsyncIterator<string> | undefined

  constructor(manager: SandboxManager, inside: ManagerInside, report: OnError) {
    const { clock, worker, ownerId, address } = inside
    this.clock = clock
    this.worker = worker
    this.ownerId = ownerId
    this.address = address
    this.#manager = manager
    this.#inside = inside
    this.#report = report
    void inside.ended.then(() => {
      for (const telling of this.#tellings) telling.last()
    })
  }

  start(sink: FleetSink): () => void {
    const { tap } = this.#inside
    const recent = tap.recent().slice(-HISTORY)
    const handoffs = handoffsIn(recent, this.clock.read().wall)
    for (const line of recent) sink.line(line)
    // In one turn of the event loop, so that no line is missed between the rows and those that come.
    const stop = tap.subscribe((line) => sink.line(line))
    sink.worker(this.#row())
    const rows = Array.from(this.#inside.sandboxes, (sandbox) =>
      rowOf(this.worker, sandbox, handoffs.get(sandbox.lockKey) ?? 0),
    )
    for (let at = 0; at < rows.length; at += ROWS_A_MESSAGE) sink.rows(rows.slice(at, at + ROWS_A_MESSAGE))
    const telling = new Telling(this.clock, () => this.#row(), sink)
    this.#tellings.add(telling)
    return () => {
      stop()
      telling.end()
      this.#tellings.delete(telling)
    }
  }

  find(key: string): SandboxRow | undefined {
    const sandbox = this.#inside.find(key)
    return sandbox === undefined ? undefined : rowOf(this.worker, sandbox, 0)
  }

  async recordOf(key: string): Promise<SandboxDetail["store"]> {
    try {
      const record = await this.#inside.read(key)
      if (record === null) return null
      const { owner, waiterId = null, line, quiet, generation = "", storeTime, at } = record
      return {
        ...{ ownerId: owner?.ownerId ?? null, address: addressOf(owner?.address), token: owner?.token ?? null },
        ...{ expiresAt: owner?.expiresAt ?? 0, waiterId, line: [...line, ...quiet], generation, at: storeTime ?? at },
      }
    } catch (error) {
      return { error: errorOf(false)(error).message }
    }
  }

  async machineOf(key: string): Promise<MachineDetail> {
    const inspected = this.#inside.find(key)?.inspect()
    if (inspected === undefined) return { machine: null, machineProblem: null }
    if (inspected.machine === null) return { machine: null, machineProblem: inspected.error.message }
    try {
      return {
        machine: { svg: await this.#drawingOf(inspected.machine), value: inspected.value },
        machineProblem: null,
      }
    } catch (error) {
      return { machine: null, machineProblem: error instanceof Error ? error.message : String(error) }
    }
  }

  /** A walk through all keys that have saved state, some each time. */
  async someOwners(): Promise<readonly RecordOwner[]> {
    const owners = new Map<string, RecordOwner>()
    try {
      for (let read = 0; read < RECORDS_A_LOOK; read++) {
        this.#keys ??= this.#lockKeys()
        const { done, value } = await this.#keys.next()
        if (done === true) {
          this.#keys = undefined
          break
        }
        const record = await this.recordOf(value)
        if (record === null || "error" in record || record.ownerId === null) continue
        owners.set(record.ownerId, { ownerId: record.ownerId, address: record.address })
      }
    } catch (error) {
      this.#keys = undefined
      this.#report(error)
    }
    return [...owners.values()]
  }

  async act(request: ActionRequest): Promise<ActionAnswer> {
    const { action, key = "" } = request
    if (action === "cordon") {
      this.#inside.cordon()
      return { done: true, message: "It takes no new sandbox in from now on. Those that run go on." }
    }
    const sandbox = this.#inside.find(key)
    if (sandbox === undefined) return { done: false, message: "It isn't at this worker, or no longer." }
    try {
      return await this.#soon(action === "checkpoint" ? saved(sandbox) : handedOff(sandbox))
    } catch (error) {
      return { done: false, message: errorOf(false)(error).message }
    }
  }

  /** What takes longer goes on. */
  async #soon(doing: Promise<ActionAnswer>): Promise<ActionAnswer> {
    const late = new AbortController()
    const timer = this.clock.after(DONE_WITHIN, () => late.abort(), { background: true })
    try {
      return await orAbort(doing, late.signal)
    } catch (error) {
      if (!late.signal.aborted) throw error
      return { done: false, message: `It was asked to, and goes on: it takes longer than ${DONE_WITHIN / 1000} s.` }
    } finally {
      timer.cancel()
    }
  }

  async *#lockKeys(): AsyncGenerator<string, undefined> {
    for (const definition of this.#inside.definitions) {
      for await (const key of this.#manager.list(definition)) yield sandboxLockKey(definition.name, key)
    }
    return undefined
  }

  /** Drawn once for each machine, also where several ask at once. */
  #drawingOf(machine: AnyStateMachine): Promise<string> {
    const known = this.#drawings.get(machine)
    if (known !== undefined) return known
    const drawing = import("../../../draw/svg/svg.ts").then(({ toSvg }) => toSvg(machine))
    this.#drawings.set(machine, drawing)
    return drawing
  }

  #row(): WorkerRow {
    const { worker, ownerId, address, clockOffset, closed, ttl, guard } = this.#inside
    const bare = address === null ? null : bareAddress(address)
    const about = { runtime: runtime(), clockOffset, closed, ttl, guard, stats: this.#inside.stats() }
    return { ...{ worker, ownerId, address: bare, problem: null }, ...about }
  }
}

/** Tells how a worker is, once a second, where that has changed. */
class Telling {
  readonly #clock: Clock
  readonly #row: () => WorkerRow
  readonly #sink: FleetSink
  #timer: Timer | undefined
  #told = ""
  #isOver = false

  constructor(clock: Clock, row: () => WorkerRow, sink: FleetSink) {
    this.#clock = clock
    this.#row = row
    this.#sink = sink
    this.#later()
  }

  end(): void {
    this.#isOver = true
    this.#timer?.cancel()
  }

  /** How it is in the end, which nothing changes any more. */
  last(): void {
    if (this.#isOver) return
    this.#timer?.cancel()
    this.#tell()
    this.end()
  }

  #later(): void {
    if (this.#isOver) return
    this.#timer = this.#clock.after(TOLD_EVERY, () => this.#tell(), { background: true })
  }

  #tell(): void {
    const row = this.#row()
    const text = JSON.stringify(row)
    if (text !== this.#told) this.#sink.worker(row)
    this.#told = text
    this.#later()
  }
}

function rowOf(worker: string, sandbox: SandboxInside, handoffs: number): SandboxRow {
  const { snapshot, lockKey, since, ownedSince = null, lease, owner, waiterId = null, stuck = null, overrun } = sandbox
  const { value, context } = snapshot
  const isWaiting = "waiting" in value
  const error = overrun ?? context.error ?? context.failure?.error
  return {
    ...{ worker, key: lockKey, value, since, ownedSince, stuck, handoffs },
    token: context.token ?? null,
    deadline: lease?.isHeld() === true ? lease.deadline : null,
    owner: isWaiting && owner !== undefined ? { ownerId: owner.ownerId, address: addressOf(owner.address) } : null,
    waiterId: isWaiting ? null : waiterId,
    leaving: context.leaving ?? null,
    error: error === undefined ? null : errorOf(false)(error),
  }
}

/** How often each key has changed hands of late, as far as lines that were kept tell. */
function handoffsIn(lines: readonly TraceLine[], now: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const line of lines) {
    if (line.kind !== "lock" || line.at < now - HANDOFFS_WITHIN) continue
    const isHandoff = line.type === "Granted" || ["granted", "reserved", "takeover"].includes(line.how ?? "")
    if (isHandoff) counts.set(line.key, (counts.get(line.key) ?? 0) + 1)
  }
  return counts
}

async function saved(sandbox: SandboxInside): Promise<ActionAnswer> {
  await sandbox.checkpoint()
  return { done: true, message: "Its checkpoint is stored." }
}

async function handedOff(sandbox: SandboxInside): Promise<ActionAnswer> {
  const { waiterId } = sandbox
  const result = await sandbox.release()
  if (result === "released") {
    const whom =
      waiterId === undefined ? "Nobody waits for it: it is released." : `It is released for ${waiterId}, who waited.`
    return { done: true, message: whom }
  }
  const why = result === "alreadyLost" ? "Its lease was lost already." : "Nobody can tell yet what became of its lease."
  return { done: false, message: why }
}

const addressOf = (address: string | undefined): string | null => (address === undefined ? null : bareAddress(address))

function runtime(): string {
  const { deno, node } = process.versions as { readonly deno?: string; readonly node: string }
  return deno === undefined ? `Node ${node}` : `Deno ${deno}`
}

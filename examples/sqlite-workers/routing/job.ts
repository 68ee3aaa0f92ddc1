// `npm start -- --routing`: clients write rows to one database through three workers, while its owner is killed and the
// next owner drains. A ledger of the clients says what was acknowledged; the database says what was applied.
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SandboxManager } from "leasehold"
import { fileStore } from "leasehold/file"
import { Failure } from "../failure.ts"
import type { Report } from "../reports.ts"
import type { Runtime } from "../runtimes.ts"
import { open } from "../sql.ts"
import { pause, within } from "../within.ts"
import { WorkerProcess } from "../worker-process.ts"
import { notes, type Row, rowsOf } from "./notes.ts"
import type { NoteRequest } from "./worker.ts"

const KEY = "all"
const TTL_SECONDS = 6
const CLIENTS = 8
/** Rows that are acknowledged before each of the two blows, and after the last one. */
const ROWS_A_PART = 200
const ENDED_WITHIN_MS = 15_000
const PART_WITHIN_MS = 60_000
const AGAIN_AFTER_MS = 20
const POLL_MS = 5

const RUNTIMES: readonly Runtime[] = ["node", "deno", "node"]

/** What the job came to. */
export interface RoutingOutcome {
  readonly acknowledged: number
  /** Of these, how many are in the database exactly once. */
  readonly once: number
  readonly sent: number
  readonly forwarded: number
  readonly handoffs: number
  readonly takeovers: number
  readonly problems: readonly string[]
}

export class RoutingJob implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "leasehold-"))
  readonly #directory = join(this.#folder, "store")
  readonly #secret = randomBytes(24).toString("base64url")
  readonly #workers: WorkerProcess[] = []
  readonly #leases: { readonly worker: string; readonly type: string; readonly how: string | undefined }[] = []
  readonly #acknowledged = new Set<string>()
  readonly #done = new AbortController()
  #sent = 0
  #forwarded = 0

  /** Rejects where a step can't be done. */
  async run(): Promise<RoutingOutcome> {
    for (const [index, runtime] of RUNTIMES.entries()) await this.#start("ABC"[index]!, runtime)
    const clients = Array.from({ length: CLIENTS }, (_, client) => this.#client(client))
    const failed = Promise.race(clients)
    const part = (what: string): Promise<unknown> => this.#part(what, failed)
    await part("rows through all three")
    console.log(`SIGKILL to ${this.#owner}, which owns the database`)
    await this.#end(this.#owner, "SIGKILL")
    await part("rows through the two that are left")
    console.log(`SIGTERM to ${this.#owner}, which owns the database by now`)
    await this.#end(this.#owner, "SIGTERM")
    await part("rows through the last one")
    this.#done.abort()
    await Promise.all(clients)
    await this.#countForwarded()
    await this.#end(this.#workers[0]!.name, "SIGTERM")
    return this.#outcome(await this.#stored())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#done.abort()
    await Promise.all(this.#workers.map((worker) => worker[Symbol.asyncDispose]()))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #start(name: string, runtime: Runtime): Promise<void> {
    const settings = { name, directory: this.#directory, ttl: TTL_SECONDS }
    const onReport = (report: Report): void => this.#heard(name, report)
    const worker = new WorkerProcess(runtime, "./routing/worker.ts", settings, this.#secret, onReport)
    this.#workers.push(worker)
    await worker.ready()
    console.log(`${name} serves at ${worker.url} on ${runtime}`)
  }

  #heard(worker: string, report: Report): void {
    if (report.what === "lease") this.#leases.push({ worker, type: report.type, how: report.detail })
  }

  /** The last one that said so. */
  get #owner(): string {
    const last = this.#leases.findLast(({ type }) => type === "Acquired")
    if (last === undefined) throw new Failure("no worker owns the database")
    return last.worker
  }

  /** Writes one row after the other, each to the next worker, again with the same id until it is acknowledged. */
  async #client(client: number): Promise<void> {
    for (let number = 0; !this.#done.signal.aborted; number++) {
      const id = `${client}:${number}`
      const request: NoteRequest = { note: { client, number }, id, sentAt: Date.now() }
      for (let turn = client + number; !(await this.#isWritten(turn, request)); turn++) {
        if (this.#done.signal.aborted) return
        await pause(AGAIN_AFTER_MS, new AbortController().signal)
      }
      this.#acknowledged.add(id)
    }
  }

  async #isWritten(turn: number, request: NoteRequest): Promise<boolean> {
    this.#sent++
    const { url } = this.#workers[turn % this.#workers.length]!
    try {
      const answer = await fetch(`${url}/notes/${KEY}`, { method: "POST", body: JSON.stringify(request) })
      await answer.text()
      return answer.ok
    } catch {
      return false // its worker was killed: the next one is asked, with the same id
    }
  }

  async #part(what: string, failed: Promise<unknown>): Promise<void> {
    const enough = this.#acknowledged.size + ROWS_A_PART
    const arrived = async (): Promise<void> => {
      while (this.#acknowledged.size < enough) await pause(POLL_MS, this.#done.signal)
    }
    await within(PART_WITHIN_MS, what, Promise.race([failed, arrived()]))
    console.log(`${what}: ${this.#acknowledged.size} are acknowledged`)
  }

  async #end(name: string, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const index = this.#workers.findIndex((worker) => worker.name === name)
    const worker = this.#workers[index]!
    if (signal === "SIGTERM") await this.#countForwarded(worker)
    if (this.#workers.length > 1) this.#workers.splice(index, 1)
    worker.send(signal)
    await within(ENDED_WITHIN_MS, `the end of ${name}`, worker.ended)
  }

  /** What a worker has sent on is known as long as it lives. */
  async #countForwarded(...workers: readonly WorkerProcess[]): Promise<void> {
    for (const { url } of workers.length > 0 ? workers : this.#workers.slice(1)) {
      const stats = (await (await fetch(url)).json()) as { readonly callsForwarded: number }
      this.#forwarded += stats.callsForwarded
    }
  }

  async #stored(): Promise<readonly Row[]> {
    const store = fileStore({ directory: this.#directory })
    await using onlooker = await SandboxManager.start({ store, sandboxes: [notes] })
    const image = await onlooker.readCheckpoint(notes, KEY)
    if (image === undefined) throw new Failure("no checkpoint is left in the store")
    using db = open(image)
    return rowsOf(db)
  }

  #outcome(rows: readonly Row[]): RoutingOutcome {
    const ids = rows.map(({ client, number }) => `${client}:${number}`)
    const times = new Map<string, number>()
    for (const id of ids) times.set(id, (times.get(id) ?? 0) + 1)
    const lost = [...this.#acknowledged].filter((id) => !times.has(id))
    const twice = [...times].filter(([, count]) => count > 1).map(([id]) => id)
    const once = [...this.#acknowledged].filter((id) => times.get(id) === 1).length
    const handoffs = this.#leases.filter(({ type }) => type === "Granted").length
    const takeovers = this.#leases.filter(({ type, how }) => type === "Acquired" && how === "takeover").length
    const problems = [
      ...(lost.length > 0 ? [`acknowledged and not there: ${lost.join(", ")}`] : []),
      ...(twice.length > 0 ? [`applied more than once: ${twice.join(", ")}`] : []),
      ...(handoffs > 0 ? [`${handoffs} handoffs that nobody wanted`] : []),
      ...(takeovers === 1 ? [] : [`${takeovers} takeovers instead of one`]),
    ]
    const { size: acknowledged } = this.#acknowledged
    return { acknowledged, once, sent: this.#sent, forwarded: this.#forwarded, handoffs, takeovers, problems }
  }
}

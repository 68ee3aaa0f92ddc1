// The main job: what is done, in order, and what it shows. It drives real processes by real requests, and judges them
// by their answers, their endings, the store and the act log.
import { readFileSync } from "node:fs"
import type { SandboxManager } from "leasehold"
import { type ActLog, readActs } from "./act-log.ts"
import { database } from "./database.ts"
import { Failure } from "./failure.ts"
import { judge } from "./owners.ts"
import { type Answer, ask } from "./requests.ts"
import { createTable, longInsert, type Finding, Rows, rowsOf, selectAll } from "./rows.ts"
import { open, type Query } from "./sql.ts"
import type { Timeline } from "./timeline.ts"
import { pause, within } from "./within.ts"
import type { WorkerProcess } from "./worker-process.ts"

export interface JobParts {
  readonly a: WorkerProcess
  readonly b: WorkerProcess
  /** The sandbox's key. */
  readonly key: string
  /** Looks at the store without owning anything. */
  readonly onlooker: SandboxManager
  readonly acts: ActLog
  readonly actsPath: string
  readonly timeline: Timeline
  /** Aborts when the job is to be given up. */
  readonly signal: AbortSignal
}

export interface Outcome {
  readonly handoffMs: number
  readonly takeoverMs: number
  readonly found: number
  readonly acknowledged: number
  readonly ownersAtOnce: number
  /** Why it failed; none if it did not. */
  readonly problems: readonly string[]
}

const ROUNDS = 2
const REQUESTS_A_ROUND = 10
const ROWS_A_REQUEST = 5
/** How many clients write, each one row after the other, to the worker that is going to be killed. */
const CLIENTS = 4
const ACKNOWLEDGED_BEFORE_KILL = 12
const KILLED_WITHIN_MS = 5000
const DRAINED_WITHIN_MS = 15_000
const POLL_MS = 5

export class Job {
  readonly #parts: JobParts
  readonly #rows = new Rows()
  readonly #problems: string[] = []
  #answers = 0

  constructor(parts: JobParts) {
    this.#parts = parts
  }

  /** Rejects where a step can't be done, so that there are no figures. */
  async run(): Promise<Outcome> {
    const { a, b, timeline } = this.#parts
    timeline.part("1. a table and rows through A, many at a time")
    await this.#ask(a, createTable)
    await this.#insertThrough(a)

    timeline.part("2. a query through B while A owns the database: a handoff")
    const askedAt = performance.now()
    await this.#checkThrough(b)
    const handoffMs = performance.now() - askedAt

    timeline.part("3. rows through B, then SIGKILL while it writes")
    await this.#insertThrough(b)
    const killedAt = await this.#writeUntilKilled(b)

    timeline.part("4. a query through A: a takeover, once the lease of B is over")
    await this.#checkThrough(a)
    const takeoverMs = performance.now() - killedAt
    await this.#insertThrough(a)

    timeline.part("5. SIGTERM to A: it drains")
    await this.#drain(a)
    const { found, acknowledged } = await this.#checkStored()
    return { handoffMs, takeoverMs, found, acknowledged, ownersAtOnce: this.#judgeActs(), problems: this.#problems }
  }

  async #ask({ url }: WorkerProcess, query: Query): Promise<Answer> {
    const { key, signal } = this.#parts
    const answer = await ask({ url, key, signal, ...query })
    this.#answers++
    return answer
  }

  async #insertThrough(worker: WorkerProcess): Promise<void> {
    const insert = (): Promise<void> => this.#rows.insert(ROWS_A_REQUEST, (query) => this.#ask(worker, query))
    for (let round = 1; round <= ROUNDS; round++) await Promise.all(Array.from({ length: REQUESTS_A_ROUND }, insert))
    this.#parts.timeline.say(`${this.#rows.acknowledged} rows are acknowledged`)
  }

  async #checkThrough(worker: WorkerProcess): Promise<void> {
    const { rows = [] } = await this.#ask(worker, selectAll)
    this.#check(`worker ${worker.name}`, rows)
  }

  /** Kills it in the middle of a write while others have not been answered yet; settles with when. */
  async #writeUntilKilled(b: WorkerProcess): Promise<number> {
    const { acts, actsPath, timeline } = this.#parts
    const enough = this.#rows.acknowledged + ACKNOWLEDGED_BEFORE_KILL
    const client = async (): Promise<never> => {
      for (;;) await this.#rows.insert(1, (query) => this.#ask(b, query))
    }
    const clients = Array.from({ length: CLIENTS }, client)
    const untilOneFails = Promise.race(clients)
    await Promise.race([untilOneFails, this.#until(() => this.#rows.acknowledged >= enough)])
    const long = this.#ask(b, longInsert)
    const begun = (): boolean => readFileSync(actsPath, "utf8").includes(longInsert.sql.slice(0, 40))
    await Promise.race([untilOneFails, long, this.#until(begun)])

    const killedAt = performance.now()
    b.send("SIGKILL")
    const ending = await within(KILLED_WITHIN_MS, "the end of B", b.ended)
    acts.dead(b.process)
    const answered = (await Promise.allSettled([...clients, long])).filter(({ status }) => status === "fulfilled")
    if (answered.length > 0) this.#problems.push("a write was answered after the worker was killed")
    const { acknowledged, unacknowledged } = this.#rows
    timeline.say(
      `B ended with ${ending}; ${acknowledged} rows are acknowledged, ${unacknowledged} were sent and are not`,
    )
    return killedAt
  }

  async #drain(worker: WorkerProcess): Promise<void> {
    const { acts, key, onlooker, timeline } = this.#parts
    worker.send("SIGTERM")
    const ending = await within(DRAINED_WITHIN_MS, `${worker.name} to drain`, worker.ended)
    acts.dead(worker.process)
    timeline.say(`${worker.name} ended with exit code ${ending}`)
    if (ending !== 0) this.#problems.push(`${worker.name} ended with ${ending} instead of exit code 0`)
    const owner = await onlooker.whereIs(database, key)
    if (owner !== undefined) this.#problems.push(`after the drain ${owner.ownerId} still owns the database`)
  }

  /** Reads the checkpoint that the last owner left, in this process and without a lease. */
  async #checkStored(): Promise<Finding> {
    const { key, onlooker } = this.#parts
    const image = await onlooker.readCheckpoint(database, key)
    if (image === undefined) throw new Failure("no checkpoint is left in the store")
    using db = open(image)
    return this.#check("the checkpoint in the store", rowsOf(db))
  }

  #check(where: string, rows: readonly unknown[]): Finding {
    const finding = this.#rows.check(rows)
    const { found, acknowledged, extra, problems } = finding
    const more = extra === 0 ? "" : `, and ${extra} that nobody was told of`
    this.#parts.timeline.say(`${where} has ${found} of ${acknowledged} acknowledged rows${more}`)
    this.#problems.push(...problems.map((problem) => `${where} has ${problem}`))
    return finding
  }

  #judgeActs(): number {
    const { acts, cutShort, ownersAtOnce, problems } = judge(readActs(this.#parts.actsPath))
    this.#parts.timeline.say(`the act log has ${acts} acts (${cutShort} cut short); owners at once: ${ownersAtOnce}`)
    this.#problems.push(...problems)
    if (ownersAtOnce !== 1) this.#problems.push(`the act log shows ${ownersAtOnce} owners at once`)
    if (acts < this.#answers) this.#problems.push(`${this.#answers} answers, but only ${acts} acts in the log`)
    return ownersAtOnce
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) await pause(POLL_MS, this.#parts.signal)
  }
}

// One run of the driver: its folder, its key, the processes it starts and the signals that end it. When it is disposed
// no worker is left, and no folder unless it was asked for.
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import process from "node:process"
import { SandboxManager } from "leasehold"
import { ActLog } from "./act-log.ts"
import { database } from "./database.ts"
import { Failure } from "./failure.ts"
import { Job, type Outcome } from "./job.ts"
import type { Options } from "./options.ts"
import { openStore, type StoreChoice } from "./store.ts"
import { Timeline } from "./timeline.ts"
import { viewerReady } from "./viewer.ts"
import { within } from "./within.ts"
import { WorkerProcess } from "./worker-process.ts"
import type { WorkerSettings } from "./worker.ts"

const TTL_SECONDS = 6
/** A guard against hangs, as the start of a worker has one. */
const JOB_WITHIN_MS = 240_000
const DRAINED_WITHIN_MS = 15_000

export class Run implements AsyncDisposable {
  readonly #options: Options
  readonly #folder = mkdtempSync(join(tmpdir(), "leasehold-"))
  readonly #actsPath = join(this.#folder, "acts.jsonl")
  readonly #choice: StoreChoice
  /** A new one for each run, so that a store can be used again. */
  readonly #key = `notes-${randomBytes(4).toString("hex")}`
  readonly #interruption = new AbortController()
  /** By it the workers know each other, so that the page of one shows both. */
  readonly #secret = randomBytes(24).toString("base64url")

  constructor(options: Options) {
    this.#options = options
    this.#choice = choiceOf(options, this.#folder)
    process.on("SIGINT", this.#interrupt).on("SIGTERM", this.#interrupt)
  }

  /** Does the main job. Rejects where it can't be done, or not in time. */
  async job(): Promise<Outcome> {
    using timeline = this.#timeline()
    timeline.part(`Two workers, and the database ${this.#lockKey} in ${this.#choice.store}`)
    if (this.#options.keep) timeline.say(`the act log is, and stays, in ${this.#folder}`)
    await using onlooker = await SandboxManager.start({ store: openStore(this.#choice), sandboxes: [database] })
    using acts = new ActLog(this.#actsPath)
    await using b = this.#worker("B", timeline)
    await b.ready()
    await using a = this.#worker("A", timeline, b.url)
    await a.ready()
    timeline.flush()
    console.log(`\nThe fleet as it happens: ${a.page}`)
    const { signal } = this.#interruption
    await viewerReady(signal)
    const parts = { a, b, key: this.#key, onlooker, acts, actsPath: this.#actsPath, timeline, signal }
    return await within(JOB_WITHIN_MS, "the main job", new Job(parts).run())
  }

  /** Serves with two new workers until a signal comes. Whether they drained. */
  async stay(): Promise<boolean> {
    using timeline = this.#timeline()
    timeline.part("6. Two new workers, which serve until Ctrl-C")
    await using b = this.#worker("B", timeline)
    await b.ready()
    await using a = this.#worker("A", timeline, b.url)
    await a.ready()
    timeline.flush()
    console.log(`\nThe fleet as it happens: ${a.page}\n\n${this.#curlLines(a.url, b.url)}\n`)
    await Promise.race([aborted(this.#interruption.signal), a.ended, b.ended])
    for (const worker of [a, b]) worker.send("SIGTERM")
    const endings = await within(DRAINED_WITHIN_MS, "A and B to drain", Promise.all([a.ended, b.ended]))
    timeline.say(`A and B ended with ${endings.join(" and ")}`)
    return endings.every((ending) => ending === 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off("SIGINT", this.#interrupt).off("SIGTERM", this.#interrupt)
    if (!this.#options.keep) rmSync(this.#folder, { recursive: true, force: true })
  }

  get #lockKey(): string {
    return `${database.name}/${this.#key}`
  }

  #timeline(): Timeline {
    return new Timeline(this.#lockKey, console.log)
  }

  #worker(name: "A" | "B", timeline: Timeline, ...peers: string[]): WorkerProcess {
    const settings: WorkerSettings = { ...this.#choice, name, acts: this.#actsPath, ttl: TTL_SECONDS, peers }
    const runtime = this.#options.runtimes[name === "A" ? 0 : 1]
    return new WorkerProcess(runtime, "./worker.ts", settings, this.#secret, (report) => timeline.report(name, report))
  }

  #curlLines(a: string, b: string): string {
    const line = (url: string, sql: string): string =>
      `  curl -s ${url}/sandboxes/${this.#key}/query -d '${JSON.stringify({ sql })}'`
    const insert = "insert into notes(text) values (datetime())"
    return [
      line(a, "select count(*) as n from notes"),
      line(b, insert),
      line(a, "select * from notes order by id desc limit 3"),
    ].join("\n")
  }

  /** The second time it ends this process at once; the workers are killed with it. */
  readonly #interrupt = (signal: NodeJS.Signals): void => {
    if (this.#interruption.signal.aborted) process.exit(1)
    this.#interruption.abort(new Failure(`ended by ${signal}`))
  }
}

/** The store that was named, or a directory in the run's folder. */
function choiceOf({ store, endpoint }: Options, folder: string): StoreChoice {
  if (store === undefined) return { store: join(folder, "store") }
  return store.startsWith("gs://") ? { store, endpoint } : { store: resolve(store) }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((settle) => {
    if (signal.aborted) settle()
    else signal.addEventListener("abort", () => settle(), { once: true })
  })
}

/**
 * A fleet as lines for a log: first the state of each sandbox, then one line for each change, and for each time reached
 * that the search asks for.
 */
import type { LiveRow } from "../../../inspector/live/model/live-row.ts"
import type { Search } from "../../../inspector/live/model/search.ts"
import { visible } from "../../../inspector/live/visible.ts"
import type { Timer } from "../../../runtime/time/clock.ts"
import { lineText, stateText } from "../../../trace/line-text.ts"
import { isTraceLine } from "../../../trace/trace-text.ts"
import type { TraceLine, UnknownLine } from "../../../trace/trace.ts"
import { instantText } from "../../frame/moments.ts"
import { jsonLine } from "../../frame/output.ts"
import type { Call } from "../../frame/syntax.ts"
import { untilEnded } from "../../process/until-ended.ts"
import type { TopFeed } from "./feed.ts"
import { readerGone } from "./reader-gone.ts"

/**
 * The pause between two looks for times that the search asks for, in milliseconds: they are reached without any event.
 */
const TICK_EVERY = 1000

/** Settles at the end of the feed, when standard output has no reader any more, or at a signal. */
export async function plain(call: Call, feed: TopFeed, search: Search): Promise<void> {
  const end = new AbortController()
  const log = new Log(call, feed, search)
  const running = feed.run(log, end.signal)
  try {
    await untilEnded(Promise.race([running, readerGone()]))
  } finally {
    end.abort()
    log.end()
  }
  await running
}

/** The kinds of lines that tell of a change. Requests and hooks are left to the trace. */
const CHANGES: ReadonlySet<string> = new Set(["state", "handoff", "fault", "note"])
const LEASES: ReadonlySet<string> = new Set(["Lost", "Suspect", "Degraded", "Recovered", "GaveUp"])

class Log {
  readonly #call: Call
  readonly #feed: TopFeed
  readonly #search: Search
  #problem: string | null | undefined = undefined
  #ticking: Timer | undefined
  /** The rows that the search found at its last look, or by a line since. */
  #found = new Set<LiveRow>()

  constructor(call: Call, feed: TopFeed, search: Search) {
    this.#call = call
    this.#feed = feed
    this.#search = search
    if (feed.isLive) this.#tick()
  }

  end(): void {
    this.#ticking?.cancel()
  }

  line(line: TraceLine | UnknownLine): void {
    // Of a live fleet what came before is in the rows; of a trace the lines are all there is.
    if (!isTraceLine(line) || (this.#feed.isLive && !this.#feed.fleet.isReady) || !isChange(line)) return
    if (!this.#isAskedFor(line)) return
    this.#tell(line.at, line.worker, "key" in line ? (line.key ?? null) : null, lineText(line), line)
  }

  ready(): void {
    if (!this.#feed.isLive) return
    this.#found.clear()
    this.#look()
  }

  problem(problem: string | null): void {
    if (problem === this.#problem) return
    this.#problem = problem
    this.#call.output.note("connection", problem === null ? "connected" : `no connection: ${problem}`)
  }

  #isAskedFor(line: TraceLine): boolean {
    if (this.#search.isEmpty) return true
    if (!("key" in line) || line.key === undefined || line.worker === null) return false
    const row = this.#feed.fleet.find(line.worker, line.key)
    if (row === undefined || !this.#search.matches(row, line.at)) return false
    if (this.#search.isTimed) this.#found.add(row)
    return true
  }

  #tick(): void {
    const { fleet } = this.#feed
    fleet.tick(this.#feed.now())
    fleet.takeChanges() // nobody asks for them here
    if (this.#search.isTimed && fleet.isReady && this.#problem === null) this.#look()
    this.#ticking = this.#call.io.clock.after(TICK_EVERY, () => this.#tick())
  }

  /** Writes the rows that the search finds now, and did not find before. */
  #look(): void {
    const now = this.#feed.now()
    const found = new Set<LiveRow>()
    for (const row of this.#feed.fleet.rows()) {
      if (!this.#search.matches(row, now)) continue
      found.add(row)
      if (this.#found.has(row)) continue
      const { worker, key, value, since, token } = row
      this.#tell(now, worker, key, stateText({ value }), { kind: "row", worker, key, value, since, token })
    }
    if (this.#search.isTimed) this.#found = found
  }

  #tell(at: number, worker: string | null, key: string | null, text: string, value: object): void {
    const { output, io } = this.#call
    const words = [instant(at), worker ?? "-", key ?? "-", text].map((word) => visible(word, LONGEST))
    io.stdout.write(output.json ? jsonLine(value) : `${words.join("  ")}\n`)
  }
}

/** The longest part of a line, in characters: a key fits whole, an error is cut. */
const LONGEST = 600

const isChange = (line: TraceLine): boolean => CHANGES.has(line.kind) || (line.kind === "lock" && LEASES.has(line.type))

/** A moment in UTC, to the millisecond. */
const instant = (at: number): string =>
  instantText(at).replace("Z", `.${String(Math.floor(at) % 1000).padStart(3, "0")}Z`)

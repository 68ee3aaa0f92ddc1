/** A fleet as lines for a log: what each sandbox is in at first, then one line a change. */
import type { Search } from "../../../inspector/live/model/search.ts"
import { visible } from "../../../inspector/live/visible.ts"
import { lineText, stateText } from "../../../trace/line-text.ts"
import { isTraceLine } from "../../../trace/trace-text.ts"
import type { TraceLine, UnknownLine } from "../../../trace/trace.ts"
import { instantText } from "../../frame/moments.ts"
import { jsonLine } from "../../frame/output.ts"
import type { Call } from "../../frame/syntax.ts"
import { untilEnded } from "../../process/until-ended.ts"
import type { Feed } from "./feed.ts"
import { readerGone } from "./reader-gone.ts"

/** Goes on until there is no more, nobody reads it any more, or its user ends it. */
export async function plain(call: Call, feed: Feed, search: Search): Promise<void> {
  const end = new AbortController()
  const log = new Log(call, feed, search)
  const running = feed.run(log, end.signal)
  try {
    await untilEnded(Promise.race([running, readerGone()]))
  } finally {
    end.abort()
  }
  await running
}

/** Kinds of lines that say that something changed; requests and hooks are the business of the trace itself. */
const CHANGES: ReadonlySet<string> = new Set(["state", "handoff", "fault", "note"])
const LEASES: ReadonlySet<string> = new Set(["Lost", "Suspect", "Degraded", "Recovered", "GaveUp"])

class Log {
  readonly #call: Call
  readonly #feed: Feed
  readonly #search: Search
  #isReady = false
  #problem: string | null | undefined = undefined

  constructor(call: Call, feed: Feed, search: Search) {
    this.#call = call
    this.#feed = feed
    this.#search = search
  }

  line(line: TraceLine | UnknownLine): void {
    // Of a live fleet what came before is in the rows; of a trace the lines are all there is.
    if (!isTraceLine(line) || (this.#feed.isLive && !this.#isReady) || !isChange(line)) return
    if (!this.#isAskedFor(line)) return
    this.#tell(line.at, line.worker, "key" in line ? (line.key ?? null) : null, lineText(line), line)
  }

  ready(): void {
    this.#isReady = true
    if (!this.#feed.isLive) return
    const now = this.#feed.now()
    for (const row of this.#feed.fleet.rows()) {
      if (!this.#search.matches(row, now)) continue
      const { worker, key, value, since, token } = row
      this.#tell(now, worker, key, stateText({ value }), { kind: "row", worker, key, value, since, token })
    }
  }

  problem(problem: string | null): void {
    if (problem === this.#problem) return
    this.#problem = problem
    if (problem !== null) this.#isReady = false
    this.#call.output.note("connection", problem === null ? "connected" : `no connection: ${problem}`)
  }

  #isAskedFor(line: TraceLine): boolean {
    if (this.#search.isEmpty) return true
    if (!("key" in line) || line.key === undefined || line.worker === null) return false
    const row = this.#feed.fleet.find(line.worker, line.key)
    return row !== undefined && this.#search.matches(row, line.at)
  }

  #tell(at: number, worker: string | null, key: string | null, text: string, value: object): void {
    const { output, io } = this.#call
    const words = [instant(at), worker ?? "-", key ?? "-", text].map((word) => visible(word, LONGEST))
    io.stdout.write(output.json ? jsonLine(value) : `${words.join("  ")}\n`)
  }
}

/** In characters: of a key all, of an error the most. */
const LONGEST = 600

const isChange = (line: TraceLine): boolean => CHANGES.has(line.kind) || (line.kind === "lock" && LEASES.has(line.type))

/** To the millisecond, in UTC. */
const instant = (at: number): string =>
  instantText(at).replace("Z", `.${String(Math.floor(at) % 1000).padStart(3, "0")}Z`)

/** The fleet that `top` shows: from a worker's page, or from a recorded trace. */
import { Fleet } from "../../../inspector/live/model/fleet.ts"
import { WIRE_VERSION, type WireMessages } from "../../../inspector/live/model/wire.ts"
import { follow } from "../../../inspector/live/stream/follow.ts"
import { type Clock, liveClock } from "../../../runtime/time/clock.ts"
import { parseTrace } from "../../../trace/trace-text.ts"
import type { TraceLine, UnknownLine } from "../../../trace/trace.ts"
import { UsageError } from "../../errors/usage-error.ts"
import type { Io } from "../../process/io.ts"
import { textFile } from "../../process/text-file.ts"

/** The events of a feed. */
export interface FeedEvents {
  /** A message, after the fleet has taken it. */
  line(line: TraceLine | UnknownLine): void
  /** The fleet is complete, for the first time or again after a loss. */
  ready(): void
  /** Why the connection is lost; null: it is back. */
  problem(problem: string | null): void
}

/** A fleet that is kept current while `run` goes on. */
export interface TopFeed {
  /** The address without its token, which others must not read. */
  readonly name: string
  readonly isLive: boolean
  readonly fleet: Fleet
  /** The present by the fleet's clock. Of a recorded trace it is the time of the last line. */
  now(): number
  /** Settles at the end of the feed, or when the signal aborts. Rejects with UsageError if there can't be a feed. */
  run(events: FeedEvents, signal: AbortSignal): Promise<void>
}

/** Statuses after which a retry is of no use: the address or its token is wrong. */
const FINAL: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 421])

/** The fleet of a worker's page. Throws UsageError for an address that is none. */
export function liveFeed(text: string, clock: Clock): TopFeed {
  const page = URL.canParse(text) ? new URL(text) : undefined
  const token = page?.searchParams.get("token")
  if (page === undefined || token == null || token === "") {
    throw new UsageError(
      `${JSON.stringify(text.split("?")[0])} has no token`,
      "Give the whole address that a worker prints of its page",
    )
  }
  const fleet = new Fleet()
  let ahead = 0
  return {
    ...{ name: `${page.origin}${page.pathname}`, isLive: true, fleet },
    now: () => clock.read().wall + ahead,
    async run(events, signal) {
      const ended = new AbortController()
      let wrong: UsageError | undefined
      const take = (line: TraceLine): void => {
        fleet.line(line)
        events.line(line)
      }
      await follow({
        ...{ url: new URL("./events", page), clock, signal: AbortSignal.any([signal, ended.signal]) },
        headers: () => ({ authorization: `Bearer ${token}` }),
        onEvent: (event, data) => {
          if (event === "hello") {
            const { version, now } = data as WireMessages["hello"]
            if (version !== WIRE_VERSION) throw new Error(`it speaks version ${String(version)} of the page's words`)
            ahead = now - clock.read().wall
          }
          if (event === "lines") for (const line of (data as WireMessages["lines"]).lines) take(line)
          else fleet.apply(event as keyof WireMessages, data as never)
          events.problem(null)
          if (event === "ready") events.ready()
        },
        onProblem: (problem, status) => {
          events.problem(problem)
          if (status === undefined || !FINAL.has(status)) return
          wrong = new UsageError(
            `${page.origin}: ${problem}`,
            "Give the whole address that a worker prints of its page",
          )
          ended.abort()
        },
      })
      if (wrong !== undefined) throw wrong
    },
  }
}

/** The fleet of a recorded trace. Throws UsageError and TraceFormatError. */
export function recordedFeed(io: Io, file: string): TopFeed {
  const { lines } = parseTrace(textFile(io, file, "Give the address of a worker's page, or the file of a trace"))
  const fleet = new Fleet()
  const last = lines.findLast((line) => typeof line["at"] === "number") as { readonly at: number } | undefined
  return {
    ...{ name: file, isLive: false, fleet },
    now: () => last?.at ?? liveClock.read().wall,
    async run(events) {
      for (const line of lines) {
        fleet.line(line)
        events.line(line)
      }
      events.ready()
    },
  }
}

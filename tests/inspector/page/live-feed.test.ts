// The page's connection to its worker, on timers that the test advances. No real worker can be told to accept a
// connection and never answer it.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import type { FeedConnection } from "../../../src/inspector/page/feed/connection.ts"
import { LiveFeed } from "../../../src/inspector/page/feed/live-feed.ts"
import type { PageRequests } from "../../../src/inspector/page/feed/requests.ts"

/** Settles for its signal alone. */
const never = (signal: AbortSignal): Promise<Response> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))

/** A feed whose requests are answered by these, in turn, and how it was connected so far. */
function fed(...answers: ((signal: AbortSignal) => Promise<Response>)[]) {
  const [asked, seen]: [AbortSignal[], FeedConnection[]] = [[], []]
  const events: PageRequests["events"] = (_, signal) => {
    asked.push(signal)
    return (answers[asked.length - 1] ?? never)(signal)
  }
  const feed = new LiveFeed({ events } as unknown as PageRequests)
  feed.start({ message: () => {}, connection: (connection) => seen.push(connection) })
  return { feed, asked, seen }
}

const refusing = () => Promise.resolve(Response.json({ error: "no token" }, { status: 401 }))
const failing = () => Promise.reject(new TypeError("fetch failed"))

describe("the page's connection", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("gives up a request that is accepted and not answered, and asks again", async () => {
    const { asked, seen } = fed(never)
    await vi.advanceTimersByTimeAsync(4999)
    expect([asked.length, seen]).toEqual([1, [{ kind: "connecting" }]])
    await vi.advanceTimersByTimeAsync(1)
    expect(asked[0]!.aborted).toBe(true)
    expect(seen.at(-1)).toEqual({ kind: "lost", reason: "it says nothing." })
    await vi.advanceTimersByTimeAsync(250)
    expect(asked).toHaveLength(2)
  })

  it("asks once more at once where a person wants it, and not a second time while it asks", async () => {
    const { feed, asked } = fed(failing)
    await vi.advanceTimersByTimeAsync(0)
    feed.retry()
    feed.retry()
    expect(asked).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(1000)
    expect(asked).toHaveLength(2)
  })

  it("asks again after a refusal only where a person wants it", async () => {
    const { feed, asked, seen } = fed(refusing)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(seen.at(-1)).toMatchObject({ kind: "refused", status: 401 })
    expect(asked).toHaveLength(1)
    feed.retry()
    expect(asked).toHaveLength(2)
  })
})

// Pins the stream: batches of ten a second, numbers to go on from, everything anew where that can't be, nothing kept
// for who takes nothing. Time is the test's.
import { afterEach, describe, expect, it } from "vitest"
import { Fleet } from "../../../src/inspector/live/model/fleet.ts"
import { rowOf } from "../../../src/inspector/live/model/live-row.ts"
import type { WireMessages } from "../../../src/inspector/live/model/wire.ts"
import { eventBody, HEARTBEAT_EVERY, STALLED_AFTER, STREAM_FOR } from "../../../src/inspector/live/stream/event-body.ts"
import {
  BATCH_EVERY,
  FleetStream,
  HISTORY,
  LINES_A_BATCH,
  LINGER,
  ROWS_A_MESSAGE,
} from "../../../src/inspector/live/stream/fleet-stream.ts"
import { EventReader, type ServerEvent } from "../../../src/inspector/live/stream/sse.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import type { TraceLine } from "../../../src/trace/trace.ts"
import { row, running, settling, state } from "./made.ts"
import { ScriptedWorker } from "./scripted-worker.ts"

const time = new VirtualTime()
const clients: Client[] = []

/** One who reads. */
class Client {
  readonly fleet = new Fleet()
  readonly events: ServerEvent[] = []
  comments = 0
  lastId = ""
  ended: "open" | "ended" | "dropped" = "open"
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #parse = new EventReader(1e9)
  #isTaking = false

  constructor(stream: FleetStream, lastId: string | null = null) {
    const body = eventBody(stream.read(lastId), time, () => {})
    this.#reader = body.getReader()
    this.#reader.closed.then(
      () => (this.ended = "ended"),
      () => (this.ended = "dropped"),
    )
    clients.push(this)
  }

  /** Takes whatever comes from now on. */
  take(): this {
    if (!this.#isTaking) void this.#take()
    this.#isTaking = true
    return this
  }

  get names(): string[] {
    return this.events.splice(0).map(({ event }) => event)
  }

  leave(): Promise<void> {
    return this.#reader.cancel()
  }

  async #take(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done) return
      const text = new TextDecoder().decode(value)
      if (text === ":\n\n") this.comments++
      for (const event of this.#parse.push(text)) this.#hear(event)
    }
  }

  #hear(event: ServerEvent): void {
    this.events.push(event)
    if (event.id !== undefined) this.lastId = event.id
    this.fleet.apply(event.event as keyof WireMessages, JSON.parse(event.data) as never)
  }
}

function streamOf(worker: ScriptedWorker): FleetStream {
  return new FleetStream(time, [worker], { actions: false })
}

const rowsOf = (fleet: Fleet): unknown => [...fleet.rows()].map(rowOf).sort((a, b) => (a.key < b.key ? -1 : 1))
const many = (count: number): TraceLine[] => Array.from({ length: count }, (_, n) => state(`k${n}`, running, 1000 + n))

describe("the stream of a fleet", () => {
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.leave().catch(() => {})
    await time.advance(LINGER)
  })

  it("begins with all rows, and goes on with lines in batches, ten times a second", async () => {
    const worker = new ScriptedWorker(time)
    worker.rows = [row({ key: "k" })]
    const client = new Client(streamOf(worker)).take()
    await time.advance(0)
    expect(client.names).toEqual(["hello", "workers", "rows", "ready"])
    expect(client.fleet.isReady).toBe(true)
    for (let ms = 0; ms < 1000; ms += 10) {
      worker.say(state("k", ms % 20 === 0 ? settling : running, ms))
      await time.advance(10)
    }
    await time.advance(BATCH_EVERY)
    const batches = client.names
    expect(batches.length).toBeLessThanOrEqual(1000 / BATCH_EVERY + 1)
    expect(new Set(batches)).toEqual(new Set(["lines"]))
    expect(client.fleet.find("a", "k")?.edges).toMatchObject({ "owning.work.running>handingOff.work.settling": 50 })
  })

  // Tests inspector: Every client comes to the same fleet, whatever happens while it connects, lags or comes back.
  it("goes on where a client was that comes back with its last id", async () => {
    const worker = new ScriptedWorker(time)
    const stream = streamOf(worker)
    const client = new Client(stream).take()
    worker.say(state("k", running))
    await time.advance(BATCH_EVERY)
    await client.leave()
    const { lastId } = client
    worker.say(state("l", running))
    await time.advance(BATCH_EVERY)
    const back = new Client(stream, lastId).take()
    await time.advance(0)
    expect(back.events.map(({ event }) => event)).toEqual(["lines"])
    expect([...back.fleet.rows()].map(({ key }) => key)).toEqual(["l"])
  })

  it("begins anew for an id of another stream, for one that is kept no more, and for one of the future", async () => {
    const worker = new ScriptedWorker(time)
    const stream = streamOf(worker)
    const client = new Client(stream).take()
    worker.say(state("k", running))
    await time.advance(BATCH_EVERY)
    const [name] = client.lastId.split(".")
    for (const lastId of ["other.1", `${name}.99999`, `${name}.x`, name!, ""]) {
      const back = new Client(stream, lastId).take()
      await time.advance(0)
      expect(back.names).toEqual(["hello", "workers", "lines", "rows", "ready"])
    }
  })

  it("tells a client that begins what happened before, and then how it is now", async () => {
    const worker = new ScriptedWorker(time)
    const stream = streamOf(worker)
    const first = new Client(stream).take()
    worker.say(...many(HISTORY + 10), state("k1", settling, 9000), state("k1", running, 9001))
    await time.advance(BATCH_EVERY)
    const late = new Client(stream).take()
    await time.advance(0)
    const { lines } = JSON.parse(late.events.find(({ event }) => event === "lines")!.data) as WireMessages["lines"]
    expect([lines.length, lines.at(-1)?.at]).toEqual([HISTORY, 9001])
    expect(rowsOf(late.fleet)).toEqual(rowsOf(first.fleet))
    expect(late.fleet.find("a", "k1")?.lastEdge).toBe("handingOff.work.settling>owning.work.running")
  })

  it("gives no id to go on from before all rows are there", async () => {
    const worker = new ScriptedWorker(time)
    worker.rows = Array.from({ length: 3 * ROWS_A_MESSAGE }, (_, n) => row({ key: `k${n}` }))
    const client = new Client(streamOf(worker)).take()
    await time.advance(0)
    const ids = client.events.map(({ event, id }) => [event, id])
    expect(ids.map(([event]) => event)).toEqual(["hello", "workers", "rows", "rows", "rows", "ready"])
    expect(ids.slice(0, -1).map(([, id]) => id || "")).toEqual(["", "", "", "", ""])
    expect(ids.at(-1)?.[1]).toMatch(/^\S+\.\d+$/)
  })

  it("gives every client the same fleet, whatever happens while it takes its rows", async () => {
    const worker = new ScriptedWorker(time)
    const stream = streamOf(worker)
    const first = new Client(stream).take()
    worker.say(...many(3 * ROWS_A_MESSAGE))
    await time.advance(BATCH_EVERY)
    const slow = new Client(stream)
    worker.say(state("k1", settling), state("k1", running), state("new", running), state("k900", { released: "clean" }))
    await time.advance(BATCH_EVERY)
    slow.take()
    worker.say(state("k1", settling, 5000), state("k2", settling, 5000))
    await time.advance(BATCH_EVERY)
    expect(rowsOf(slow.fleet)).toEqual(rowsOf(first.fleet))
    expect(first.fleet.size).toBe(3 * ROWS_A_MESSAGE + 1)
  })

  it("leaves out lines of a storm, and tells what became of their rows", async () => {
    const worker = new ScriptedWorker(time)
    const client = new Client(streamOf(worker)).take()
    await time.advance(0)
    worker.say(...many(LINES_A_BATCH), ...many(LINES_A_BATCH + 50).slice(-50), state("k0", settling, 9000))
    await time.advance(BATCH_EVERY)
    const lines = client.events.find(({ event }) => event === "lines")!
    expect((JSON.parse(lines.data) as WireMessages["lines"]).left).toBe(51)
    expect(client.fleet.size).toBe(LINES_A_BATCH + 50)
    expect(client.fleet.find("a", "k0")?.state).toBe("handingOff")
  })

  it("says that it lives where nothing happens", async () => {
    const client = new Client(streamOf(new ScriptedWorker(time))).take()
    await time.advance(HEARTBEAT_EVERY * 3 + 1)
    expect(client.comments).toBe(3)
  })

  // Tests inspector: A client that takes nothing is dropped; without clients nothing is listened to.
  it("drops a client that takes nothing though there is more, and no other", async () => {
    const worker = new ScriptedWorker(time)
    worker.rows = Array.from({ length: 2 * ROWS_A_MESSAGE }, (_, n) => row({ key: `k${n}` }))
    const stream = streamOf(worker)
    const [stalled, taking] = [new Client(stream), new Client(stream).take()]
    await time.advance(STALLED_AFTER - 1)
    expect(stalled.ended).toBe("open")
    await time.advance(1)
    expect([stalled.ended, taking.ended]).toEqual(["dropped", "open"])
  })

  it("begins anew for a client that is so far behind that what it missed is kept no more", async () => {
    const worker = new ScriptedWorker(time)
    const stream = streamOf(worker)
    const client = new Client(stream).take()
    worker.say(state("k", running))
    await time.advance(BATCH_EVERY)
    const { lastId } = client
    const error = { tag: "E", code: null, message: "m".repeat(1_000_000) }
    for (let n = 0; n < 10; n++) {
      worker.say(state(`big${n}`, running, n, { error }))
      await time.advance(BATCH_EVERY)
    }
    const back = new Client(stream, lastId).take()
    await time.advance(0)
    expect(back.events[0]?.event).toBe("hello")
    expect(back.fleet.size).toBe(11)
  })

  it("listens to nothing before the first client, and soon after the last", async () => {
    const worker = new ScriptedWorker(time)
    const stream = streamOf(worker)
    expect(worker.sinks.size).toBe(0)
    const client = new Client(stream).take()
    expect(worker.sinks.size).toBe(1)
    await client.leave()
    await time.advance(LINGER - 1)
    expect(worker.sinks.size).toBe(1)
    await time.advance(1)
    expect([worker.sinks.size, stream.fleet]).toEqual([0, undefined])
  })

  it("ends in order after half an hour, and when it is closed", async () => {
    const stream = streamOf(new ScriptedWorker(time))
    const client = new Client(stream).take()
    await time.advance(STREAM_FOR)
    expect(client.ended).toBe("ended")
    const other = new Client(stream).take()
    stream.close()
    await time.advance(0)
    expect(other.ended).toBe("ended")
  })
})

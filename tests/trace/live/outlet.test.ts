// Pins that a trace never waits for where it is written to: lines are gathered, a destination that fails is told of
// once and tried again, and what has no room is counted.
import { describe, expect, it } from "vitest"
import { TraceWriteError } from "../../../src/locks/api/errors.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { type Destination, Outlet } from "../../../src/trace/live/outlet.ts"
import { SinkDestination } from "../../../src/trace/live/sink.ts"
import type { NoteLine, TraceLine } from "../../../src/trace/trace.ts"

const note = (text: string): NoteLine => ({ kind: "note", at: 1, worker: "a", note: text })
const textsOf = (lines: readonly TraceLine[]): string[] => lines.map((line) => (line as NoteLine).note)

/** Takes lines, or fails as long as it is told to. */
class Scripted implements Destination {
  readonly name = "there"
  readonly taken: TraceLine[] = []
  batches = 0
  tries = 0
  trouble: Error | undefined
  hangs = false
  isClosed = false

  async write(lines: readonly TraceLine[]): Promise<number> {
    this.tries++
    if (this.hangs) await new Promise(() => {})
    if (this.trouble !== undefined) throw this.trouble
    this.batches++
    this.taken.push(...lines)
    return lines.length
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

class Bench {
  readonly time = new VirtualTime()
  readonly errors: unknown[] = []
  readonly destination = new Scripted()
  readonly outlet: Outlet = this.over(this.destination)

  over(destination: Destination): Outlet {
    const report = (error: unknown): void => void this.errors.push(error)
    const gap = (missing: number): TraceLine => note(`${missing} missing`)
    return new Outlet(destination, { clock: this.time, report, gap })
  }
}

describe("the way of lines to a destination", () => {
  it("gathers lines, and keeps their order", async () => {
    const { time, outlet, destination } = new Bench()
    for (const text of ["a", "b", "c"]) outlet.push(note(text))
    expect(destination.taken).toEqual([])
    await time.advance(100)
    expect(textsOf(destination.taken)).toEqual(["a", "b", "c"])
    expect(destination.batches).toBe(1)
  })

  // Tests traces: A live trace waits for nobody: a slow sink, a full disk and a bad path are reported once.
  it("tells of a destination that fails once, tries it again, later each time, and loses nothing that has room", async () => {
    const { time, outlet, destination, errors } = new Bench()
    destination.trouble = new Error("no space left")
    outlet.push(note("a"))
    await time.advance(600_000)
    outlet.push(note("b"))
    expect(errors).toHaveLength(1)
    expect(errors[0]).toBeInstanceOf(TraceWriteError)
    expect(errors[0]).toMatchObject({ cause: destination.trouble, message: expect.stringContaining("no space left") })
    expect(destination.tries).toBeGreaterThan(10)
    expect(destination.tries).toBeLessThan(20)
    destination.trouble = undefined
    await time.advance(60_000)
    expect(textsOf(destination.taken)).toEqual(["a", "b"])
    expect(outlet.dropped).toBe(0)
    destination.trouble = new Error("full again")
    outlet.push(note("c"))
    await time.advance(100)
    expect(errors).toHaveLength(2)
  })

  it("counts what has no room, and says where it is missing", async () => {
    const { time, outlet, destination } = new Bench()
    destination.trouble = new Error("no")
    for (let each = 0; each < 60_000; each++) outlet.push(note(`${each}`))
    expect(outlet.dropped).toBe(10_000)
    await time.advance(100)
    destination.trouble = undefined
    await time.advance(2000)
    outlet.push(note("later"))
    await time.advance(200)
    const texts = textsOf(destination.taken)
    expect(texts.slice(49_999)).toEqual(["49999", "10000 missing", "later"])
  })

  it("has a bound for lines that are large", () => {
    const { outlet, destination } = new Bench()
    destination.hangs = true
    for (let each = 0; each < 100; each++) outlet.push(note("x".repeat(1024 * 1024)))
    expect(outlet.dropped).toBeGreaterThan(80)
    expect(outlet.dropped).toBeLessThan(90)
  })

  it("writes all at its close, and takes nothing after that", async () => {
    const { outlet, destination } = new Bench()
    for (let each = 0; each < 1234; each++) outlet.push(note(`${each}`))
    await outlet.close(2000)
    outlet.push(note("late"))
    expect(destination.taken).toHaveLength(1234)
    expect([destination.isClosed, outlet.dropped]).toEqual([true, 0])
  })

  it("waits no longer than that for one that hangs, or fails, and counts what isn't there", async () => {
    for (const trouble of ["hangs", "fails"]) {
      const { time, outlet, destination } = new Bench()
      if (trouble === "hangs") destination.hangs = true
      else destination.trouble = new Error("no")
      outlet.push(note("a"))
      const from = time.mono()
      await time.runUntil(outlet.close(2000))
      expect(time.mono() - from).toBeLessThanOrEqual(2000)
      expect([destination.isClosed, outlet.dropped]).toEqual([true, 1])
    }
  })
})

describe("a sink", () => {
  it("gets one line after the other, and is waited for", async () => {
    const bench = new Bench()
    const { time } = bench
    const began: string[] = []
    const gates: (() => void)[] = []
    const sink = (line: TraceLine): Promise<void> => {
      began.push((line as NoteLine).note)
      return new Promise((resolve) => void gates.push(resolve))
    }
    const outlet = bench.over(new SinkDestination(sink, () => {}))
    for (const text of ["a", "b"]) outlet.push(note(text))
    await time.advance(1000)
    expect(began).toEqual(["a"])
    gates.shift()!()
    await time.advance(1)
    expect(began).toEqual(["a", "b"])
    gates.shift()!()
    await outlet.close(1000)
  })

  it("that throws is told of once, loses its line, and gets the next ones", async () => {
    const bench = new Bench()
    const got: string[] = []
    const failed: unknown[] = []
    const sink = (line: TraceLine): void => {
      const text = (line as NoteLine).note
      if (text.startsWith("bad")) throw new Error(text)
      got.push(text)
    }
    const outlet = bench.over(new SinkDestination(sink, (error) => void failed.push(error)))
    for (const text of ["a", "bad 1", "bad 2", "b", "bad 3"]) outlet.push(note(text))
    await bench.time.advance(100)
    expect(got).toEqual(["a", "b"])
    expect(failed.map(String)).toEqual(["Error: bad 1", "Error: bad 3"])
    expect(bench.errors).toEqual([])
  })

  // Tests traces.
  it("that brings about the lines that it gets, at once, keeps nothing else from going on", async () => {
    const bench = new Bench()
    let got = 0
    const outlet: Outlet = bench.over(
      new SinkDestination(
        () => {
          if (++got < 100_000) outlet.push(note("again"))
        },
        () => {},
      ),
    )
    outlet.push(note("first"))
    await bench.time.advance(1000)
    expect(got).toBeGreaterThan(2)
    expect(got).toBeLessThan(20)
  })

  it("gets a line of its own: what it makes of it is in no file", async () => {
    const line: TraceLine = {
      ...{ kind: "work", at: 1, worker: "a", id: 1, key: "k", token: 1, work: "run", edge: "failed" },
      error: { tag: "Error", code: null, message: "(redacted)" },
    }
    const before = structuredClone(line)
    const bench = new Bench()
    const sink = (got: TraceLine): void => {
      Object.assign(got, { worker: "mine" })
      Object.assign((got as typeof line).error ?? {}, { message: "mine" })
    }
    const outlet = bench.over(new SinkDestination(sink, (error) => void bench.errors.push(error)))
    outlet.push(line)
    await bench.time.advance(100)
    expect([line, bench.errors]).toEqual([before, []])
  })
})

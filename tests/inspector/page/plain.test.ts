// Pins the pure parts of the page: addresses, the event stream, durations, the heat map's places, time spans and rates.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { EventStreamParser } from "../../../src/inspector/page/feed/event-stream.ts"
import { Layout } from "../../../src/inspector/page/fleet/heat-layout.ts"
import { WorkerRates } from "../../../src/inspector/page/fleet/worker-rates.ts"
import { formatRoute, parseRoute, type Route } from "../../../src/inspector/page/frame/router.ts"
import { duration } from "../../../src/inspector/page/look/format.ts"
import { Span } from "../../../src/inspector/page/timeline/span.ts"
import { worker } from "../live/made.ts"

describe("addresses of the page", () => {
  it("lead back to where they were made, whatever keys are", () => {
    const text = fc.string({ unit: "binary", minLength: 1, maxLength: 60 }).filter((each) => each.isWellFormed())
    const back = (route: Route): Route => parseRoute(formatRoute(route) ?? "")
    const leadsBack = (name: string, key: string): void => {
      const sandbox: Route = { screen: "sandbox", worker: name, key }
      expect(back(sandbox)).toEqual(sandbox)
      expect(back({ screen: "sequence", key })).toEqual({ screen: "sequence", key })
      expect(back({ screen: "fleet", search: key })).toEqual({ screen: "fleet", search: key })
    }
    fc.assert(fc.property(text, text, leadsBack))
    expect(back({ screen: "timeline" })).toEqual({ screen: "timeline" })
  })

  it("are none for keys that no address can have", () => {
    expect(formatRoute({ screen: "sequence", key: "\ud800" })).toBeNull()
    expect(formatRoute({ screen: "sequence", key: "x".repeat(2 ** 20) })).toBeNull()
  })

  it.each(["", "#", "#/", "#/nothing", "#/sandbox/only-a-worker", "#/%E0%A4%A"])("%j is the fleet", (hash) => {
    expect(parseRoute(hash).screen).toBe("fleet")
  })
})

describe("the stream of events", () => {
  const text =
    "id: s.1\nevent: hello\ndata: {}\n\n: still here\n\nid: s.2\r\nevent: lines\r\ndata: a\r\ndata: b\r\n\r\n"

  it("gives whole messages, wherever it is cut", () => {
    const whole = [
      { event: "hello", data: "{}", id: "s.1" },
      { event: "lines", data: "a\nb", id: "s.2" },
    ]
    for (let cut = 0; cut <= text.length; cut++) {
      const parser = new EventStreamParser()
      expect([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))]).toEqual(whole)
    }
  })

  it("gives up a message that has no end", () => {
    const parser = new EventStreamParser()
    const piece = "x".repeat(2 ** 24)
    expect(() => Array.from({ length: 5 }, () => parser.push(piece))).toThrow(RangeError)
  })
})

describe("what is told in few characters", () => {
  it.each([
    [0, "0 ms"],
    [-340, "−340 ms"],
    [4250, "4.2 s"],
    [59_999, "59 s"],
    [185_000, "3 m 05 s"],
    [7_800_000, "2 h 10 m"],
    [360_000_000, "4 d 4 h"],
  ])("%d ms are %s", (ms, text) => {
    expect(duration(ms)).toBe(text)
  })
})

describe("the places of the heat map", () => {
  it("are each where it is pointed at, for any number of cells and any width", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 300, max: 2000 }),
        fc.constantFrom(1, 1.5, 2),
        (size, width, ratio) => {
          const layout = new Layout(size, width, ratio)
          for (const place of [0, size >> 1, size - 1]) {
            const [x, y] = layout.corner(place)
            expect(layout.placeAt(x, y)).toBe(place)
            expect(x + layout.cell).toBeLessThanOrEqual(layout.width)
            expect(y + layout.cell).toBeLessThanOrEqual(layout.height)
          }
          expect(layout.placeAt(-1, 0)).toBe(-1)
          expect(layout.placeAt(0, layout.height)).toBe(-1)
        },
      ),
    )
  })
})

describe("the part of the time that is shown", () => {
  it("follows the present until it is moved away, and again when it is moved back", () => {
    const span = Span.last(1000)
    expect(span.isFollowing).toBe(true)
    const earlier = span.moved(-0.5, 10_000, 0)
    expect(earlier.isFollowing).toBe(false)
    expect(earlier.at(20_000)).toEqual(earlier.at(10_000))
    expect(earlier.moved(1, 10_000, 0).isFollowing).toBe(true)
  })

  it("keeps the moment in place around which it is zoomed", () => {
    const span = Span.last(1000).moved(-2, 10_000, 0)
    const { from, to } = span.at(10_000)
    const around = from + 0.25 * (to - from)
    const closer = span.zoomed(0.5, around, 10_000, 0).at(10_000)
    expect(closer.to - closer.from).toBeCloseTo(500)
    expect((around - closer.from) / (closer.to - closer.from)).toBeCloseTo(0.25)
  })
})

describe("rates of a worker", () => {
  it("are known after a second, and begin anew when the worker does", () => {
    const rates = new WorkerRates()
    const at = (time: number, renewals: number): void => rates.note(time, worker({ worker: "a", stats: { renewals } }))
    at(0, 100)
    expect(rates.perSecond("a", "renewals")).toBeNull()
    at(2000, 110)
    expect(rates.perSecond("a", "renewals")).toBe(5)
    at(3000, 3)
    expect(rates.perSecond("a", "renewals")).toBeNull()
  })
})

// Pins how server-sent events are read from chunks that end anywhere.
import { describe, expect, it } from "vitest"
import { EventReader, eventText, withId } from "../../../../src/inspector/live/stream/sse.ts"

describe("a reader of events", () => {
  const text = `:\n\n${withId("r.1", eventText("rows", [1, "two"]))}${eventText("ready", {})}`
  const whole = [
    { id: "r.1", event: "rows", data: '[1,"two"]' },
    { id: undefined, event: "ready", data: "{}" },
  ]

  it("reads the same wherever chunks end", () => {
    for (let size = 1; size <= text.length; size++) {
      const reader = new EventReader(1000)
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        text.slice(at * size, (at + 1) * size),
      )
      expect(chunks.flatMap((chunk) => [...reader.push(chunk), ...reader.push("")])).toEqual(whole)
    }
  })

  it("refuses an event that is too long, complete or not", () => {
    expect(() => new EventReader(10).push(eventText("rows", "x".repeat(10)))).toThrow(/more than 10/)
    expect(() => new EventReader(10).push("data: 12345")).toThrow(/more than 10/)
  })

  // Tests inspector: A client that takes nothing is dropped; without clients nothing is listened to.
  it("takes no longer for the end of a long event than for its beginning", () => {
    const reader = new EventReader(64 * 1024 * 1024)
    const chunk = "x".repeat(1000)
    const begun = performance.now()
    for (let read = 0; read < 16_000; read++) reader.push(chunk)
    expect(performance.now() - begun).toBeLessThan(2000) // joined with each chunk it takes minutes
  })
})

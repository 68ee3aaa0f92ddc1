/** Requests that a store answers at once: when they are sent, and what they leave to the event loop. */
import { describe, expect, it } from "vitest"
import { SyncRequests } from "../../../src/locks/engine/sync-requests.ts"
import type { Command, Input } from "../../../src/locks/protocol/rules/state.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

const read = (id: number): Command => ({ type: "read", id, known: undefined })

function make(answered: (answer: Input, prompt: SyncRequests) => void = () => {}): {
  readonly time: VirtualTime
  readonly prompt: SyncRequests
  readonly sent: number[]
} {
  const time = new VirtualTime()
  const sent: number[] = []
  const prompt: SyncRequests = new SyncRequests(
    time,
    ({ id }) => {
      sent.push(id)
      return { type: "read", id, answer: { kind: "absent" } }
    },
    (answer) => answered(answer, prompt),
  )
  return { time, prompt, sent }
}

describe("prompt requests", () => {
  // Tests stores: What answers at once is asked after the current step, and leaves the event loop its turns.
  it("are sent in order when they are flushed, and not before", () => {
    const { prompt, sent } = make()
    prompt.add(read(1))
    prompt.add(read(2))
    expect(sent).toEqual([])
    prompt.flush()
    expect(sent).toEqual([1, 2])
  })

  it("that were given up before are not sent", () => {
    const { prompt, sent } = make()
    prompt.add(read(1))
    prompt.add({ type: "abandon", id: 1 })
    prompt.add(read(2))
    prompt.flush()
    expect(sent).toEqual([2])
  })

  it("that an answer asks for are sent by the same flush, after that answer was taken in", () => {
    const { prompt, sent } = make((answer, self) => {
      if (!("id" in answer) || answer.id >= 3) return
      self.add(read(answer.id + 1))
      self.flush()
      expect(sent).toHaveLength(answer.id)
    })
    prompt.add(read(1))
    prompt.flush()
    expect(sent).toEqual([1, 2, 3])
  })

  it("without end leave the event loop its turns", async () => {
    const { time, prompt, sent } = make((answer, self) => {
      if ("id" in answer && answer.id < 100) self.add(read(answer.id + 1))
    })
    prompt.add(read(1))
    prompt.flush()
    expect(sent.length).toBeLessThan(20)
    await time.advance(0)
    expect(sent).toHaveLength(100)
  })
})

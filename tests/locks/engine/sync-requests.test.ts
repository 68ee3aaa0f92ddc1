/** Requests that a store answers at once: when they are sent, and what they leave to the event loop. */
import { describe, expect, it } from "vitest"
import { SyncRequests } from "../../../src/locks/engine/sync-requests.ts"
import type { Command, Input } from "../../../src/locks/protocol/rules/state.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"

const read = (id: number): Command => ({ type: "read", id, known: undefined })

function make(answered: (answer: Input, requests: SyncRequests) => void = () => {}): {
  readonly time: VirtualTime
  readonly requests: SyncRequests
  readonly sent: number[]
} {
  const time = new VirtualTime()
  const sent: number[] = []
  const requests: SyncRequests = new SyncRequests({
    clock: time,
    send: ({ id }) => {
      sent.push(id)
      return { type: "read", id, answer: { kind: "absent" } }
    },
    answered: (answer) => answered(answer, requests),
  })
  return { time, requests, sent }
}

describe("synchronous requests", () => {
  // Tests stores: What answers at once is asked after the current step, and leaves the event loop its turns.
  it("are sent in order when they are flushed, and not before", () => {
    const { requests, sent } = make()
    requests.add(read(1))
    requests.add(read(2))
    expect(sent).toEqual([])
    requests.flush()
    expect(sent).toEqual([1, 2])
  })

  it("that were given up before are not sent", () => {
    const { requests, sent } = make()
    requests.add(read(1))
    requests.add({ type: "abandon", id: 1 })
    requests.add(read(2))
    requests.flush()
    expect(sent).toEqual([2])
  })

  it("that an answer asks for are sent by the same flush, after that answer was taken in", () => {
    const { requests, sent } = make((answer, self) => {
      if (!("id" in answer) || answer.id >= 3) return
      self.add(read(answer.id + 1))
      self.flush()
      expect(sent).toHaveLength(answer.id)
    })
    requests.add(read(1))
    requests.flush()
    expect(sent).toEqual([1, 2, 3])
  })

  it("without end leave the event loop its turns", async () => {
    const { time, requests, sent } = make((answer, self) => {
      if ("id" in answer && answer.id < 100) self.add(read(answer.id + 1))
    })
    requests.add(read(1))
    requests.flush()
    expect(sent.length).toBeLessThan(20)
    await time.advance(0)
    expect(sent).toHaveLength(100)
  })
})

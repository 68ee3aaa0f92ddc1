/** Who is told of a key's events, and in which order. */
import { describe, expect, it } from "vitest"
import type { LockEvent } from "../../../../src/locks/api/lock.ts"
import { KeyEvents } from "../../../../src/locks/engine/key/key-events.ts"

const at = { at: 0, key: "k", ownerId: "me" }
const acquired: LockEvent = { ...at, type: "Acquired", token: 1, deadline: 1000, how: "created" }
const asked: LockEvent = { ...at, type: "ReleaseRequested", token: 1, waiterId: "w" }

describe("the events of a key", () => {
  it("come to the listener at once, and to observers when they are delivered", () => {
    const events = new KeyEvents(undefined)
    const order: string[] = []
    events.follow(({ type }) => order.push(`listener ${type}`))
    events.events$.subscribe(({ type }) => order.push(`observer ${type}`))
    events.tell(acquired)
    events.tell(asked)
    events.afterwards(() => order.push("afterwards"))
    expect(order).toEqual(["listener Acquired", "listener ReleaseRequested"])
    events.deliver()
    expect(order.slice(2)).toEqual(["observer Acquired", "observer ReleaseRequested", "afterwards"])
  })

  it("that an observer causes are delivered after the current one, to all", () => {
    const events = new KeyEvents(undefined)
    const order: string[] = []
    events.events$.subscribe(({ type }) => {
      order.push(`first ${type}`)
      if (type !== "Acquired") return
      events.tell(asked)
      events.deliver()
    })
    events.events$.subscribe(({ type }) => order.push(`second ${type}`))
    events.tell(acquired)
    events.deliver()
    expect(order).toEqual(["first Acquired", "second Acquired", "first ReleaseRequested", "second ReleaseRequested"])
  })

  it("leave the last request to release, until the key is acquired anew", () => {
    const events = new KeyEvents(undefined)
    events.tell(asked)
    expect(events.releaseRequest).toBeUndefined()
    events.deliver()
    expect(events.releaseRequest).toBe(asked)
    events.tell(acquired)
    events.deliver()
    expect(events.releaseRequest).toBeUndefined()
  })
  it("go on being delivered after a call that throws", () => {
    const events = new KeyEvents(undefined)
    const order: string[] = []
    events.events$.subscribe(({ type }) => order.push(type))
    events.afterwards(() => {
      throw new Error("no turn")
    })
    events.tell(acquired)
    expect(() => events.deliver()).toThrow("no turn")
    events.deliver()
    expect(order).toEqual(["Acquired"])
  })
})

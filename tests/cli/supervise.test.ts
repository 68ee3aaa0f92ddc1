/** A command whose group doesn't end: what is done about it, how often it is looked at, and what the user hears. */
import { NEVER } from "rxjs"
import { describe, expect, it } from "vitest"
import { Supervision, type Work } from "../../src/cli/run/supervise.ts"
import type { Lease } from "../../src/locks/lock.ts"
import { VirtualTime } from "../../src/runtime/virtual-time.ts"

/** Of a lease that is held and never renewed. */
const lease = (deadline: number): Lease =>
  ({ key: "k", deadline, events$: NEVER, signal: new AbortController().signal, isHeld: () => true }) as never

describe("a group that can't be ended", () => {
  it("is waited for, with ever fewer looks, and the user is told once", async () => {
    const clock = new VirtualTime()
    const heard: string[] = []
    let [looks, lives] = [0, true]
    const group: Work["group"] = {
      id: 42,
      signal: (signal) => heard.push(signal) > 0, // nothing of it may be signalled by this user
      isThere: () => (looks++, lives),
    }
    const notes: string[] = []
    const hour = 3_600_000
    using supervision = new Supervision({
      ...{ leases: [lease(clock.read().wall + 2 * hour)], group, owner: "me", env: {}, clock },
      wish: { ttl: 30_000, grace: 10_000, onRequest: { do: "term" } },
      ended: Promise.resolve({ code: 3 }),
      guardian: { gone: new Promise(() => {}), allow: () => {}, dismiss: () => {} },
      file: { write: () => {} },
      note: (event, message) => void notes.push(`${event}: ${message}`),
    })
    const finished = supervision.finish()
    await clock.advance(hour)
    expect(heard).toEqual(["SIGTERM", "SIGCONT", "SIGKILL"])
    expect(looks).toBeGreaterThan(3500)
    expect(looks).toBeLessThan(3700)
    expect(notes).toEqual([expect.stringMatching(/^staying: process group 42 doesn't end: the key is kept/)])
    lives = false
    await clock.advance(1000)
    expect(await finished).toEqual({ exit: { code: 3 }, lost: undefined })
  })
})

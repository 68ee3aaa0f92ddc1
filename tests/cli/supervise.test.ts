/** A command whose group doesn't end: what is done about it, how often it is looked at, and what the user hears. */
import { NEVER, Subject } from "rxjs"
import { describe, expect, it } from "vitest"
import { type SupervisedWork, Supervision } from "../../src/cli/run/supervise.ts"
import { LockLostError } from "../../src/locks/api/errors.ts"
import type { Lease } from "../../src/locks/api/lock.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"

/** Of a lease that is held and never renewed. */
const lease = (deadline: number): Lease =>
  ({ key: "k", deadline, events$: NEVER, signal: new AbortController().signal, isHeld: () => true }) as never

describe("a group that can't be ended", () => {
  // Tests command: A group that doesn't end keeps its key, and is looked at ever more seldom.
  it("is waited for, with ever fewer looks, and the user is told once", async () => {
    const clock = new VirtualTime()
    const heard: string[] = []
    let [looks, lives] = [0, true]
    const group: SupervisedWork["group"] = {
      id: 42,
      signal: (signal) => heard.push(signal) > 0, // nothing of it may be signalled by this user
      isThere: () => (looks++, lives),
    }
    const notes: string[] = []
    const hour = 3_600_000
    using supervision = new Supervision({
      ...{ leases: [lease(clock.read().wall + 2 * hour)], group, owner: "me", env: {}, clock },
      settings: { ttl: 30_000, grace: 10_000, onRequest: { do: "term" } },
      ended: Promise.resolve({ code: 3 }),
      guardian: { gone: new Promise(() => {}), allow: () => {}, dismiss: () => {} },
      file: { write: () => {} },
      hooks: { start: () => {} },
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

describe("what the user is told", () => {
  type Waits = PromiseWithResolvers<void>

  /** What is done and told, in order, where `happens` after the command has begun. */
  async function order(
    happens: (run: { clock: VirtualTime; supervision: Supervision; lost: AbortController; gone: Waits }) => void,
  ): Promise<readonly string[]> {
    const clock = new VirtualTime()
    const told: string[] = []
    const lost = new AbortController()
    const gone: Waits = Promise.withResolvers()
    const held = { ...lease(clock.read().wall + 30_000), events$: new Subject(), signal: lost.signal } as never
    using supervision = new Supervision({
      ...{ leases: [held], owner: "me", env: {}, clock, ended: new Promise(() => {}) },
      group: { id: 42, signal: (signal) => told.push(signal) > 0, isThere: () => true },
      settings: { ttl: 30_000, grace: 100, onRequest: { do: "term" } },
      guardian: { gone: gone.promise, allow: () => {}, dismiss: () => {} },
      file: { write: () => {} },
      hooks: { start: () => {} },
      note: (event) => void told.push(event),
    })
    happens({ clock, supervision, lost, gone })
    await clock.advance(26_000)
    return told
  }

  const taken = (): unknown => new LockLostError({ key: "k", reason: "taken", since: 0, message: "lost", next: "" })
  const deleted = (): unknown => new LockLostError({ key: "k", reason: "deleted", since: 0, message: "lost", next: "" })

  // Tests command: A run acts first and reports afterwards: a stuck reader stops no signal, renewal or handoff.
  it("comes after the signal that it tells of, since nobody may hear it", async () => {
    const end = ["SIGTERM", "SIGCONT"]
    expect((await order(({ supervision }) => supervision.requested("w"))).slice(0, 4)).toEqual([
      ...end,
      "requested",
      "SIGKILL",
    ])
    expect((await order(() => {})).slice(0, 3)).toEqual([...end, "losing"])
    expect((await order(({ lost }) => lost.abort(taken()))).slice(0, 2)).toEqual(["SIGKILL", "lost"])
    expect((await order(({ lost }) => lost.abort(deleted()))).slice(0, 3)).toEqual([...end, "lost"])
    expect((await order(({ gone }) => gone.resolve())).slice(0, 3)).toEqual([...end, "unguarded"])
  })
})

// Tests command: A command gets SIGTERM before its lease is over, and SIGKILL before others may start.
it("a lease that was over before the command's end is a loss, though nobody was told of it yet", async () => {
  const clock = new VirtualTime()
  const lost = new LockLostError({ key: "k", reason: "expired", since: 0, message: "lost", next: "" })
  // As a process finds it that stood still: the lease reads the clocks, and no timer has run.
  let isOver = false
  const signal = {
    get aborted(): boolean {
      return isOver
    },
    reason: lost,
    addEventListener: () => {},
    removeEventListener: () => {},
  }
  const ended = Promise.withResolvers<{ signal: "SIGKILL" }>()
  using supervision = new Supervision({
    ...{ leases: [{ ...lease(clock.read().wall + 30_000), signal } as never], owner: "me", env: {}, clock },
    group: { id: 42, signal: () => true, isThere: () => false },
    ended: ended.promise,
    settings: { ttl: 30_000, grace: 100, onRequest: { do: "term" } },
    guardian: { gone: new Promise(() => {}), allow: () => {}, dismiss: () => {} },
    file: { write: () => {} },
    hooks: { start: () => {} },
    note: () => {},
  })
  const finished = supervision.finish()
  isOver = true
  ended.resolve({ signal: "SIGKILL" })
  expect(await finished).toEqual({ exit: { signal: "SIGKILL" }, lost })
})

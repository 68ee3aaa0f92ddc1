import { describe, expect, it } from "vitest"
import { Turns } from "../../../../src/actors/sandbox/work/turns.ts"
import { HandingOffError, LockCancelledError, ReentrantLockError } from "../../../../src/locks/api/errors.ts"
import { VirtualTime } from "../../../../src/runtime/time/virtual-time.ts"
import { collected } from "../../../support/gc.ts"

const use = { from: "use" } as const
const own = { from: "own" } as const
const refused = (): HandingOffError => new HandingOffError({ message: "leaving", next: "try again" })

describe("turns", () => {
  // Tests chart: Turns run one at a time in the order of calls; one that would wait for itself is refused.
  it("run one at a time, in the order of calls, whatever time each takes", async () => {
    const clock = new VirtualTime()
    const turns = new Turns("k")
    const seen: string[] = []
    const turn = (name: string, ms: number) =>
      turns.run(async () => {
        seen.push(`${name}+`)
        await new Promise<void>((resolve) => clock.after(ms, resolve))
        seen.push(`${name}-`)
        return name
      }, use)
    const results = Promise.all([turn("a", 30), turn("b", 1), turn("c", 10)])
    await clock.advance(41)
    expect(await results).toEqual(["a", "b", "c"])
    expect(seen).toEqual(["a+", "a-", "b+", "b-", "c+", "c-"])
  })

  it("go on after one that throws, which rejects for its own caller alone", async () => {
    const turns = new Turns("k")
    const error = new Error("as thrown")
    const failing = turns.run(() => {
      throw error
    }, use)
    const next = turns.run(() => "next", use)
    await expect(failing).rejects.toBe(error)
    expect(await next).toBe("next")
    expect(turns.busy).toBe(false)
  })

  it("refuse a call from inside a turn of the same sandbox at once, also deep inside and by way of another sandbox", async () => {
    const a = new Turns("a")
    const b = new Turns("b")
    const from = (turns: Turns) => turns.refuseInside("use")
    await a.run(async () => {
      expect(() => from(a)).toThrow(ReentrantLockError)
      expect(() => from(b)).not.toThrow()
      await Promise.resolve()
      expect(() => from(a)).toThrow(ReentrantLockError)
      await b.run(() => {
        expect(() => from(a)).toThrow(ReentrantLockError)
        expect(() => from(b)).toThrow(ReentrantLockError)
      }, use)
      expect(() => from(b)).not.toThrow()
    }, use)
    expect(() => from(a)).not.toThrow()
    expect.assertions(7)
  })

  it("let through siblings of a turn, and what it began and left behind, once it has ended", async () => {
    const turns = new Turns("k")
    const gate = Promise.withResolvers<void>()
    const later: Promise<boolean>[] = []
    const first = turns.run(() => {
      later.push(gate.promise.then(() => turns.inside)) // goes on in the async context of this turn, as a timer would
      expect(turns.inside).toBe(true)
    }, use)
    const sibling = turns.run(() => "sibling", use)
    await first
    expect(await sibling).toBe("sibling")
    gate.resolve()
    expect(await later[0]).toBe(false)
    expect.assertions(3)
  })

  // Tests providers: Sections and turns that are over are kept by none that they began.
  it.each([
    ["while it lasts", 5],
    ["when it is over", 15],
  ])("are let go by those that they began %s: a long chain keeps the last few", async (_when, ms) => {
    const clock = new VirtualTime()
    const sleep = (time: number): Promise<void> => new Promise((resolve) => void clock.after(time, resolve))
    const all: WeakRef<Turns>[] = []
    const [last, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const link = (left: number): Promise<void> => {
      const turns = new Turns(`k${left}`)
      all.push(new WeakRef(turns))
      return turns.run(() => {
        if (left === 0) return (last.resolve(), end.promise)
        void sleep(ms).then(() => link(left - 1))
        return sleep(10)
      }, use)
    }
    void link(40)
    await clock.runUntil(last.promise)
    await clock.advance(100)
    await collected()
    expect(all.filter((turns) => turns.deref() !== undefined).length).toBeLessThan(10)
    expect(all.at(-1)?.deref()).toBeDefined()
    expect(all).toHaveLength(41)
    end.resolve()
  })

  it("lets a caller give up while it waits, without losing anybody else's place or keeping a listener", async () => {
    const turns = new Turns("k")
    const gate = Promise.withResolvers<void>()
    const ran: string[] = []
    const first = turns.run(() => gate.promise, use)
    const abort = new AbortController()
    const waiting = turns.run(() => void ran.push("gone"), { ...use, signal: abort.signal })
    const last = turns.run(() => void ran.push("last"), use)
    const reason = new LockCancelledError({ message: "cancelled", next: "nothing" })
    abort.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    gate.resolve()
    await Promise.all([first, last])
    expect(ran).toEqual(["last"])
  })

  it("once closed to uses refuse those that wait and all later ones, and still serve the sandbox itself", async () => {
    const turns = new Turns("k")
    const gate = Promise.withResolvers<string>()
    const begun = turns.run(() => gate.promise, use)
    const waiting = turns.run(() => "never", use)
    const ours = turns.run(() => "own", own)
    turns.closeToUses(refused)
    await expect(waiting).rejects.toBeInstanceOf(HandingOffError)
    await expect(turns.run(() => "late", use)).rejects.toBeInstanceOf(HandingOffError)
    gate.resolve("begun")
    expect(await begun).toBe("begun")
    expect(await ours).toBe("own")
  })

  it("are idle when none is in progress and none waits", async () => {
    const turns = new Turns("k")
    const gate = Promise.withResolvers<void>()
    const seen: string[] = []
    const work = [turns.run(() => gate.promise, use), turns.run(() => void seen.push("second"), own)]
    const idle = turns.idle().then(() => seen.push("idle"))
    gate.resolve()
    await Promise.all([...work, idle])
    expect(seen).toEqual(["second", "idle"])
    await turns.idle()
  })

  it("keep the caller's own async context inside of the turn", async () => {
    const { AsyncLocalStorage } = await import("node:async_hooks")
    const storage = new AsyncLocalStorage<string>()
    const turns = new Turns("k")
    const gate = Promise.withResolvers<void>()
    const first = storage.run("first", () => turns.run(() => gate.promise, use))
    const second = storage.run("second", () => turns.run(() => storage.getStore(), use))
    gate.resolve()
    await first
    expect(await second).toBe("second")
  })
})

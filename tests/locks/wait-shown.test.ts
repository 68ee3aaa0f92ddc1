/** The observers that come with leasehold: log lines, and the line on a terminal. */
import process from "node:process"
import { describe, expect, it, vi } from "vitest"
import { logWaits } from "../../src/locks/waits/log.ts"
import { type TerminalStream, terminalWaits } from "../../src/locks/waits/terminal.ts"
import { failure, KEY, lockWorld } from "../support/lock-world.ts"

const ESC = "\u001B"

/** A terminal as a person sees it: the line that stands there, and all that ever did. */
function terminal(columns = 200) {
  const shown: string[] = []
  let line = ""
  const stream: TerminalStream = {
    isTTY: true,
    columns,
    write(text) {
      const parts = text.split(`\r${ESC}[K`)
      line = parts.length > 1 ? parts.at(-1)! : line + text
      shown.push(line)
    },
  }
  return { stream, shown, line: () => line }
}

describe("logWaits", () => {
  // Tests waits: A wait is logged as JSON: its start, every 10 s, its ending; a call without a wait isn't.
  it("writes a line of JSON where a call begins to wait, every 10 s, and at its ending", async () => {
    const { time, lock } = lockWorld()
    const held = await time.runUntil(lock("a").acquire())
    const lines: string[] = []
    const error = await time.runUntil(
      failure(lock("b").acquire({ timeout: "25 s", observer: logWaits((line) => lines.push(line)) })),
    )
    const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(events.map(({ event }) => event)).toEqual(["waitStarted", "progress", "progress", "timedOut"])
    expect(lines.join("")).not.toContain("\n")
    const holder = { ownerId: "a", token: held.token }
    expect(events[0]).toMatchObject({ key: KEY, waitingFor: "holder", holder, elapsedMs: 0, limitMs: 25_000 })
    expect(events[1]).toMatchObject({ elapsedMs: 10_000, remainingMs: 15_000, source: "the timeout option" })
    expect(events[1]!["retries"]).toBeGreaterThan(10)
    const { message } = error
    expect(events[3]).toMatchObject({
      waited: true,
      error: { tag: "LockTimeoutError", code: "LEASEHOLD_TIMEOUT", message },
    })
    expect(new Set(events.map(({ wait }) => wait)).size).toBe(1)
    for (const { at } of events) expect(at).toEqual(expect.any(Number))
  })

  it("writes nothing of a call that got the key without waiting, and of one that failed its ending", async () => {
    const { time, lock } = lockWorld()
    const lines: string[] = []
    const observer = logWaits((line) => lines.push(line))
    await time.runUntil(lock("a").acquire({ observer }))
    expect(lines).toEqual([])
    await time.runUntil(failure(lock("b").acquire({ observer, timeout: 0 })))
    expect(lines.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(["timedOut"])
  })

  it("writes to standard error where it is told nowhere else", async () => {
    const { time, lock } = lockWorld()
    await time.runUntil(lock("a").acquire())
    const written: unknown[] = []
    const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => (written.push(text), true))
    try {
      await time.runUntil(failure(lock("b").acquire({ observer: logWaits(), timeout: 0 })))
    } finally {
      write.mockRestore()
    }
    expect(written).toEqual([expect.stringMatching(/^\{.*"event":"timedOut".*\}\n$/)])
  })

  it("writes null for a budget without limit", async () => {
    const { time, lock } = lockWorld()
    const held = await time.runUntil(lock("a").acquire())
    const lines: string[] = []
    const observer = logWaits((line) => lines.push(line), { progressEvery: "1 s" })
    const call = lock("b").acquire({ timeout: "infinite", observer })
    await time.advance(2500)
    await time.runUntil(held.release())
    await time.runUntil(call)
    const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(events.length).toBeGreaterThanOrEqual(4)
    expect([...new Set(events.map(({ event }) => event))]).toEqual(["waitStarted", "progress", "acquired"])
    for (const event of events) expect(event).toMatchObject({ remainingMs: null, limitMs: null })
  })
})

describe("terminalWaits", () => {
  // Tests waits: A terminal shows owner, time and time left in one line, gone with the wait; a pipe shows nothing.
  it("shows who has the key, for how long, and the time left, and is gone when the wait is over", async () => {
    const { time, lock } = lockWorld()
    const held = await time.runUntil(lock("a").acquire())
    await time.advance(125_000)
    const { stream, shown, line } = terminal()
    const call = lock("b").acquire({ timeout: "30 s", observer: terminalWaits({ stream }) })
    await time.advance(4500)
    expect(line()).toBe('Waiting 25 s more for "orders/7": held by "a" for 2 min 9 s')
    await time.runUntil(held.release())
    await time.runUntil(call)
    expect(line()).toBe("")
    expect(shown.every((each) => each === "" || / s more for "orders\/7": held by "a" for 2 min/.test(each))).toBe(true)
    expect(shown.length).toBeGreaterThan(5)
  })

  it("names the owner's process where the record tells it", async () => {
    const { stream, line } = terminal()
    const observer = terminalWaits({ stream })
    const holder = { ownerId: "h.41.x", pid: 41, host: "build-3", token: 7, expiresAt: 9 }
    const told = { at: 0, wait: "w", key: "k", elapsedMs: 0, remainingMs: Infinity, limitMs: Infinity, source: "s" }
    await observer.waitStarted?.({
      ...told,
      type: "waitStarted",
      waitingFor: "holder",
      holder,
      heldMs: 61_000,
      retries: 0,
    })
    expect(line()).toBe('Waiting for "k": held by "h.41.x" (pid 41 on build-3) for 1 min 1 s')
    await observer.progress?.({ ...told, type: "progress", waitingFor: "store", retries: 0 })
    expect(line()).toBe('Waiting for "k": no answer from the store yet')
    await observer.progress?.({ ...told, type: "progress", waitingFor: "process", retries: 0 })
    expect(line()).toBe('Waiting for "k": an earlier call of this process has it')
    await observer.failed?.({ ...told, type: "failed", error: new Error("x"), waited: true, retries: 0 })
    expect(line()).toBe("")
  })

  it("is quiet where the stream is no terminal", async () => {
    const { time, lock } = lockWorld()
    await time.runUntil(lock("a").acquire())
    const written: string[] = []
    const stream = { isTTY: false, write: (text: string) => written.push(text) }
    await time.runUntil(failure(lock("b").acquire({ timeout: "3 s", observer: terminalWaits({ stream }) })))
    expect(written).toEqual([])
  })

  it("writes nothing of calls that needn't wait", async () => {
    const { time, lock } = lockWorld()
    const { stream, shown } = terminal()
    await time.runUntil(lock("a").acquire({ observer: terminalWaits({ stream }) }))
    expect(shown).toEqual([])
  })

  // Tests waits: Texts that others wrote into a store can't steer a terminal or forge a line of it.
  it("shows no control characters of others, and never more than fits into a line", async () => {
    const { stream, line, shown } = terminal(60)
    const observer = terminalWaits({ stream })
    const holder = { ownerId: `x${ESC}[2J\u009B1m`, host: `h\r\n${ESC}]0;t\u0007`, pid: 1, token: 7, expiresAt: 9 }
    const told = { at: 0, wait: "w", key: "鍵".repeat(40), elapsedMs: 0, remainingMs: 5, limitMs: 5, source: "s" }
    await observer.waitStarted?.({ ...told, type: "waitStarted", waitingFor: "holder", holder, heldMs: 0, retries: 0 })
    expect(/^Waiting (\d+ s more )?for "鍵鍵/.test(line())).toBe(true)
    expect(Array.from(line()).reduce<number>((width, c) => width + (c < "\u007F" ? 1 : 2), 0)).toBeLessThanOrEqual(59)
    await observer.progress?.({
      ...told,
      key: "k",
      type: "progress",
      waitingFor: "holder",
      holder,
      heldMs: 0,
      retries: 0,
    })
    expect(shown.join("")).not.toMatch(/\p{Cc}/u)
  })

  it("shows the wait that was heard of last, and how many more there are", async () => {
    const { time, lock } = lockWorld()
    const held = await time.runUntil(lock("a").acquire())
    const { stream, line } = terminal()
    const observer = terminalWaits({ stream })
    const turn = async (id: string): Promise<void> => {
      const lease = await lock(id).acquire({ observer, contention: "retry", timeout: "3 min" })
      await lease.release()
    }
    const turns = ["b", "c", "d"].map(turn)
    await time.advance(3000)
    expect(line()).toContain("(and 2 more)")
    await time.runUntil(held.release())
    await time.runUntil(Promise.all(turns))
    expect(line()).toBe("")
  })
})

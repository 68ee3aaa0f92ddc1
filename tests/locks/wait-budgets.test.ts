/** How punctual waits are, and how they look again: many contended ones on virtual time. */
import { describe, expect, it } from "vitest"
import { LockTimeoutError } from "../../src/locks/errors.ts"
import { StoreLock } from "../../src/locks/store-lock.ts"
import { memoryStore } from "../../src/locks/stores/memory.ts"
import { VirtualTime } from "../../src/runtime/virtual-time.ts"
import { lockWorld, spaced } from "../support/lock-world.ts"
import { scripted } from "../support/scripted-store.ts"

/** By how much each of many waits for held keys missed the end of its budget, in milliseconds; each hundredth is a long one. */
async function missesOf(
  waits: number,
  keys: number,
  longest: number,
  capabilities?: typeof spaced,
): Promise<readonly number[]> {
  const time = new VirtualTime({ seed: 5 })
  const memory = memoryStore({ clock: time })
  const store = capabilities === undefined ? memory : scripted(memory, time, { capabilities })
  const lock = (key: number, id: string): StoreLock =>
    new StoreLock(`k${key}`, { store, clock: time, incarnation: { id } })
  const held = Array.from({ length: keys }, (_, key) => lock(key, "holder").acquire())
  await time.runUntil(Promise.all(held))
  const misses: number[] = []
  const wait = async (index: number): Promise<void> => {
    const budget = Math.round(20 + time.random() ** 2 * (index % 100 === 0 ? 60_000 : longest))
    const from = time.mono()
    const call = lock(index % keys, `w${index}`).acquire({ timeout: budget, contention: "retry" })
    const error = await call.catch((refused: unknown) => refused)
    expect(error).toBeInstanceOf(LockTimeoutError)
    misses.push(time.mono() - from - budget)
  }
  await time.runUntil(Promise.all(Array.from({ length: waits }, (_, index) => wait(index))))
  return misses
}

const within = (misses: readonly number[], ms: number): number =>
  misses.filter((miss) => Math.abs(miss) <= ms).length / misses.length

describe("contended waits", () => {
  it(
    "end within a second of their budget, 99 % of 10,000 of them, and none before it is over",
    { timeout: 300_000 },
    async () => {
      const misses = await missesOf(10_000, 20, 1500)
      expect(misses).toHaveLength(10_000)
      expect(within(misses, 1000)).toBeGreaterThanOrEqual(0.99)
      expect(Math.min(...misses)).toBeGreaterThanOrEqual(0)
    },
  )

  it("do so too where reads cost and writes are spaced", async () => {
    const misses = await missesOf(500, 20, 20_000, spaced)
    expect(within(misses, 1000)).toBeGreaterThanOrEqual(0.99)
    expect(Math.min(...misses)).toBeGreaterThanOrEqual(0)
  })
})

describe("a waiting call", () => {
  it("looks again after 10 ms, doubling to 1 s, with jitter, and sleeps past no budget", async () => {
    const gaps: number[][] = []
    for (let seed = 1; seed <= 20; seed++) {
      const { time, store, lock } = lockWorld({ seed })
      await time.runUntil(lock("a").acquire())
      const from = time.mono()
      const wire = scripted(store, time)
      await time.runUntil(
        lock("b", { store: wire })
          .acquire({ timeout: 5300 })
          .catch(() => {}),
      )
      expect(time.mono() - from).toBeLessThanOrEqual(5310)
      const reads = wire.script.requests.filter(({ op }) => op === "read")
      const times = reads.map(({ sentAt }) => sentAt - from).filter((at) => at < 5300)
      gaps.push(times.slice(1).map((at, index) => at - times[index]!))
    }
    // A look that is due shares a slot of 10 ms with others: it is up to that late.
    for (const [index, longest] of [10, 20, 40, 80, 160, 320, 640, 1000, 1000].entries()) {
      const seen = gaps.map((each) => each[index]!)
      expect(Math.min(...seen)).toBeGreaterThanOrEqual(longest / 2)
      expect(Math.max(...seen)).toBeLessThanOrEqual(longest + 10)
      expect(new Set(seen).size).toBeGreaterThanOrEqual(longest < 80 ? 1 : 4)
    }
  })
})

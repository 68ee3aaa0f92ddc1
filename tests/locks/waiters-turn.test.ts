// Found by the main job on GCS: with a ttl of 6 s the owner renewed every 2 s, a waiter wrote 2 s after the last write at
// the earliest, and half of them had no turn within 25 s.
import { describe, expect, it } from "vitest"
import { eventsOf, lockWorld, settling, spaced, types } from "../support/lock-world.ts"

describe("a waiter behind an owner that renews often (rule 13)", () => {
  it.each([["6 s"], ["8 s"], ["10 s"], ["12 s"], ["30 s"]] as const)(
    "has its turn between two renewals, and the owner loses none: ttl %s",
    async (ttl) => {
      for (let seed = 1; seed <= 40; seed++) {
        const { time, lock } = lockWorld({ seed, capabilities: spaced })
        const a = lock("a", { ttl })
        const lease = await time.runUntil(a.acquire())
        await time.advance(5000 + seed * 37)
        const events = eventsOf(a)
        const asked = new Promise<void>((settle) => void a.onReleaseRequested(settle))
        const next = lock("b", { ttl }).acquire({ timeout: "60 s" })
        // It marks within 3 s, and the owner looks every 2 s.
        expect((await settling(time, asked)).ms).toBeLessThan(6000)
        await time.advance(5000)
        expect(lease.isHeld()).toBe(true)
        expect(types(events).filter((type) => type !== "Renewed")).toEqual(["ReleaseRequested"])
        await time.runUntil(lease.release())
        expect((await time.runUntil(next)).isHeld()).toBe(true)
      }
    },
  )
})

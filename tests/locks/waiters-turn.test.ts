/** That waiters have their turn: between the renewals of an owner, and each of several. */
import { describe, expect, it } from "vitest"
import type { AcquiredHow } from "../../src/locks/api/lock.ts"
import { eventsOf, lockWorld, settling, spaced, types } from "../support/lock-world.ts"

// Found by the main job on GCS: with a ttl of 6 s the owner renewed every 2 s, a waiter wrote 2 s after the last write
// at the earliest, and half of them had no turn within 25 s.
describe("a waiter behind an owner that renews often (rule 13)", () => {
  // Tests rule 13: Nobody starves.
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

describe("several that ask for one key", () => {
  // Tests waits: All that ask for a key with `contention: "retry"` get their turn within their budgets.
  it.each([
    ["where looks are cheap", { section: 200, timeout: "30 s" }, {}],
    ["where looks cost and writes are spaced", { section: 5000, timeout: "2 min" }, spaced],
  ] as const)("all get their turn within their budgets, alone: %s", async (_, { section, timeout }, capabilities) => {
    for (let seed = 1; seed <= 40; seed++) {
      const { time, lock } = lockWorld({ seed, capabilities })
      const holder = await time.runUntil(lock("holder").acquire())
      const [got, inside] = [new Array<AcquiredHow>(), new Set<string>()]
      const turn = async (id: string): Promise<void> => {
        const lease = await lock(id).acquire({ whenOwned: "request", contention: "retry", timeout })
        got.push(lease.how)
        expect([...inside.add(id)]).toEqual([id])
        await new Promise<void>((resolve) => void time.after(section, resolve))
        inside.delete(id)
        await lease.release()
      }
      const turns = Promise.all(["b", "c", "d", "e", "f", "g", "h", "i"].map(turn))
      await time.advance(5000)
      await time.runUntil(holder.release())
      await time.runUntil(turns)
      expect(got).toHaveLength(8)
      expect(got.filter((how) => how === "granted").length).toBeGreaterThan(4) // by their marks, not by chance
    }
  })
})

describe("one that asks for a key", () => {
  // Tests command: Several runs on one key have their turns alone; those that ask come before those that wait.
  it("comes before those that only wait for it, however long they have", async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { time, lock } = lockWorld({ seed })
      const holder = await time.runUntil(lock("holder").acquire())
      const order: string[] = []
      const turn = async (id: string, whenOwned: "request" | "wait"): Promise<void> => {
        const lease = await lock(id).acquire({ whenOwned, contention: "retry" })
        order.push(id)
        await lease.release()
      }
      const waits = ["b", "c", "d"].map((id) => turn(id, "wait"))
      await time.advance(5000)
      const asks = turn("e", "request")
      await time.advance(1000)
      await time.runUntil(holder.release())
      await time.runUntil(Promise.all([...waits, asks]))
      expect(order.toSorted()).toEqual(["b", "c", "d", "e"])
      expect(order[0]).toBe("e")
    }
  })
})

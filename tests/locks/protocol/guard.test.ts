/**
 * The arithmetic of the guard, at its worst: the owner's clock 5 % slow, its answers dated earlier than the taker's by
 * half the guard, dates rounded down at every phase of a second, and somebody who takes the key over as soon as it is
 * to be had.
 */
import { describe, expect, it } from "vitest"
import { acquire } from "./process-model.ts"
import { World } from "./world.ts"

/** Everything that protocol.md assumes, used up. */
const worst = { rate: 0.95, ahead: 1500 }

/** By how much the former owner outlives the takeover in the worst case, in milliseconds; negative where it doesn't. */
function overlap(guard: number, phase: number, { rate, ahead }: typeof worst): number {
  const world = new World({ spacing: 0, latency: 1 })
  world.watchdog.excuse("one holder")
  world.advance(1000 + phase)
  const a = world.process("a", { guard, rate, cheapReads: false })
  a.storeSkew = -ahead / 2
  world.send(a, acquire())
  world.until(() => a.phase === "owning", 1000)
  a.network = "down"
  world.advance(26_000)
  const taken = takeover(world, ahead / 2)
  for (let after = -2000; after < 3000; after += 5) if (!a.holds(taken + after)) return after
  return Infinity
}

/** The true time at which the first of many newcomers has the key. */
function takeover(world: World, skew: number): number {
  for (let tries = 0; tries < 500; tries++) {
    const b = world.process(`b${tries}`)
    b.storeSkew = skew
    world.send(b, acquire({ budgetMs: 0 }))
    world.advance(20)
    if (b.holds(world.at)) return world.at
    world.crash(b)
    world.processes.pop()
  }
  throw new Error("nobody took it over")
}

const phases = Array.from({ length: 20 }, (_, i) => i * 50)
const worstOf = (guard: number, assumed = worst): number =>
  Math.max(...phases.map((phase) => overlap(guard, phase, assumed)))

describe("the guard", () => {
  // Tests rule 4: The guard is enough where all assumed of clocks is used up; less of it isn't.
  it("of 10 % of the ttl keeps two owners apart where clocks are as bad as is assumed", () => {
    expect(worstOf(3000)).toBeLessThanOrEqual(0)
  })

  it("is not more than is needed: with two thirds of it two act at once", () => {
    expect(worstOf(2000)).toBeGreaterThan(0)
  })

  it("doesn't help where the assumptions don't hold: dates that are apart by twice the guard", () => {
    expect(worstOf(3000, { rate: 0.95, ahead: 6000 })).toBeGreaterThan(0)
  })
})

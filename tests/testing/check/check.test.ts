// Pins that the search sees all worlds, that it finds what is broken by a shortest way, and that it says what it left
// out. The large searches are `npm run checker`.
import { describe, expect, it } from "vitest"
import { InvalidConfigError } from "../../../src/locks/api/errors.ts"
import { configurations } from "../../../src/testing/check/configurations.ts"
import { check, type CheckOptions, smallestGuard } from "../../../src/testing/check/mod.ts"
import { settingsOf } from "../../../src/testing/check/options.ts"

const refusal = expect.objectContaining({ name: InvalidConfigError.name, next: expect.stringMatching(/./) })

describe("a search", () => {
  it("of two processes that nothing befalls ends with all worlds seen, each time the same", () => {
    const result = check({ commits: 1 })
    expect(result).toMatchObject({ complete: true, broken: undefined, trail: [] })
    expect(result.states).toBeGreaterThan(100)
    expect(check({ commits: 1 })).toEqual({ ...result, ms: expect.any(Number) })
  })

  // Tests searches: Deletion by hand sets no token back, and hides no owner from those who saw it.
  it.each<[string, CheckOptions]>([
    ["a crash", { crashes: 1 }],
    ["a lost message", { losses: 1, until: 5000 }],
    ["a late message", { delays: 1, until: 5000 }],
    ["a doubled message", { duplicates: 1, until: 5000 }],
    ["a stop", { pauses: 1 }],
    ["a suspend", { suspends: 1, until: 9000 }],
    ["a cancel", { cancels: 1 }],
    ["a release", { releases: 1 }],
    ["a stranger", { strangers: 1, until: 9000 }],
    ["a deleted record", { deletions: 1, until: 9000 }],
    ["a record that is deleted under a head", { deletions: 1, commits: 1, until: 9000 }],
    [
      "a record that is deleted while a create of it is under way, which brings back what was before",
      { deletions: 1, delays: 1, commits: 1, together: 2, record: "absent", until: 3100 },
    ],
    ["a commit that is late", { delays: 1, commits: 1, until: 3000 }],
    ["a store without a clock", { clock: "none", pauses: 1, until: 8000 }],
  ])("sees more with %s, and nothing is broken", (_, options) => {
    const result = check(options)
    expect(result).toMatchObject({ complete: true, broken: undefined })
    const calm = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, value === 1 ? 0 : value]))
    expect(result.states).toBeGreaterThan(check({ ...calm, commits: options.commits ?? 0 }).states)
  })

  // Tests searches: A search spares a claim after a grant only where production does.
  it("claims after a grant where production does: anywhere but where one exact clock is read by all", () => {
    const options: CheckOptions = { commits: 1, losses: 1, until: 4000 }
    const states = (more: CheckOptions): number => check({ ...options, ...more }).states
    expect(states({})).toBe(states({ afterGrant: "spare" }))
    expect(states({})).not.toBe(states({ afterGrant: "claim" }))
    for (const clock of ["coarse", "none"] as const)
      expect(states({ clock })).toBe(states({ clock, afterGrant: "claim" }))
    const clockError = { dates: "1 s" } as const
    expect(states({ clockError })).toBe(states({ clockError, afterGrant: "claim" }))
    expect(states({ clockError })).not.toBe(states({ clockError, afterGrant: "spare" }))
  })

  // Tests searches: All worlds of two and three processes, within bounds, break no law; with less guard two act.
  it("finds two owners where the guard is gone, by a shortest way", () => {
    const { broken, trail, complete } = check({ pauses: 1, guard: -1500, until: 20_000 })
    expect(complete).toBe(false)
    expect(broken).toBe("p and q hold the key at once")
    expect(trail.filter((line) => line.endsWith("is stopped"))).toHaveLength(1)
    // At the very moment at which the lease is seen to be over.
    expect(trail.at(-1)).toBe("  7000 ms  q wants the key")
  })

  it("says that it isn't complete where there are more worlds than it may look at", () => {
    expect(check({ losses: 1, limit: 1000 })).toMatchObject({ complete: false, broken: undefined })
  })

  // Tests searches: A search says what it leaves out.
  it("lists what it leaves out", () => {
    const { leftOut } = check({ until: 3000, crashes: 1 })
    expect(leftOut).toContain("losses of any number")
    expect(leftOut).toContain("more than 1 crashes in one run")
    expect(leftOut).toContain("whatever comes after 3000 ms")
    expect(leftOut).toContain("heads")
    for (const word of ["throttled", "errors", "without a date", "from a cache", "overtaken"])
      expect(leftOut.filter((line) => line.includes(word))).toHaveLength(1)
  })

  // Tests searches: A search takes only what production takes: other ttls, and guards that leave nothing, are refused.
  it.each<[string, object]>([
    ["four processes", { processes: 4 }],
    ["a time that is too long", { until: "2 min" }],
    ["a claim that is sometimes spared", { afterGrant: "maybe" }],
    ["half a crash", { crashes: 0.5 }],
    ["a ttl that is none", { ttl: "soon" }],
    ["a guard that is no number", { guard: Number.NaN }],
    ["a drift of 2", { clockError: { drift: 2 } }],
    ["a clock that is none", { clock: "sundial" }],
    ["an option that nobody reads", { crash: 1 }],
    ["a commit that is tried for no time", { commitWithin: "soon" }],
    ["another ttl that is none", { otherTtl: "soon" }],
    ["no ttl at all", { ttl: 0 }],
    ["a ttl that production refuses", { ttl: "5.9 s" }],
    ["another ttl that production refuses", { otherTtl: "1 s" }],
    ["a ttl that others would take for no time", { ttl: "25 h" }],
    ["a ttl that no store would take, under a guard that is given", { ttl: 400, guard: 0 }],
    ["a guard as long as the ttl", { guard: 6000 }],
    ["a guard as long as the other ttl", { ttl: "12 s", otherTtl: "6 s", guard: 6000 }],
    ["a guard that is over the ttl by far", { guard: 1e9 }],
    ["a guard that is under no ttl by far", { guard: -1e9 }],
    ["a drift in words", { clockError: { drift: "0.05" } }],
  ])("refuses %s", (_, options) => {
    expect(() => check(options as CheckOptions)).toThrow(refusal)
  })

  it("takes the shortest ttl, and the longest guard, that it doesn't refuse", () => {
    for (const options of [{ guard: 5999 }, { guard: -6000 }, { ttl: 500, guard: 499 }, { ttl: "24 h" }] as const)
      expect(check({ ...options, until: 4000 })).toMatchObject({ complete: true, broken: undefined })
  })
})

describe("the smallest guard", () => {
  const options: CheckOptions = { pauses: 1, until: 11_000 }

  // Tests searches.
  it("is one with which all is seen and nothing broken, and with a step less two act at once", () => {
    const { guard, safe, unsafe } = smallestGuard(options, 500)
    expect(safe).toMatchObject({ complete: true, broken: undefined })
    expect(unsafe.broken).toContain("at once")
    expect(check({ ...options, guard })).toEqual({ ...safe, ms: expect.any(Number) })
    expect(check({ ...options, guard: guard - 500 }).broken).toBe(unsafe.broken)
  })

  it("grows with the error of the clocks", () => {
    const { guard } = smallestGuard(options, 500)
    expect(smallestGuard({ ...options, clockError: { dates: "1 s" } }, 500).guard).toBeGreaterThan(guard)
    expect(smallestGuard({ ...options, clockError: { drift: 0.05 } }, 500).guard).toBeGreaterThan(guard)
  })

  it("is what algebra says, for everything is asked for at the very moment at which a lease is over", () => {
    const clocks: CheckOptions = { ...options, ttl: "12 s", clockError: { dates: "1 s", drift: 0.025 }, until: 13_000 }
    // A clock that is 2.5 % slow counts less than 12 s. The dates' second is made up for by the second that others
    // wait.
    expect(smallestGuard(clocks).guard).toBe(100 * Math.ceil((12_000 - 12_000 * 0.975) / 100))
  })

  it("isn't to be had where nothing happens that a guard is for, or where a search can't end", () => {
    expect(() => smallestGuard({ until: 2000 }, 500)).toThrow(/makes the difference/)
    expect(() => smallestGuard({ ...options, limit: 100 }, 500)).toThrow(/more than/)
  })

  it.each<[string, object, number]>([
    ["a guard of its caller's", { guard: 5000 }, 100],
    ["a step of nothing", {}, 0],
    ["a step back", {}, -100],
    ["half a step", {}, 0.5],
    ["a step over the ttl", {}, 6001],
    ["a ttl that no store would take", { ttl: 400 }, 100],
    ["an option that nobody reads", { pause: 1 }, 100],
  ])("isn't looked for with %s", (_, more, step) => {
    expect(() => smallestGuard({ ...options, ...more }, step)).toThrow(refusal)
  })

  it("is looked for up to the shorter of two ttls", () => {
    const { guard } = smallestGuard({ ...options, ttl: "12 s", otherTtl: "6 s", until: 13_000 }, 500)
    expect(guard).toBeLessThan(6000)
  })
})

it("the named searches can be made", () => {
  for (const { options, why } of Object.values(configurations)) {
    expect(settingsOf(options).processes).toBeGreaterThanOrEqual(1)
    expect(why).not.toBe("")
  }
})

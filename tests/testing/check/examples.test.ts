// The example of docs/testing.md, "Every way, searched", word for word.

// --- example: two searches
import { check, smallestGuard } from "leasehold/testing"
import { expect, it } from "vitest"

it("was all seen, and nothing is broken", () => {
  const result = check({ crashes: 1, losses: 1, commits: 1, until: "5 s" })
  expect(result.complete).toBe(true) // all worlds were seen
  expect(result.broken).toBeUndefined() // or the law: "p and q hold the key at once"
  expect(result.trail).toEqual([]) // or what happened, line by line, until it broke
  expect(result.leftOut).toContain("pauses of any number") // what this search says nothing about
})

it("needs no more guard than this", () => {
  const { guard, safe, unsafe } = smallestGuard({
    pauses: 1,
    clockError: { dates: "1 s", drift: 0.025 },
    until: "11 s",
  })
  expect([guard, safe.complete, unsafe?.broken]).toEqual([200, true, "p and q hold the key at once"])
})
// --- end

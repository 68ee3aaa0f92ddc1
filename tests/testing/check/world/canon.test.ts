// Pins what is taken for one world: whatever its processes are called and however they stand, and never two from which
// different things can come.
import { describe, expect, it } from "vitest"
import { firstWorld, ordersOf } from "../../../../src/testing/check/first.ts"
import { moves } from "../../../../src/testing/check/moves/moves.ts"
import { type CheckOptions, settingsOf } from "../../../../src/testing/check/options.ts"
import { keyOf } from "../../../../src/testing/check/world/canon.ts"
import { Broken } from "../../../../src/testing/check/world/laws.ts"
import { newProcess } from "../../../../src/testing/check/world/processes.ts"
import { noStranger, type World } from "../../../../src/testing/check/world/world.ts"

describe("worlds that are alike", () => {
  const world = (ids: readonly string[]): World => {
    const { rules, left } = settingsOf({ crashes: 1 })
    const none = { writes: 0, generation: "0" }
    return {
      ...{ at: 0, lease: { ...none, text: undefined }, head: { ...none, head: null }, mail: [], left, born: 1 },
      ...{ acknowledged: [], topToken: 0, stranger: noStranger, passed: [] },
      processes: ids.map((id, index) => newProcess(id, index, rules, 0, index + 1)),
    }
  }
  const both = [
    [0, 1],
    [1, 0],
  ]

  // Tests searches: A search takes two worlds for one only where the same comes of both.
  it("have one key, whatever their processes are called and however they stand", () => {
    const [one, other] = [world(["p", "q"]), world(["q", "p"])]
    expect(keyOf(one, [[0, 1]])).toBe(keyOf(other, [[0, 1]]))
    const turned = { ...one, processes: one.processes.toReversed() }
    expect(keyOf(turned, [[0, 1]])).not.toBe(keyOf(one, [[0, 1]]))
    expect(keyOf(turned, both)).toBe(keyOf(one, both))
  })

  it("differ where anything differs that matters", () => {
    const one = world(["p", "q"])
    const keys = [one, { ...one, at: 1 }, { ...one, topToken: 1 }, { ...one, left: { ...one.left, crashes: 0 } }]
    expect(new Set(keys.map((each) => keyOf(each, both))).size).toBe(keys.length)
  })

  it.each<[string, CheckOptions]>([
    ["crashes, losses and late messages", { crashes: 1, losses: 1, delays: 1, cancels: 1, commits: 1, until: 2100 }],
    ["leaving, and coming again", { processes: 1, attempts: 3, releases: 2, losses: 2, delays: 1, until: 9000 }],
    ["machines that are suspended", { pauses: 1, suspends: 1, commits: 1, together: 1, until: 7100 }],
    [
      "whole seconds and few writes",
      { clock: "coarse", writeSpacing: 1000, losses: 1, crashes: 1, commits: 1, until: 5000 },
    ],
    ["no clock at all", { clock: "none", losses: 1, pauses: 1, together: 1, until: 9000 }],
    ["clocks that are wrong", { clockError: { dates: "1 s", drift: 0.025 }, losses: 1, releases: 1, until: 5000 }],
    ["strangers", { strangers: 2, crashes: 1, commits: 1, together: 2, until: 7100 }],
    ["a record that is deleted", { deletions: 1, delays: 1, commits: 1, record: "absent", until: 2100 }],
    [
      "strangers in a deleted record's place",
      { strangers: 2, deletions: 1, commits: 1, clockError: { dates: "1 s" }, until: 7100 },
    ],
    [
      "strangers that drop what they don't know",
      { strangers: 2, strangersWill: "drop", pauses: 1, commits: 1, until: 7100 },
    ],
    ["three processes", { processes: 3, crashes: 1, losses: 1, commits: 1, until: 5000 }],
    ["commits that are given up", { commits: 1, delays: 1, commitWithin: 1000, until: 8000 }],
    ["leases of two lengths", { otherTtl: "9 s", crashes: 1, pauses: 1, commits: 1, until: 9500 }],
    ["doubled messages", { duplicates: 2, cancels: 1, commits: 1, until: 4000 }],
  ])("lead to worlds that are alike: with %s", (_, options) => {
    const { pairs, differing } = mergedPairs({ ...options, together: options.together ?? 2 }, 3000)
    expect(pairs).toBeGreaterThan(100)
    expect(differing).toEqual([])
  })
})

/**
 * Goes through a search, so many worlds of it, and from both of every two worlds that have one key. Tells how many
 * pairs there were, and from which of them something else comes, in words.
 */
function mergedPairs(options: CheckOptions, most: number): { readonly pairs: number; readonly differing: string[] } {
  const settings = settingsOf(options)
  const orders = ordersOf(settings)
  const next = (world: World): readonly (readonly [string, World])[] =>
    moves(world, settings.rules, { until: settings.until, idle: settings.rules.ttl / 2 }).flatMap(({ what, make }) =>
      made(make).map((after) => [what, after] as const),
    )
  // That nothing changes is no difference: a letter that can't land any more is a move of one of the two alone.
  const cameOf = (world: World): string => {
    const keys = new Set(next(world).map(([, after]) => keyOf(after, orders)))
    keys.delete(keyOf(world, orders))
    return [...keys].sort().join()
  }
  const first = firstWorld(settings)
  const came = new Map([[keyOf(first, orders), cameOf(first)]])
  const worlds = [first]
  const differing: string[] = []
  let pairs = 0
  for (const world of worlds) {
    for (const [what, after] of next(world)) {
      const key = keyOf(after, orders)
      const before = came.get(key)
      if (before === undefined) {
        if (worlds.length >= most) continue
        came.set(key, cameOf(after))
        worlds.push(after)
      } else {
        pairs++
        if (cameOf(after) !== before) differing.push(`${after.at} ms: ${what}`)
      }
    }
  }
  return { pairs, differing }
}

/** A broken law is no world. */
function made(make: () => readonly World[]): readonly World[] {
  try {
    return make()
  } catch (error) {
    if (error instanceof Broken) return []
    throw error
  }
}

/** Rule 13a: a mark gets between the writes of a stranger that renews more often than waiters write. */
import { describe, expect, it } from "vitest"
import { SeededRandom } from "../../../src/runtime/time/random.ts"
import { acquire } from "./process-model.ts"
import { seconds, Stranger } from "./strangers.ts"
import { World } from "./world.ts"

interface Outcome {
  /** Until the mark stood, in milliseconds; Infinity where it didn't within a minute. */
  readonly markedAfter: number
  /** Marks that came to nothing. */
  readonly refused: number
  /** Looks, up to then. */
  readonly looks: number
  /** Whether it still stood 40 s later, its ttl being 12 s. */
  readonly stands: boolean
}

/** A stranger that renews every `least` to `most` milliseconds, and one of ours that wants the key. */
function meets(seed: number, [least, most]: readonly [number, number], rest: "keep" | "drop"): Outcome {
  const random = new SeededRandom(seed * 7919)
  const world = new World({ draw: () => random.next(), latency: 20 + 60 * random.next() })
  const stranger = new Stranger(world, "s", rest)
  stranger.own()
  world.advance(10_000 * random.next())
  const b = world.process("b")
  world.send(b, acquire({ budgetMs: undefined }))
  const from = world.at
  const isMarked = (): boolean => world.store.body["waitingOwnerId"] === "b"
  let markedAfter = Infinity
  const renewing = (end: number): void => {
    while (world.at < end) {
      const due = world.at + least + random.next() * (most - least)
      while (world.at < due) {
        world.advance(Math.min(50, due - world.at))
        if (isMarked()) markedAfter = Math.min(markedAfter, world.at - from)
      }
      stranger.own()
    }
  }
  while (markedAfter === Infinity && world.at - from < 60_000) renewing(world.at + 1)
  const counted = (type: string): number => world.requests.filter(({ command }) => command.type === type).length
  const refused = world.requests.filter(({ command, result }) => command.type === "put" && result?.kind !== "applied")
  const outcome = { markedAfter, refused: refused.length, looks: counted("read") }
  renewing(world.at + 40_000)
  const ends = (world.store.body["waiterExpiresAt"] as number | null) ?? 0
  return { ...outcome, stands: isMarked() && ends > seconds(world.at) }
}

describe.each(["keep", "drop"] as const)("a stranger that would %s what it doesn't know", (rest) => {
  // Tests rule 13: A mark gets between the writes of a stranger that renews every 1.5 to 6 s, and is kept up.
  it.each<[number, number]>([
    [1500, 2500],
    [2000, 2000],
    [2000, 3000],
    [3000, 4000],
    [5000, 6000],
  ])("and renews every %i to %i ms is marked beside within 10 s, and the mark is kept up", (...gap) => {
    const outcomes = Array.from({ length: 40 }, (_, seed) => meets(seed + 1, gap, rest))
    expect(Math.max(...outcomes.map(({ markedAfter }) => markedAfter))).toBeLessThan(10_000)
    expect(Math.max(...outcomes.map(({ refused }) => refused))).toBeLessThanOrEqual(2)
    expect(Math.max(...outcomes.map(({ looks }) => looks))).toBeLessThanOrEqual(45)
    expect(outcomes.filter(({ stands }) => !stands)).toEqual([])
  })
})

// Tests rule 13.
it("a stranger that stops to renew often is looked at often no longer than 4 s, and then marked beside", () => {
  const world = new World()
  const stranger = new Stranger(world, "s")
  stranger.own()
  const b = world.process("b")
  world.send(b, acquire({ budgetMs: undefined, whenOwned: "wait" }))
  for (let renewals = 0; renewals < 4; renewals++) {
    world.advance(2500)
    stranger.own()
  }
  world.send(b, { type: "cancel" })
  world.advance(5000)
  const looks = world.requests.length
  world.send(b, acquire({ budgetMs: undefined }))
  world.until(() => world.store.body["waitingOwnerId"] === "b", 5000)
  expect(world.requests.length - looks).toBeLessThan(30)
})

/** Rule 13a between real processes on a bucket: of those that want a key again and again each has its turn. */
import { expect, it } from "vitest"
import { gcsTarget } from "./support/gcs-target.ts"
import { turnsOf } from "./support/turns.ts"

it.concurrent.each([
  [3, 3],
  [8, 1],
  // Tests rule 13a: Of those that want a key again and again, nobody waits longer than the others' turns.
])(
  "%i processes that want a key on a bucket again and again have it in turn",
  { timeout: 480_000 },
  async (processes, each) => {
    const turns = await turnsOf(processes, each, { key: "k", place: gcsTarget(), hold: 500 })
    expect(Math.min(...turns)).toBe(each)
    expect(Math.max(...turns)).toBeLessThanOrEqual(each + 2)
  },
)

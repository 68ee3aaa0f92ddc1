/** Rule 13a between real processes on a directory: of those that want a key again and again each has its turn. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { turnsOf } from "./support/turns.ts"

it.each([
  [3, true],
  [3, false],
  [8, true],
  [8, false],
  // Tests rule 13a: Of those that want a key again and again, nobody waits longer than the others' turns.
])(
  "%i processes that want a key in a directory again and again have it in turn (told of changes: %s)",
  async (processes, watched) => {
    const directory = await mkdtemp(join(tmpdir(), "leasehold-turns-"))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const turns = await turnsOf(processes, 10, { key: "k", place: { directory, watched }, hold: 20 })
    expect(Math.min(...turns)).toBe(10)
    // A process that the system lets stand still between two turns asks late, and misses those that the others have
    // meanwhile: a turn takes as long as a slice of time on a busy machine. One that is passed over has none while they
    // have hundreds.
    expect(Math.max(...turns)).toBeLessThanOrEqual(20)
  },
)

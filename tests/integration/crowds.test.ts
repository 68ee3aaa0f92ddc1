/**
 * Rule 13a among fifty real processes, half of them on each runtime: of those that want a key again and again each has
 * its turn. They take minutes, most of them waits: `npm run test:crowds`, apart from the other tests.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { gcsTarget } from "./support/gcs-target.ts"
import { turnsOf } from "./support/turns.ts"
import type { TurnWorkerSettings } from "./turn-worker.ts"

const PROCESSES = 50

it.each([
  ["a directory that tells of changes", 2, async () => ({ directory: await folder(), watched: true })],
  ["a directory that tells of none", 2, async () => ({ directory: await folder(), watched: false })],
  ["a bucket", 1, async () => gcsTarget()],
  // Tests rule 13a: Of those that want a key again and again, nobody waits longer than the others' turns.
] as const)(
  `${PROCESSES} processes that want a key in %s have it in turn`,
  { timeout: 900_000 },
  async (_, each, place) => {
    const settings: TurnWorkerSettings = { key: "k", place: await place(), hold: 20 }
    const turns = await turnsOf(PROCESSES, each, settings, ["node", "deno"])
    expect(Math.min(...turns)).toBe(each)
    // One that stands still for seconds has no turn meanwhile, nor has anybody behind it.
    expect(Math.max(...turns)).toBeLessThanOrEqual(each + 5)
  },
)

async function folder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-turns-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

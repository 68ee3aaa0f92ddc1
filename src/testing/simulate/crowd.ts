/**
 * More sandboxes than a store bears: one process with many of them, on a store that serves enough requests a second for
 * the leases, and far too few for all that is asked. All start at once and are idle. The process is drained after two
 * minutes.
 *
 * Two things are judged: what has to hold of every trace (no lease is lost, and no state in the drain), and that each
 * use which was answered before the drain is found after it.
 */
import { defineSandbox } from "../../actors/api/definition.ts"
import type { SandboxDefinition } from "../../actors/api/sandbox.ts"
import { unchecked } from "../../actors/checkpoints/content/codec.ts"
import type { TraceLine } from "../../trace/trace.ts"
import { settingsOf } from "./options.ts"
import type { TimedFault } from "./plan/plan.ts"
import { type Run, runOnce } from "./run/run.ts"
import type { Workload } from "./run/world.ts"
import { planOf } from "./seed.ts"

/** How many sandboxes, and how many requests a second the store serves. */
export interface Crowd {
  readonly keys: number
  readonly perSecond: number
  /** From the second minute on; default: as before. */
  readonly later?: number
}

/** In milliseconds: by then the leases of those that started first were renewed several times. */
const DRAIN_AT = 120_000
/** For two requests of each sandbox, beside the renewals of those that wait for their turn. In milliseconds. */
const GRACE = 150_000
const SECOND_MINUTE = 60_000

interface Count {
  n: number
}

const counter: SandboxDefinition<Count, Count> = defineSandbox({
  name: "counter",
  schema: unchecked<Count>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})

/** Runs one. `onLine` gets its trace. */
export function runCrowd(crowd: Crowd, onLine?: (line: TraceLine) => void): Promise<Run> {
  const settings = settingsOf({
    ...{ sandbox: counter, seeds: 1, script: scriptOf(crowd), keys: crowd.keys, workers: 1, store: "gcs" },
    ...workloads(),
    duration: DRAIN_AT + GRACE + 10_000,
    clocks: { offset: 0, drift: 0 },
    manager: { ttl: "30 s", minTenure: 0, settleWithin: "10 s", checkpointWithin: "10 s", killGrace: GRACE },
  })
  return runOnce({ ...planOf(1, settings), pace: 300 }, settings, onLine)
}

const scriptOf = ({ perSecond, later = perSecond }: Crowd): readonly TimedFault[] => [
  { at: 0, kind: "capacity", worker: null, perSecond, forMs: SECOND_MINUTE },
  { at: SECOND_MINUTE, kind: "capacity", worker: null, perSecond: later, forMs: DRAIN_AT + GRACE - SECOND_MINUTE },
  { at: DRAIN_AT, kind: "drain", worker: "a", ms: 1000 },
]

/** Each key is used once, all at the same time. Afterwards it has saved that, if it was answered. */
function workloads(): { readonly workload: Workload<Count, Count>; readonly afterwards: Workload<Count, Count> } {
  let hasBegun = false
  const answered = new Set<string>()
  return {
    async workload({ workers: [worker], keys }) {
      if (hasBegun || worker === undefined) return
      hasBegun = true
      const used = keys.map(async (key) => {
        await worker.use((state) => void state.n++, { key, timeout: "10 min" })
        answered.add(key)
      })
      await Promise.all(used)
    },
    async afterwards(world) {
      const [worker] = world.workers
      for (const key of answered) {
        const saved = await worker!.ask((manager, sandbox) => manager.readCheckpoint(sandbox, key))
        if (saved?.n !== 1) world.fail(`${key} has saved ${saved?.n}`)
      }
    },
  }
}

/** The searches that are made of leasehold itself, by name: `npm run checker` runs them. */
import type { CheckOptions } from "./mod.ts"

/** What is searched, and why. */
export interface Configuration {
  readonly why: string
  readonly options: CheckOptions
}

const faults: CheckOptions = { crashes: 1, losses: 1, delays: 1, cancels: 1, releases: 1 }

/** With a head, so that the record may go at any time. */
const deleted: CheckOptions = {
  ...{ releases: 1, deletions: 1, delays: 1, commits: 1, together: 2 },
  ...{ until: 6000, clockError: { dates: "1 s" } },
}

/** Complete in CI, within two minutes each. */
export const configurations: Readonly<Record<string, Configuration>> = {
  calm: {
    why: "two processes whom nothing befalls: nobody loses the key, and nobody is asked for it twice",
    options: { commits: 1 },
  },
  created: {
    why: "the same where there was nothing before, with a crash, a stop, or a loss, or late delivery",
    options: { ...faults, record: "absent", pauses: 1, commits: 1, together: 1, until: 14_000 },
  },
  alone: {
    why: "one process with a long lease that leaves and comes back, with a loss and a stop: what it left behind is not its own",
    options: { processes: 1, attempts: 2, ttl: "30 s", releases: 1, losses: 1, pauses: 1, until: 20_000 },
  },
  together: {
    why: "two processes with a crash, a loss, late delivery, grant, cancel, and claims and commits of the head",
    options: { ...faults, commits: 1, together: 2, until: 9500 },
  },
  three: {
    why: "three processes, of which one is killed, stopped, cancels, leaves, or has a message lost or late, with a head",
    options: { ...faults, processes: 3, pauses: 1, commits: 1, together: 1, until: 8500 },
  },
  stopped: {
    why: "two processes that are stopped and suspended at any moment, for any time",
    options: { pauses: 1, suspends: 1, delays: 1, together: 2, until: 8000 },
  },
  strangers: {
    why: "a process that knows four fields and keeps the rest, beside one of ours that is stopped",
    options: { strangers: 2, pauses: 1, together: 2, until: 14_000 },
  },
  stripped: {
    why: "a process that knows four fields and drops the rest, beside one of ours that is stopped",
    options: { strangers: 2, pauses: 1, together: 2, until: 14_000, strangersWill: "drop" },
  },
  clockless: {
    why: "a store without a clock, judged by observation alone, with processes that are stopped and suspended",
    options: { clock: "none", pauses: 1, suspends: 1, delays: 1, together: 1, until: 16_000 },
  },
  bucket: {
    why: "a store with dates in whole seconds and one write a second, as a bucket has",
    options: {
      clock: "coarse",
      writeSpacing: 1000,
      pauses: 1,
      delays: 1,
      losses: 1,
      together: 1,
      commits: 1,
      until: 12_000,
    },
  },
  spaced: {
    why: "the same with a commit that is late, and comes between two tries of its own",
    options: { clock: "coarse", writeSpacing: 1000, commits: 1, delays: 1, until: 6000 },
  },
  unresolved: {
    why: "an owner that leaves while what it last saved is still under way",
    options: { commits: 1, delays: 1, commitWithin: 1000, until: 8000 },
  },
  clocks: {
    why: "dates that differ by a second and clocks that drift, under the guard in use",
    options: { ttl: "12 s", clockError: { dates: "1 s", drift: 0.025 }, pauses: 1, until: 16_000 },
  },
  deleted: {
    why: "a lock's record that is deleted by hand, once whoever looks at it has seen its owner",
    options: { releases: 1, deletions: 1 },
  },
  "deleted before a claim": {
    why: "a sandbox's record with a history, deleted by hand: the head found may be a successor's, under a lower token",
    options: deleted,
  },
  "deleted under a head": {
    why: "a sandbox's record that is deleted by hand at any time, dates that differ, and a message that is late",
    options: { ...deleted, record: "absent" },
  },
}

/** What the least guard is looked for with: clocks as wrong as is assumed, and a process that is stopped. */
export const guardOptions: CheckOptions = configurations["clocks"]!.options

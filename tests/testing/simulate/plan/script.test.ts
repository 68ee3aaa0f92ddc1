/** Scripts that can't be meant: each is refused before anything runs, and says what could be. */
import { defineSandbox, unchecked } from "leasehold"
import { simulate, type TimedFault } from "leasehold/testing"
import { describe, expect, it } from "vitest"

const sandbox = defineSandbox({
  name: "counter",
  schema: unchecked<{ n: number }>(),
  restore: ({ checkpoint }) => ({ n: checkpoint?.n ?? 0 }),
  checkpoint: ({ n }) => ({ n }),
})

const brief = { sandbox, seeds: 1, duration: "10 s", workers: 2, keys: 1, manager: { ttl: "6 s" } } as const
const under = (...script: readonly object[]) => simulate({ ...brief, script: script as readonly TimedFault[] })

const crash = { at: 1000, kind: "crash", worker: "a", ms: 500 }
const stranger = { at: 1000, kind: "stranger", worker: null, key: "k1", move: "own", keeps: true }
const damage = { at: 1000, kind: "damageRecord", worker: null, key: "k1", leaves: "list", ms: 500 }
const slow = { at: 1000, kind: "slowHook", worker: "b", hook: "use", ms: 500 }
const late = { at: 1000, kind: "late", worker: "b", ms: 500, op: "put", area: "leases" }
const skew = { at: 1000, kind: "skewDate", worker: null, ms: 500 }

describe("a script that can't be meant", () => {
  // Tests simulations: A script beyond what the protocol allows is refused before anything runs.
  it.each<[string, object, string, string]>([
    ["a kind", { ...crash, kind: "crahs" }, 'script[0].kind is "crahs"', '"crash", "pause"'],
    ["no kind", { at: 0, worker: "a" }, "script[0].kind is undefined", '"crash", "pause"'],
    ["a worker that isn't there", { ...crash, worker: "c" }, 'script[0].worker is "c"', 'Use one of "a", "b"'],
    ["nobody, of what befalls one", { ...crash, worker: null }, "script[0].worker is null", 'Use one of "a", "b"'],
    ["a worker, of the store's faults", { ...late, worker: "c" }, 'script[0].worker is "c"', 'Use one of "a", "b"'],
    ["a worker, of what befalls all", { ...stranger, worker: "a" }, 'script[0].worker is "a"', "Give null"],
    ["a key that isn't there", { ...stranger, key: "k2" }, 'script[0].key is "k2"', 'Use one of "k1"'],
    ["a move", { ...stranger, move: "steal" }, 'script[0].move is "steal"', '"own", "wait"'],
    ["a flag", { ...stranger, keeps: "yes" }, 'script[0].keeps is "yes"', "Give true or false"],
    ["a damage", { ...damage, leaves: "ruin" }, 'script[0].leaves is "ruin"', '"empty", "half"'],
    ["a hook", { ...slow, hook: "runs" }, 'script[0].hook is "runs"', '"restore", "run", "use"'],
    ["a moment", { ...crash, on: "dawn" }, 'script[0].on is "dawn"', '"request", "answer"'],
    ["a field", { ...crash, forMs: 5 }, "forMs is no option of script[0], a crash,", "at, on, kind, worker, ms"],
    ["a field of the store's faults", { ...late, key: "k1" }, "key is no option of the fault late", "op, area"],
    ["an area", { ...late, area: "lease" }, 'area is "lease"', '"leases", "state"'],
    ["a missing time", { at: 1, kind: "crash", worker: "a" }, "script[0].ms is undefined", "milliseconds, 0 or more"],
    ["a time that is none", { ...crash, ms: "1 s" }, 'script[0].ms is "1 s"', "milliseconds, 0 or more"],
    ["a clock further off than is allowed", { ...skew, ms: -501 }, "ms of a fault of the store is -501", "500 at most"],
    ["a date older than is allowed", { ...skew, kind: "staleDate", ms: 501 }, "is 501", "500 at most"],
    ["a missing moment", { kind: "crash", worker: "a", ms: 1 }, "script[0].at is undefined", "0 to the run's 10000"],
    ["a fault before the run", { ...crash, at: -1 }, "script[0].at is -1", "0 to the run's 10000"],
    ["a fault behind the run", { ...crash, at: 10_000 }, "script[0].at is 10000", "0 to the run's 10000"],
  ])("is refused: %s", async (_what, fault, message, next) => {
    await expect(under(fault)).rejects.toMatchObject({
      _tag: "InvalidConfigError",
      message: expect.stringContaining(message),
      next: expect.stringContaining(next),
    })
  })

  it("is refused for any of its faults, which is named by its place", async () => {
    await expect(under(crash, { ...crash, worker: "z" })).rejects.toMatchObject({
      message: expect.stringContaining("script[1].worker"),
    })
  })

  it.each([
    ["clockless", stranger],
    ["file", stranger],
    ["file", { at: 0, kind: "noDate", worker: "a" }],
    ["memory", skew],
    [["clockless", "file"], stranger],
  ] as const)("is refused where no store that is given can have it: %s", async (store, fault) => {
    await expect(simulate({ ...brief, store, script: [fault as TimedFault] })).rejects.toMatchObject({
      _tag: "InvalidConfigError",
      message: expect.stringContaining(`script[0].kind is "${fault.kind}"`),
      next: expect.stringContaining("or another store"),
    })
  })

  it("is refused where it is no list of faults", async () => {
    await expect(under(null as never)).rejects.toMatchObject({ _tag: "InvalidConfigError" })
    await expect(simulate({ ...brief, script: crash as never })).rejects.toMatchObject({ _tag: "InvalidConfigError" })
  })
})

// Tests simulations.
it("a script of every kind that can be meant is run", async () => {
  const each: readonly TimedFault[] = [
    ...(["crash", "pause", "suspend", "stall", "stepWall", "drain"] as const).map((kind, index): TimedFault => ({
      at: 500 * index,
      kind,
      worker: "ab"[index % 2]!,
      ms: 300,
    })),
    { at: 3000, kind: "stepWall", worker: "a", ms: -300 },
    { at: 3100, kind: "reboot", worker: "a", ms: 300, wall: -5000, on: "request" },
    { at: 3200, kind: "slowHook", worker: "b", hook: "use", ms: 300 },
    { at: 3300, kind: "failingHook", worker: "b", hook: "restore" },
    ...(["loseRequest", "loseAnswer", "noDate", "cachedAnswer", "throttle", "tooMany"] as const).map(
      (kind, index): TimedFault => ({ at: 4000 + 100 * index, kind, worker: "b", times: 1 }),
    ),
    ...(["outage", "partition", "mutePartition"] as const).map((kind, index): TimedFault => ({
      at: 5000 + 100 * index,
      kind,
      worker: null,
      forMs: 50,
    })),
    ...(["late", "slow", "skewDate", "staleDate"] as const).map((kind, index): TimedFault => ({
      at: 6000 + 100 * index,
      kind,
      worker: null,
      ms: 300,
    })),
    { at: 6500, kind: "duplicate", worker: "a", ms: 300, hears: "second" },
    { at: 6600, kind: "status", worker: "a", status: 503, applied: true },
    { at: 7000, kind: "stranger", worker: null, key: "k1", move: "wait", keeps: false },
    { at: 7500, kind: "damageRecord", worker: null, key: "k1", leaves: "half", ms: 300 },
    { at: 8500, kind: "deleteRecord", worker: null, key: "k1" },
  ]
  const { reached } = await simulate({ ...brief, store: "exact", script: each })
  expect(reached).toMatchObject({ "the fault deleteRecord": 1, "the fault stranger": 1, "the fault late": 1 })
})

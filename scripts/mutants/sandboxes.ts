/** Mutants of the sandbox: work, its end, and the lease around it (rule 18, the chart). */
import type { TimedFault } from "../../src/testing/simulate/mod.ts"
import type { Mutant, Turn } from "./mutant.ts"

/** One after the other wants the key. */
const aThenB: readonly Turn[] = [
  { worker: "a", from: 0, to: 1000 },
  { worker: "b", from: 10_000, to: 100_000 },
]

/** What run asks for falls into the time in which the periodic checkpoint, after 20 s, is taken. */
const joinedWhileTaken: readonly TimedFault[] = [
  { at: 5000, kind: "slowHook", worker: "a", hook: "checkpoint", ms: 2000 },
  { at: 16_000, kind: "slowHook", worker: "a", hook: "checkpoint", ms: 3000 },
]

/** Its restore ends when its process goes on, before anything else of it does. */
const stoppedWhileRestoring: readonly TimedFault[] = [
  { at: 0, kind: "slowHook", worker: "a", hook: "restore", ms: 300 },
  { at: 200, kind: "pause", worker: "a", ms: 60_000 },
]

/**
 * A use that is slow ends when its process goes on, before its clocks are compared, and the next turn is that of run.
 */
const stoppedInUse: readonly TimedFault[] = [
  { at: 0, kind: "slowHook", worker: "a", hook: "use", ms: 6850 },
  { at: 6750, kind: "pause", worker: "a", ms: 60_000 },
]

export const sandboxMutants: readonly Mutant[] = [
  {
    name: "release before the work settled",
    edits: [
      {
        file: "src/actors/sandbox/commands.ts",
        find: "    const { departures } = this.#around\n    await this.#owned.settled()\n",
        replace: "    const { departures } = this.#around\n",
      },
    ],
    hunts: [{ by: "sim", from: 1, to: 60, faults: ["slowHook"] }],
  },
  {
    name: "stuck work left to expire",
    edits: [
      {
        file: "src/actors/sandbox/runtime.ts",
        find: '    this.send({ type: "work.overran", error })\n',
        replace:
          '    this.send({ type: "work.overran", error })\n    ;(this.activation!.lease as never as { leave(): void }).leave()\n',
      },
      {
        file: "src/locks/lock/store-lease.ts",
        find: "  /** Whether this process may act now. */\n",
        replace: '  leave(): void {\n    this.#runtime.dispatch({ type: "leaveToExpire" })\n  }\n\n',
      },
    ],
    hunts: [
      {
        by: "script",
        faults: [],
        turns: [
          { worker: "a", from: 0, to: 1000, lasts: 90_000 },
          { worker: "b", from: 10_000, to: 120_000 },
        ],
      },
    ],
  },
  {
    name: "a checkpoint hook that is past its limit is given up, and the key released under it",
    edits: [
      {
        file: "src/actors/chart/chart.ts",
        find: 'target: "settling",\n',
        replace: 'target: "releasing",\n',
      },
    ],
    hunts: [
      {
        by: "script",
        faults: [{ at: 0, kind: "slowHook", worker: "a", hook: "checkpoint", ms: 60_000 }],
        turns: [
          { worker: "a", from: 0, to: 1000 },
          { worker: "b", from: 5000, to: 120_000 },
        ],
      },
    ],
  },
  {
    name: "the turn of a checkpoint hook ends with its limit",
    edits: [
      {
        file: "src/actors/sandbox/saved-state.ts",
        find: "    await ended()\n",
        replace: "    void ended\n",
      },
    ],
    hunts: [
      {
        by: "script",
        faults: [{ at: 0, kind: "slowHook", worker: "a", hook: "checkpoint", ms: 60_000 }],
        turns: [{ worker: "a", from: 0, to: 120_000 }],
      },
    ],
  },
  {
    name: "a commit may be joined until after its checkpoint was taken",
    edits: [
      {
        file: "src/actors/sandbox/work/commits.ts",
        find: "        return this.#begin(batch)\n      })\n",
        replace: "        return batch.reason\n      })\n      this.#begin(batch)\n",
      },
    ],
    hunts: [
      {
        by: "script",
        faults: joinedWhileTaken,
        turns: [{ worker: "a", from: 0, to: 1000 }],
      },
    ],
  },
  {
    name: "run begun without looking whether its lease is over",
    edits: [
      {
        file: "src/actors/sandbox/activation.ts",
        find: 'this.hooks.run({ hook: "run", under: [signal, this.lease.signal] }, begin)',
        replace: 'this.hooks.run({ hook: "run", under: [] }, begin)',
      },
    ],
    hunts: [{ by: "script", faults: stoppedWhileRestoring, turns: aThenB }],
  },
  {
    name: "a turn of run begun without looking whether its lease is over",
    edits: [
      {
        file: "src/actors/sandbox/activation.ts",
        find: 'this.hooks.run({ hook: "turn", under: [ending] }, fn)',
        replace: 'this.hooks.run({ hook: "turn", under: [] }, fn)',
      },
    ],
    hunts: [{ by: "script", faults: stoppedInUse, turns: aThenB }],
  },
  {
    name: "a sleep that ends past the deadline resolves",
    edits: [
      {
        file: "src/runtime/races.ts",
        find: "    signal.throwIfAborted()\n    return value\n",
        replace: "    return value\n",
      },
    ],
    hunts: [
      {
        by: "script",
        faults: [{ at: 6300, kind: "pause", worker: "a", ms: 60_000 }], // before run has slept for 6.5 s
        turns: aThenB,
      },
    ],
  },
  {
    name: "work goes on after the loss",
    edits: [
      {
        file: "src/actors/chart/chart.ts",
        find: 'actions: [noteError, { type: "abortWork", params: { reason: "lost" } }, "abandon"],',
        replace: 'actions: [noteError, "abandon"],',
      },
    ],
    hunts: [{ by: "sim", from: 1, to: 100 }],
  },
  {
    name: "a key restored in the same process before its former work has ended",
    edits: [
      {
        file: "src/actors/sandbox/commands.ts",
        find: "      await this.#owned.settled()\n      await this.#owned.close",
        replace: "      await this.#owned.close",
      },
    ],
    hunts: [
      { by: "sim", from: 11, to: 11, faults: ["slowHook", "pause", "suspend", "outage", "partition"], ttl: "6 s" },
      { by: "sim", from: 1, to: 60, faults: ["slowHook", "pause", "suspend", "outage", "partition"], ttl: "6 s" },
    ],
  },
  {
    name: "a response delivered to a dead incarnation",
    edits: [
      {
        file: "src/runtime/time/virtual-host.ts",
        find: "    if (this.#dead) return\n",
        replace: "    if (this.#dead && this.#frozenSince !== undefined) return\n",
      },
      {
        file: "src/runtime/time/virtual-host.ts",
        find: "    for (const timer of this.#pending) this.#forget(timer)\n",
        replace: "",
      },
    ],
    hunts: [
      { by: "sim", from: 20, to: 20, faults: ["crash"], ttl: "6 s" },
      { by: "sim", from: 1, to: 40, faults: ["crash"], ttl: "6 s" },
    ],
  },
  {
    name: "a former owner whose record was deleted is not waited out",
    edits: [
      {
        file: "src/actors/sandbox/saved-state.ts",
        find: "    await writer.waitOut({ signal: departing })\n",
        replace: "",
      },
    ],
    hunts: [{ by: "sim", from: 1, to: 60, faults: ["deleteRecord"] }],
  },
]

/** Mutants of the sandbox: work, its end, and the lease around it (rule 18, the chart). */
import type { Mutant } from "./mutant.ts"

export const sandboxMutants: readonly Mutant[] = [
  {
    name: "release before the work settled",
    edits: [
      {
        file: "src/actors/shell.ts",
        find: 'settle: () => this.#perform(() => this.#owned.settled().then(() => ({ type: "work.settled" }))),',
        replace: 'settle: () => this.#perform(async () => ({ type: "work.settled" })),',
      },
    ],
    hunts: [{ by: "sim", from: 1, to: 60, faults: ["slowHook"] }],
  },
  {
    name: "stuck work left to expire",
    edits: [
      {
        file: "src/actors/shell.ts",
        find: "    this.isStuck = true\n",
        replace: "    this.isStuck = true\n    ;(this.#owned.lease as never as { leave(): void }).leave()\n",
      },
      {
        file: "src/locks/store-lease.ts",
        find: "  /** Whether this process may act now. */\n",
        replace: '  leave(): void {\n    this.#core.dispatch({ type: "leaveToExpire" })\n  }\n\n',
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
    name: "work goes on after the loss",
    edits: [
      {
        file: "src/actors/chart.ts",
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
        file: "src/actors/shell.ts",
        find: "    await this.#owned.settled()\n    await this.#owned.close",
        replace: "    await this.#owned.close",
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
        file: "src/runtime/virtual-host.ts",
        find: "    if (this.#dead) return\n",
        replace: "    if (this.#dead && this.#frozenSince !== undefined) return\n",
      },
      {
        file: "src/runtime/virtual-host.ts",
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
    edits: [{ file: "src/actors/saved-state.ts", find: "    await keeper.waitOut()\n", replace: "" }],
    hunts: [{ by: "sim", from: 1, to: 60, faults: ["deleteRecord"] }],
  },
]

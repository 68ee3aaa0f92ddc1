/** Mutants that for long only unit tests noticed. */
import type { Mutant } from "./mutant.ts"

export const unseenMutants: readonly Mutant[] = [
  {
    name: "equal bytes acknowledged while an older write is unresolved",
    edits: [
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: "const isSaid = state.unresolved === null && saysAlready(",
        replace: "const isSaid = saysAlready(",
      },
    ],
    hunts: [
      {
        by: "script",
        faults: [
          { at: 5000, kind: "late", worker: "a", times: 99, op: "put", area: "state", ms: 12_000 },
          { at: 17_000, kind: "crash", worker: "a", ms: 60_000 },
        ],
        turns: [
          { worker: "a", from: 0, to: 1000, does: { sets: 0 } },
          { worker: "a", from: 6000, to: 6500, does: { sets: 1 } },
          { worker: "a", from: 7000, to: 12_000, does: { sets: 0 } },
          { worker: "b", from: 30_000, to: 90_000, does: { looks: 100 } },
        ],
      },
    ],
  },
  {
    name: "a lower token released after an unnoticed raise",
    edits: [
      {
        file: "src/locks/protocol/leave.ts",
        find: "const token = Math.max(hold.token, view.record?.owner?.token ?? 0)",
        replace: "const { token } = hold",
      },
    ],
    hunts: [
      {
        by: "script",
        store: "file",
        workers: { a: { wallOffset: 3_600_000, ttl: 6000 } },
        faults: [
          { at: 8000, kind: "drain", worker: "a", ms: 100_000 },
          { at: 12_000, kind: "deleteRecord", worker: null, key: "k2" },
          { at: 14_000, kind: "loseAnswer", worker: "b", times: 1, op: "put", area: "leases", on: "restoring" },
          { at: 20_000, kind: "loseAnswer", worker: "b", times: 1, op: "read", area: "leases" },
        ],
        turns: [
          { worker: "a", from: 0, to: 7000, does: "adds" },
          { worker: "b", from: 15_000, to: 16_000, does: "adds" },
          { worker: "c", from: 60_000, to: 80_000, does: "adds" },
        ],
      },
    ],
  },
  {
    name: "an own mark that forgets the owner seen",
    edits: [
      {
        file: "src/locks/protocol/rules/view.ts",
        find: "  remember(draft, draft.view)",
        replace: '  if (sent.act === "mark") draft.remembered = undefined\n  else remember(draft, draft.view)',
      },
    ],
    hunts: [{ by: "checker", config: "deleted" }],
  },
  {
    name: "a third owner's head read as rejected",
    edits: [
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: '  return { kind: isAnotherOfMine ? "rejected" : "unknown" }',
        replace: '  return { kind: isAnotherOfMine || other.seq > 0 ? "rejected" : "unknown" }',
      },
    ],
    hunts: [
      {
        by: "search",
        options: { commits: 1, losses: 1, pauses: 1, releases: 1, together: 3, attempts: 2, until: 8000 },
        limit: 300_000,
      },
    ],
  },
  {
    // The wall clock stands in for a boot clock, and is set while its machine sleeps: all but 2 s of the sleep is lost.
    name: "isHeld that does not compare the clocks between steps",
    edits: [
      {
        file: "src/locks/protocol/rules/authority.ts",
        find: "return !diverged(state.sense, now) && !past(deadlineOf(state.phase.hold), now)",
        replace: "return !past(deadlineOf(state.phase.hold), now)",
      },
    ],
    hunts: [
      {
        by: "script",
        workers: { a: { bootClock: false } },
        faults: [
          { at: 20_000, kind: "suspend", worker: "a", ms: 50_000 },
          { at: 20_001, kind: "stepWall", worker: "a", ms: -48_000 },
        ],
        turns: [
          { worker: "a", from: 0, to: 1000, does: { sets: 0 } },
          { worker: "a", from: 2000, to: 3000, does: { looks: 20_000 } },
          { worker: "b", from: 30_000, to: 65_000, does: { sets: 1 } },
        ],
      },
    ],
  },
]

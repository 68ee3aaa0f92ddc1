/** Mutants of what a process believes of time: until when it may act, and from when on another may (rules 3 to 7). */
import type { Hunt, Mutant } from "./mutant.ts"

/**
 * What seed 1980 of 153ac25 came to, once in 20,000: a copy of the create of a's record is 30 s late and comes just
 * after the record was deleted by hand, while a is cut off and owns until 47 s. Then b looks, which has seen the create
 * before.
 */
const createComesAgain: Hunt = {
  by: "script",
  faults: [
    { at: 0, kind: "duplicate", worker: "a", op: "put", area: "leases", ms: 30_000, hears: "first" },
    { at: 25_000, kind: "partition", worker: "a", forMs: 25_000 },
    { at: 29_000, kind: "deleteRecord", worker: null, key: "k2" },
  ],
  turns: [
    { worker: "a", from: 0, to: 1000 },
    { worker: "b", from: 2000, to: 8000, whenOwned: "report" },
    { worker: "b", from: 34_000, to: 120_000 },
  ],
}

export const timeMutants: readonly Mutant[] = [
  {
    name: "expiry by wall clocks",
    edits: [
      {
        file: "src/locks/protocol/rules/authority.ts",
        find: 'state: Pick<LockState, "phase" | "sense">, now: Now): boolean {',
        replace: 'state: Pick<LockState, "phase" | "sense" | "view">, now: Now): boolean {',
      },
      {
        file: "src/locks/protocol/rules/authority.ts",
        find: "return !diverged(state.sense, now) && !past(deadlineOf(state.phase.hold), now)",
        replace: "return !diverged(state.sense, now) && now.wall < (state.view?.record?.expiresAt ?? 0)",
      },
    ],
    hunts: [{ by: "sim", from: 1, to: 20, ttl: "6 s" }],
  },
  {
    name: "only the owner monotonic: others judge its expiry by their wall clocks",
    edits: [
      {
        file: "src/locks/protocol/rules/expiry.ts",
        find: "  return date > half.expiresAt + SLACK\n",
        replace: "  return now.wall > half.expiresAt + SLACK\n",
      },
    ],
    hunts: [{ by: "sim", from: 1, to: 20, ttl: "6 s" }],
  },
  {
    name: "an owner whose create may have come again is known to have ended by its date",
    edits: [
      {
        file: "src/locks/protocol/rules/expiry.ts",
        find: 'if (past !== undefined || view.evidence?.owner === "gone") return true',
        replace: 'if (past !== null || view.evidence?.owner === "gone") return true',
      },
    ],
    hunts: [createComesAgain],
  },
  {
    name: "a create that comes again goes on being observed",
    edits: [
      {
        file: "src/locks/protocol/rules/view.ts",
        find: "const stood = follows ? neverBack(before.stood, before.seen, seen) : seen",
        replace: "const stood = neverBack(before.stood, before.seen, seen)",
      },
    ],
    hunts: [createComesAgain],
  },
  {
    name: "lease counted from the answer",
    edits: [
      {
        file: "src/locks/protocol/rules/authority.ts",
        find: "return plus(sentAt, Math.min",
        replace: "return plus(sentAt.mono < 0 ? sentAt : draft.now, Math.min",
      },
      {
        file: "src/locks/protocol/rules/authority.ts",
        find: "const own = plus(sent.firstSend, sent.life",
        replace: "const own = plus(draft.now, sent.life",
      },
    ],
    hunts: [{ by: "checker", config: "stopped" }],
  },
  {
    name: "granted owner counted from the receipt",
    edits: [
      {
        file: "src/locks/protocol/acquire.ts",
        find: "anchored === undefined ? shownDeadline(draft, view)",
        replace: "anchored === undefined ? shownDeadline(draft, { ...view, sentAt: instant(draft.now) })",
      },
    ],
    hunts: [
      {
        by: "search",
        options: { ttl: "20 s", delays: 1, pauses: 1, together: 2, attempts: 2, until: "18.5 s" },
        limit: 100_000,
      },
    ],
  },
  {
    name: "a grant's expiry believed beyond the grantee's own ttl",
    edits: [
      {
        file: "src/locks/protocol/rules/authority.ts",
        find: "Math.min(record.expiresAt - storeTime, ttl) - guard",
        replace: "Math.max(record.expiresAt - storeTime, ttl - ttl) - guard",
      },
    ],
    // A grant of this release is as long as the lease of who gets it; one of the last release as long as the granter's.
    hunts: [
      {
        by: "script",
        workers: { a: { release: "last" }, b: { ttl: 6000 }, c: { ttl: 6000 } },
        faults: [{ at: 0, kind: "mutePartition", worker: "b", forMs: 30_000, on: "Acquired" }],
        turns: [
          { worker: "a", from: 0, to: 1000 },
          { worker: "b", from: 5000, to: 6000, lasts: 30_000 },
          { worker: "c", from: 8000, to: 30_000 },
        ],
      },
    ],
  },
  {
    name: "observation counted from the send",
    edits: [
      {
        file: "src/locks/protocol/rules/view.ts",
        find: "return { id, expiresAt, opId, nonce, since: seen, seen, stood: seen, rewrites, longestGap, shortestGap }",
        replace:
          "return { id, expiresAt, opId, nonce, since: draft.view?.sentAt ?? seen, seen, stood: seen, rewrites, longestGap, shortestGap }",
      },
    ],
    hunts: [
      {
        by: "search",
        options: { ttl: "24 s", clock: "none", delays: 1, pauses: 1, together: 2, until: "25 s" },
        limit: 20_000,
      },
    ],
  },
  {
    name: "time by the monotonic clock alone, which a suspend stops",
    edits: [
      {
        file: "src/locks/protocol/rules/time.ts",
        find: "now.mono >= at.mono || now.boot >= at.boot",
        replace: "now.mono >= at.mono",
      },
      {
        file: "src/locks/protocol/rules/time.ts",
        find: "(now.mono - sense.last.mono)) > DIVERGENCE",
        replace: "(now.mono - sense.last.mono)) > DIVERGENCE * 1e9",
      },
    ],
    hunts: [{ by: "checker", config: "stopped" }],
  },
  {
    name: "guard below the clock error",
    edits: [
      {
        file: "src/locks/engine/options.ts",
        find: "can.sameClock ? Math.max(50, ttl / 10) : Math.max(LEAST_GUARD, ttl / 10)",
        replace: "can.sameClock ? Math.max(50, ttl / 10) : LEAST_GUARD / 100",
      },
    ],
    hunts: [{ by: "checker", config: "clocks" }],
  },
  {
    name: "an owner's lease is over as soon as its time is, without the second for rounded dates",
    edits: [{ file: "src/locks/protocol/rules/expiry.ts", find: "const SLACK = 1000", replace: "const SLACK = -1500" }],
    hunts: [{ by: "checker", config: "clocks" }],
  },
  {
    name: "a vanished record taken as free",
    edits: [
      {
        file: "src/locks/protocol/acquire.ts",
        find: "draft.remembered) ? poll(draft, phase)",
        replace: "undefined) ? poll(draft, phase)",
      },
    ],
    hunts: [{ by: "checker", config: "deleted" }],
  },
  {
    name: "observation of the generation instead of the owner",
    edits: [
      {
        file: "src/locks/protocol/rules/view.ts",
        find: "draft.observedOwner, pairOf(ownerId, expiresAt, owner))",
        replace:
          "draft.observedOwner, ownerId === null ? undefined : { id: ownerId, expiresAt: 0, nonce: undefined, opId: draft.view?.generation })",
      },
    ],
    // Whoever waits writes again and again: without a clock a dead owner's record then never stands still.
    hunts: [{ by: "sim", from: 1, to: 20, store: "clockless", faults: ["crash"], ttl: "12 s" }],
  },
  {
    name: "isHeld by flag instead of time",
    edits: [
      {
        file: "src/locks/protocol/rules/authority.ts",
        find: "return !diverged(state.sense, now) && !past(deadlineOf(state.phase.hold), now)",
        replace: "return now.mono >= 0 || past(deadlineOf(state.phase.hold), now) || diverged(state.sense, now)",
      },
    ],
    hunts: [{ by: "checker", config: "stopped" }],
  },
]

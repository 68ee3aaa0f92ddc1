/**
 * Mutants that other searches would notice late or by chance: keys that are lost, kept, or left lying about, though
 * nothing befell anybody; a head that is sent too late to matter. Each is judged by the one invariant that is there for
 * it.
 */
import type { Hunt, Mutant } from "./mutant.ts"

/** Wall clocks may jump, which is to harm nobody. */
const peace = { by: "sim", from: 1, to: 100, faults: ["stepWall"] } as const
const inPeace = (judge: string): Hunt => ({ ...peace, judge })

/** Many that want one key, and whom nothing befalls. */
const crowded = (judge: string): Hunt => ({ ...peace, to: 20, contenders: 6, judge })

export const careMutants: readonly Mutant[] = [
  {
    name: "who joins the line jumps it",
    edits: [
      {
        file: "src/locks/protocol/rules/line.ts",
        find: "  const place = behind < 0 ? others.length : behind\n",
        replace: "  const place = behind < 0 ? 0 : behind\n",
      },
    ],
    hunts: [crowded("everybody has a turn")],
  },
  {
    name: "a grant that forgets the line",
    edits: [
      {
        file: "src/locks/protocol/record-writes.ts",
        find: "  if (first === undefined) return rest\n",
        replace: '  if (first === undefined || rest["waitingOwnerId"] == null) return rest\n',
      },
    ],
    hunts: [{ by: "checker", config: "in turn" }],
  },
  {
    name: "a stay that counts from the acquisition",
    edits: [
      {
        file: "src/actors/sandbox/commands.ts",
        find: 'minTenure: "infinite"',
        replace: "minTenure: this.#around.minTenure",
      },
    ],
    hunts: [crowded("turns are used")],
  },
  {
    name: "a waiter that nobody hears",
    edits: [
      {
        file: "src/locks/protocol/own.ts",
        find: "  if (waiter === undefined) return phase\n  const signalled",
        replace: "  if (waiter !== null) return phase\n  const signalled",
      },
    ],
    hunts: [inPeace("waiters are served")],
  },
  {
    name: "leaving without a release",
    edits: [
      {
        file: "src/actors/sandbox/commands.ts",
        find: "    this.result = await this.#owned.release()\n",
        replace: '    this.result = "released"\n',
      },
    ],
    hunts: [inPeace("nothing left behind")],
  },
  {
    name: "renewals when the lease is over",
    edits: [
      {
        file: "src/locks/protocol/own.ts",
        find: '  const renew = { act: "renew", at: renewalTurn(state, hold) } as const\n',
        replace: '  const renew = { act: "renew", at: plus(renewalTurn(state, hold), state.config.ttl) } as const\n',
      },
    ],
    hunts: [inPeace("no needless loss")],
  },
  {
    name: "a lease that nobody renews, and nobody gives up",
    edits: [
      {
        file: "src/locks/protocol/own.ts",
        find: '  const renew = { act: "renew", at: renewalTurn(state, hold) } as const\n',
        replace: '  const renew = { act: "renew", at: plus(renewalTurn(state, hold), 1e9) } as const\n',
      },
      {
        file: "src/locks/protocol/own.ts",
        find: '  if (past(deadlineOf(phase.hold), draft.now)) return lose(draft, phase.hold, "expired")\n',
        replace: '  if (past(deadlineOf(phase.hold), draft.now)) return { name: "idle" }\n',
      },
    ],
    hunts: [inPeace("no orphaned lease")],
  },
  {
    name: "a head sent without a look at the lease",
    edits: [
      {
        file: "src/actors/checkpoints/head/protocol.ts",
        find: "  if (!now.held) return wait(",
        replace: "  if (now.at < 0) return wait(",
      },
    ],
    hunts: [
      {
        by: "sim",
        from: 1,
        to: 200,
        faults: ["stepWall", "suspend", "pause", "slow"],
        ttl: "6 s",
        judge: "saves under a lease",
      },
    ],
  },
]

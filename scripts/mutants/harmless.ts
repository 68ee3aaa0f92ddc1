/**
 * Mutants that complete searches show to be harmless: `npm run mutants -- --harmless` makes the searches again. What
 * the protocol does all the same, and why, is in docs/decisions.md.
 */
import type { Hunt, Mutant } from "./mutant.ts"

/** By the names of their configurations. */
const searches = (...names: readonly string[]): readonly Hunt[] => names.map((config) => ({ by: "checker", config }))

export const harmlessMutants: readonly Mutant[] = [
  {
    name: "store time from before a suspend",
    edits: [
      {
        file: "src/locks/protocol/rules/time.ts",
        find: "epoch: sense.epoch + 1, sample: undefined }",
        replace: "epoch: sense.epoch + 1, sample: sense.sample }",
      },
      {
        file: "src/locks/protocol/rules/time.ts",
        find: "const age = elapsed(sample.at, now)",
        replace: "const age = now.mono - sample.at.mono",
      },
    ],
    hunts: searches("stopped", "clockless", "bucket"),
  },
  {
    name: "a renewal from before a suspend ends suspicion",
    edits: [
      {
        file: "src/locks/protocol/own.ts",
        find: "suspect: hold.suspect && sent.epoch !== draft.sense.epoch,",
        replace: "suspect: hold.suspect && sent.epoch > draft.sense.epoch,",
      },
    ],
    hunts: searches("stopped", "clockless", "bucket"),
  },
  {
    name: "a lease's write that is sent again has a new opId",
    edits: [
      {
        file: "src/locks/protocol/request.ts",
        find: "const sent = resendable(draft, phase, act) ?? newWrite(draft, act, compose)",
        replace: "const sent = resendable(draft, phase, act) === null ? draft.sent[0]! : newWrite(draft, act, compose)",
      },
      {
        file: "src/locks/protocol/request.ts",
        find: "if (!draft.sent.includes(sent)) draft.sent = [...draft.sent, sent]",
        replace: "draft.sent = [sent]",
      },
      {
        file: "src/locks/protocol/leave.ts",
        find: "? phase.opIds : [...phase.opIds, opId]",
        replace: "? phase.opIds : [opId]",
      },
    ],
    hunts: searches("alone", "pairs", "brought back", "stopped beside a head"),
  },
]

/** Mutants of the order and the number of requests where a store serves fewer than are asked for. */
import type { Hunt, Mutant } from "./mutant.ts"

/** Ten requests a second for 80 sandboxes: renewals alone could do with three. */
const crowd: Hunt = { by: "crowd", crowd: { keys: 80, perSecond: 10 } }
/** From the second minute on a tenth of what it served before: leases need nearly half of that. */
const slower: Hunt = { by: "crowd", crowd: { keys: 120, perSecond: 100, later: 10 } }

export const loadMutants: readonly Mutant[] = [
  {
    name: "looks are as urgent as renewals",
    edits: [
      {
        file: "src/locks/admission/urgency.ts",
        find: 'if (looks) return { urgency: "look", by: at.mono }',
        replace: 'if (looks) return { urgency: "keep", by: at.mono }',
      },
    ],
    hunts: [slower],
  },
  {
    name: "all requests are sent at once: each limit counts from the queue",
    edits: [
      {
        file: "src/locks/admission/admission.ts",
        find: "    return this.#underWay < (rank === rankOf.look ? Math.min(most, this.#lookLimit.at(now)) : most)\n",
        replace: "    return most > 0\n",
      },
    ],
    hunts: [slower],
  },
  {
    name: "a drain saves all at once",
    edits: [
      {
        file: "src/actors/sandbox/departures.ts",
        find: "    return this.#leaving.size < (this.#door()?.limit ?? AT_HAND)\n",
        replace: "    return true\n",
      },
    ],
    hunts: [crowd],
  },
]

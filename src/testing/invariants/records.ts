/** What can't be read is nobody's: no process takes it for free. */
import type { Invariant } from "./reading/invariant.ts"

/** Only who left it there, or another by hand, may mend it. */
export const unreadableStands: Invariant = {
  name: "the unreadable stands",
  sentence: "What stands in a lease record's place and isn't one is written over, or deleted, by no process.",
  watch(found) {
    const unreadable = new Map<string, string>()
    return {
      line(line) {
        if (line.kind !== "applied" || line.area !== "leases") return
        const { name, worker, op, lease, before, generation } = line
        if (worker !== null && unreadable.get(name) === before)
          found({ workers: [worker], message: `${worker} writes over ${name}, which can't be read` })
        if (op === "put" && lease === undefined) unreadable.set(name, generation)
        else unreadable.delete(name)
      },
    }
  },
}

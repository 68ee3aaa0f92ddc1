// The ledger in peace. A drawn plan is hardly ever without faults, and those explain what is lost; here nothing does.
import { allInvariants, type Invariant, simulate } from "leasehold/testing"
import { expect, it } from "vitest"
import { formerLedger, ledger, ledgerAfterwards, ledgerWorkload } from "../../../src/testing/simulate/run/ledger.ts"

const nothingIsLost: Invariant = {
  name: "nothing is lost",
  sentence: "No lease is lost, whatever might explain it.",
  watch: (found) => ({
    line(line) {
      if (line.kind !== "lock" || line.type !== "Lost") return
      const { key, worker, error } = line
      found({ key, workers: [worker], message: `${worker} loses ${key}: ${error?.message ?? ""}` })
    },
  }),
}

// Tests simulations: A fleet that nothing befalls loses no lease, on any store and with any clocks.
it.each(["gcs", "exact", "clockless", "file", "keeps", "memory"] as const)(
  "a fleet in peace loses no lease and breaks no invariant (store %s)",
  async (store) => {
    const { reached } = await simulate({
      ...{ sandbox: ledger, former: formerLedger, workload: ledgerWorkload, afterwards: ledgerAfterwards },
      ...{ seeds: 2, store, faults: [], shrinkFor: 0 },
      invariants: [...allInvariants, nothingIsLost],
    })
    const faults = Object.keys(reached).filter((name) => name.startsWith("the fault "))
    expect(faults.sort()).toEqual(["the fault clock", "the fault heal"])
    expect(reached).toMatchObject({ "a key came by a grant": 2 })
  },
)

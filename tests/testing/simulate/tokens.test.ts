/** Where the record of a lease may be deleted by hand, the head is what knows the last token: each owner's is in it. */
import type { LockLine, StoreProfileName, TraceLine, WorkLine } from "leasehold/testing"
import { expect, it } from "vitest"
import { inTurns, run } from "./scripted.ts"

const stores: readonly StoreProfileName[] = ["gcs", "exact", "keeps", "clockless", "file"]

const isGrant = (line: TraceLine): line is LockLine =>
  line.kind === "lock" && line.type === "Acquired" && line.how === "granted"
const isRestore = (line: TraceLine): line is WorkLine =>
  line.kind === "work" && line.work === "restore" && line.edge === "began"

// Tests rule 12, rule 15: Without one exact clock every owner's token is in the head, and outgrows a deleted record.
it.each(stores)("an owner that was granted the key is named by the head before it works (store %s)", async (store) => {
  const { lines } = await run({ script: [], workload: inTurns, store })
  const grants = lines.filter(isGrant)
  expect(grants.length).toBeGreaterThan(0)
  for (const { worker, token } of grants) {
    const restored = lines.findIndex((line) => isRestore(line) && line.worker === worker && line.token === token)
    const named = lines.findIndex((line) => line.kind === "applied" && line.head?.token === token)
    expect(restored).toBeGreaterThan(named)
    expect(named).toBeGreaterThan(0)
  }
})

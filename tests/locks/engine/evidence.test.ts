/** When a oracle is told that a lease stands, so that it need not look for the process groups of whom it names. */
import { expect, it } from "vitest"
import { examined } from "../../../src/locks/engine/evidence.ts"
import type { HostHalf } from "../../../src/locks/record.ts"
import type { ProcessOracle } from "../../../src/locks/stores/port.ts"

const host: HostHalf = { name: "h", pid: 7, startedAt: "1", bootId: "boot", pidNs: "2", groups: [9] }
const begin = 1_700_000_000_000

/** Whether the oracle was told so, of an owner whose lease of 30 s ends so much later than the date in the answer. */
function isToldToStand(left: number, bootId: string | null = "boot", storeTime: number | undefined = begin): boolean {
  const told: (boolean | undefined)[] = []
  const oracle: ProcessOracle = {
    livenessOf: (_, stands) => void told.push(stands),
    watch: () => ({ [Symbol.dispose]: () => {} }),
  }
  const expiresAt = (begin + left) / 1000
  const owner = { for: "a", expiresAt, nonce: "n", opId: "o", token: 1, ttlMs: 30_000, address: null, host }
  const text = JSON.stringify({ ownerId: "a", expiresAt, waitingOwnerId: null, waiterExpiresAt: null, v: 1, owner })
  const answer = { kind: "found", generation: "1", text, ...(storeTime !== undefined && { storeTime }) } as const
  examined(oracle, { type: "read", id: 1, answer }, { key: "k", bootId, view: undefined })
  expect(told).toHaveLength(1)
  return told[0] === true
}

it("is where its time isn't over, and no longer than it may be", () => {
  expect(isToldToStand(1)).toBe(true)
  expect(isToldToStand(60_000)).toBe(true)
  expect(isToldToStand(0)).toBe(false)
  expect(isToldToStand(60_001)).toBe(false) // judged by observation
})

it("is not where the date says nothing about it: another boot's, or another clock of this one, or none", () => {
  expect(isToldToStand(1000, "boot~3")).toBe(false)
  expect(isToldToStand(1000, null)).toBe(false)
  expect(isToldToStand(1000, "boot", Number.NaN)).toBe(false)
})

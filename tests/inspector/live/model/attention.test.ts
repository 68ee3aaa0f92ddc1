// Pins what counts as wrong with a sandbox, from which time on, and that the reason says what it is.
import { expect, it } from "vitest"
import {
  attentionOf,
  attentions,
  FLAPPING,
  LONG_ACQUIRE,
  LONG_HANDOFF,
  LONG_RESTORE,
  LONG_WAIT,
  NEAR_GUARD,
  whyNotOwned,
} from "../../../../src/inspector/live/model/attention.ts"
import { Fleet } from "../../../../src/inspector/live/model/fleet.ts"
import type { SandboxRow, WorkerRow } from "../../../../src/inspector/live/model/wire.ts"
import { row, running, settling, waiting, worker } from "../made.ts"

function fleetOf(rows: readonly SandboxRow[], workers: readonly WorkerRow[] = [worker()]): Fleet {
  const fleet = new Fleet()
  fleet.apply("rows", rows)
  fleet.apply("workers", workers)
  return fleet
}

const error = { tag: "StoreUnavailableError", code: null, message: "no route" }
/** The lease of 30 s has a guard of 3 s. */
const limit = 27_000 - NEAR_GUARD * 30_000

it.each<[string, Partial<SandboxRow>, well: number, wrong: number, RegExp]>([
  ["waiting", { value: waiting }, LONG_WAIT - 1, LONG_WAIT, /has waited 45 s for its owner/],
  [
    "handingOff",
    { value: settling, leaving: "drain" },
    LONG_HANDOFF - 1,
    LONG_HANDOFF,
    /leaving for 30 s \(drain\); it is waiting/,
  ],
  ["acquiring", { value: { acquiring: "trying" } }, LONG_ACQUIRE - 1, LONG_ACQUIRE, /asked the store for 20 s/],
  [
    "restoring",
    { value: { owning: { work: "restoring", lease: "healthy" } } },
    LONG_RESTORE - 1,
    LONG_RESTORE,
    /restore has taken 30 s/,
  ],
  ["guard", { deadline: 27_000 }, limit - 1, limit, /reaches its guard in 3 s: renewals fail/],
])("names one that is %s for too long, and no sooner", (kind, more, well, wrong, reason) => {
  const subject = row(more)
  const fleet = fleetOf([subject])
  expect(attentionOf(subject, well, fleet)).toBeUndefined()
  expect(attentionOf(subject, wrong, fleet)).toMatchObject({ kind, worker: "a", key: "order/1" })
  expect(attentionOf(subject, wrong, fleet)?.reason).toMatch(reason)
})

it.each<[string, Partial<SandboxRow>, RegExp]>([
  ["stuck", { stuck: "checkpoint", leaving: "handoff" }, /Its checkpoint goes on past its limit.*\(handoff\)/],
  ["flapping", { handoffs: FLAPPING }, /changed hands 6 times/],
  ["acquiring", { value: { acquiring: "backingOff" }, error }, /failed. Its last error: no route/],
])("names one that is %s at once", (kind, more, reason) => {
  const subject = row(more)
  expect(attentionOf(subject, 1, fleetOf([subject]))).toMatchObject({ kind, reason: expect.stringMatching(reason) })
})

it("is content with a sandbox that is well", () => {
  const subject = row({ deadline: 30_000, handoffs: FLAPPING - 1, ownedSince: 0 })
  expect(attentionOf(subject, 10_000, fleetOf([subject]))).toBeUndefined()
})

it("says of the sandboxes of a worker that doesn't answer why nothing is heard, and whether their leases are over", () => {
  const subject = row({ deadline: 1000 })
  const fleet = fleetOf([subject], [worker({ problem: "it doesn't answer" })])
  expect(attentionOf(subject, 5000, fleet)).toMatchObject({
    kind: "silent",
    reason: "Nothing is heard of its worker: it doesn't answer. Its lease was to end 4 s ago.",
  })
})

it("says why a sandbox isn't owned by what its owner does with it", () => {
  const waits = row({ value: waiting, owner: { ownerId: "b1", address: "http://b" } })
  const why = (theirs: Partial<SandboxRow>, more: Partial<WorkerRow> = {}): string => {
    const rows = [waits, row({ worker: "b", ownedSince: 0, ...theirs })]
    return whyNotOwned(waits, 60_000, fleetOf(rows, [worker(), worker({ worker: "b", ownerId: "b1", ...more })]))
  }
  expect(why({ value: running })).toBe(
    "It has waited 1 min 0 s for worker b at http://b. There it has run for 1 min 0 s.",
  )
  expect(why({ value: settling })).toContain("There it is waiting for its work to end.")
  expect(why({ stuck: "run" })).toContain("There its run goes on past its limit.")
  expect(why({}, { problem: "gone" })).toContain("That worker doesn't answer.")
  expect(whyNotOwned(waits, 60_000, fleetOf([waits]))).toBe("It has waited 1 min 0 s for b1 at http://b.")
})

it("lists the worst first, and of a kind what lasts longest", () => {
  const rows = [
    row({ key: "flaps", handoffs: FLAPPING }),
    row({ key: "short", value: waiting, since: 10 }),
    row({ key: "long", value: waiting, since: 5 }),
    row({ key: "hangs", stuck: "run" }),
    row({ key: "well" }),
  ]
  const found = attentions(fleetOf(rows), LONG_WAIT + 100)
  expect(found.map(({ key }) => key)).toEqual(["hangs", "long", "short", "flaps"])
  expect(attentions(fleetOf(rows), LONG_WAIT + 100, 2)).toHaveLength(2)
})

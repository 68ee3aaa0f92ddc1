// Pins what is said of calls, waiters and requests, by traces that are right and traces that are not.
import { describe, expect, it } from "vitest"
import { invariants } from "../../../src/testing/invariants/mod.ts"
import { acquired, asked, call, fault, gaveUp, key, lease, told, waiting, work } from "./told.ts"

const { withinBudget, waitersAreServed, oneRequest } = invariants

describe("within budget", () => {
  it("is content with a call that settles in time, also by failing, and with one whose process was stopped", () => {
    expect(told(withinBudget, call(0, "a", "began"), call(30_500, "a", "failed"))).toEqual([])
    expect(told(withinBudget, call(0, "a", "began"), fault(9, "a", "pause"), call(90_000, "a", "ended"))).toEqual([])
    expect(told(withinBudget, call(0, "a", "began"), fault(9, "a", "crash"), fault(90_000, "b", "crash"))).toEqual([])
  })

  // Tests traces: The invariants of traces hold of simulated runs, and each tells of what goes against it.
  it("asks nothing of a life that is over, also where that is told only by the start of the next", () => {
    const start = { ...call(9, "a", "began", 30_000, 2), call: "start" } as const
    const ofTheStart = told(withinBudget, call(0, "a", "began"), start, fault(90_000, "b", "crash"))
    expect(ofTheStart).toHaveLength(1)
    expect(
      told(withinBudget, call(0, "a", "began"), { ...start, worker: "b" }, fault(90_000, "c", "crash")),
    ).toHaveLength(2)
  })

  it("asks no more of a use whose function has begun in time", () => {
    const begun = work(20_000, "a", "use began", 1)
    expect(told(withinBudget, call(0, "a", "began"), begun, call(90_000, "a", "ended"))).toEqual([])
    expect(
      told(withinBudget, call(0, "a", "began"), { ...begun, worker: "b" }, call(90_000, "a", "ended")),
    ).toHaveLength(1)
  })

  it("asks as much of a process that drains as of any other", () => {
    const late = [call(0, "a", "began"), fault(9, "a", "drain"), call(33_000, "a", "failed")]
    expect(told(withinBudget, ...late)).toHaveLength(1)
  })

  it("tells of one that settles late, and of one that never does", () => {
    const message = "a use of ledger/k by a has taken 33000 ms, with a budget of 30000 ms"
    expect(told(withinBudget, call(0, "a", "began"), call(33_000, "a", "ended"))).toEqual([message])
    expect(told(withinBudget, call(0, "a", "began"), fault(33_000, "b", "pause"))).toEqual([message])
  })
})

describe("waiters are served", () => {
  const hours = 400_000

  it("is content where one gets the key or gives up in time, or where something went wrong meanwhile", () => {
    expect(told(waitersAreServed, waiting(0, "b"), acquired(100_000, "b", 2))).toEqual([])
    expect(told(waitersAreServed, waiting(0, "b"), gaveUp(100_000, "b"))).toEqual([])
    expect(told(waitersAreServed, waiting(0, "b"), fault(5, "c", "crash"), acquired(hours, "b", 2))).toEqual([])
    const stuck = {
      kind: "state",
      at: 5,
      worker: "a",
      key,
      token: 1,
      value: { handingOff: { work: "stuck" } },
    } as never
    expect(told(waitersAreServed, waiting(0, "b"), stuck, acquired(hours, "b", 2))).toEqual([])
  })

  // Tests traces.
  it("asks nothing of one whose owner was stuck before, on that key and as long as it has it", () => {
    const state = (at: number, value: object, of = key) =>
      ({ kind: "state", at, worker: "a", key: of, token: 1, value }) as never
    const stuck = { handingOff: { work: "stuck", lease: "healthy" } }
    const served = [waiting(5, "b"), acquired(hours, "b", 2)] as const
    expect(told(waitersAreServed, state(1, stuck), ...served)).toEqual([])
    expect(told(waitersAreServed, state(1, stuck, "ledger/other"), ...served)).toHaveLength(1)
    expect(told(waitersAreServed, state(1, stuck), state(2, { released: "clean" }), ...served)).toHaveLength(1)
    expect(told(waitersAreServed, state(1, stuck), fault(2, "a", "crash"), ...served)).toHaveLength(1)
  })

  it("asks nothing of one whose owner can't be asked: that is dead, a stranger, or put there by one", () => {
    const before = [lease(0, "a", "a.1", 30_000), acquired(0, "a", 1), fault(1, "a", "crash")] as const
    expect(told(waitersAreServed, ...before, waiting(5, "b"), acquired(hours, "b", 2))).toEqual([])
    expect(told(waitersAreServed, lease(0, null, "s", 30_000), waiting(5, "b"), acquired(hours, "b", 2))).toEqual([])
    const given = lease(6, null, "c.1", 30_000)
    const unknown = { ...given, lease: { ...given.lease!, token: null } }
    expect(told(waitersAreServed, waiting(5, "b"), unknown, waiting(7, "c"), acquired(hours, "b", 2))).toHaveLength(0)
    expect(told(waitersAreServed, lease(0, "a", "a.1", 30_000), waiting(5, "b"), acquired(hours, "b", 2))).toHaveLength(
      1,
    )
  })

  it("waits out the place of one that is dead, or a stranger, before it, as long as that stands where no date is told", () => {
    const behind = lease(2, "b", "a.1", 30_000, "c.1")
    const before = [lease(0, "a", "a.1", 30_000), waiting(1, "c"), fault(2, "c", "crash"), behind] as const
    expect(told(waitersAreServed, ...before, waiting(3, "b"), acquired(290_000, "b", 2))).toEqual([])
    expect(told(waitersAreServed, ...before, waiting(3, "b"), acquired(310_000, "b", 2))).toHaveLength(1)
    const alive = [lease(0, "a", "a.1", 30_000), behind] as const
    expect(told(waitersAreServed, ...alive, waiting(3, "b"), acquired(290_000, "b", 2))).toHaveLength(1)
    const stranger = [lease(0, "a", "a.1", 30_000), { ...behind, worker: null }] as const
    expect(told(waitersAreServed, ...stranger, waiting(3, "b"), acquired(290_000, "b", 2))).toEqual([])
  })

  it("tells of one that waits on and on", () => {
    expect(told(waitersAreServed, waiting(0, "b"), acquired(hours, "b", 2))).toHaveLength(1)
    expect(told(waitersAreServed, waiting(0, "b"), acquired(hours, "c", 2))).toEqual([
      "b has waited for ledger/k for 400000 ms, and nothing went wrong",
    ])
  })
})

describe("one request per waiter", () => {
  it("is content with one for each wait, also when they are told late, and with a stranger's", () => {
    const waits = [waiting(0, "b"), gaveUp(2, "b"), waiting(3, "b")]
    const requests = [asked(4, "a", 1, "b.1"), asked(4, "a", 1, "b.1"), asked(5, "c", 2, "b.1")]
    expect(told(oneRequest, ...waits, ...requests)).toEqual([])
    expect(told(oneRequest, asked(1, "a", 1, "stranger"), asked(2, "a", 1, "stranger"))).toEqual([])
  })

  it("counts a mark whose waiter gave up before it heard of it, where the store tells", () => {
    const mark = (at: number, waiterId: string | null) => lease(at, "b", "a.1", 30_000, waiterId)
    const lines = [mark(0, "b.1"), asked(1, "a", 1, "b.1"), mark(2, null), mark(3, "b.1"), waiting(4, "b")] as const
    expect(told(oneRequest, ...lines, asked(5, "a", 1, "b.1"))).toEqual([])
    expect(told(oneRequest, ...lines, asked(5, "a", 1, "b.1"), asked(6, "a", 1, "b.1"))).toHaveLength(1)
  })

  // Tests traces.
  it("counts a mark that takes the place of one that its waiter had left there", () => {
    const mark = (at: number, waiterNonce: string) => {
      const line = lease(at, "b", "a.1", 30_000, "b.1")
      return { ...line, lease: { ...line.lease!, waiterNonce } }
    }
    const first = [mark(0, "n1"), waiting(0, "b"), asked(1, "a", 1, "b.1"), gaveUp(2, "b")] as const
    expect(told(oneRequest, ...first, mark(3, "n2"), asked(4, "a", 1, "b.1"))).toEqual([])
    expect(told(oneRequest, ...first, mark(3, "n1"), asked(4, "a", 1, "b.1"))).toHaveLength(1)
  })

  it("tells of a second one for the same wait", () => {
    expect(told(oneRequest, waiting(0, "b"), asked(1, "a", 1, "b.1"), asked(2, "a", 1, "b.1"))).toEqual([
      "a is asked 2 times for b.1, who waited 1 times",
    ])
  })
})

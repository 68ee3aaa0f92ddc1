// Pins what is said of owners and their tokens, by traces that are right and traces that are not.
import { describe, expect, it } from "vitest"
import { invariants } from "../../../src/testing/invariants/mod.ts"
import type { RequestLine } from "../../../src/trace/trace.ts"
import {
  acquired,
  fault,
  granted,
  key,
  lease,
  lost,
  released,
  removed,
  renewed,
  told,
  violations,
  work,
} from "./told.ts"

const { oneOwner, aloneAtWork, growingTokens, savesUnderLease, strangersKeep, workUnderLease } = invariants

describe("one owner", () => {
  it("is content where each acquires after the other has given up, lost it, crashed, or run out", () => {
    const next = acquired(10_000, "b", 2)
    for (const end of [lost, released, granted])
      expect(told(oneOwner, acquired(0, "a", 1), end(9000, "a"), next)).toEqual([])
    expect(told(oneOwner, acquired(0, "a", 1), fault(9000, "a", "crash"), next)).toEqual([])
    expect(told(oneOwner, acquired(0, "a", 1, 9900), next)).toEqual([])
  })

  // Tests traces: The invariants of traces hold of simulated runs, and each tells of what goes against it.
  it("tells of a key that is acquired while another holds it, and for how long that one did", () => {
    expect(violations(oneOwner, acquired(0, "a", 1), acquired(10_000, "b", 2))).toEqual([
      {
        ...{ invariant: "one owner", at: 10_000, line: 1, key, workers: ["a", "b"] },
        message: "b has ledger/k (Acquired) while a holds it for 17000 ms more",
      },
    ])
  })

  it("counts renewals, of the owner that holds", () => {
    const late = acquired(30_000, "b", 2)
    expect(told(oneOwner, acquired(0, "a", 1), late)).toEqual([])
    expect(told(oneOwner, acquired(0, "a", 1), renewed(9000, "a", 1), late)).toHaveLength(1)
    expect(told(oneOwner, acquired(0, "a", 1), lost(8000, "a"), renewed(9000, "a", 1), late)).toEqual([])
  })

  it("tells of one whose lease was over, and that goes on with it while another holds", () => {
    const late = [acquired(0, "a", 1), acquired(30_000, "b", 2), renewed(35_000, "a", 1)] as const
    expect(told(oneOwner, ...late)).toEqual(["a has ledger/k (Renewed) while b holds it for 22000 ms more"])
    expect(told(oneOwner, ...late.slice(0, 2), renewed(60_000, "a", 1))).toEqual([])
  })

  it("takes a deadline for a time of its holder's clock", () => {
    const slow = [acquired(0, "a", 1, 20_000), acquired(20_500, "b", 2)] as const
    expect(told(oneOwner, ...slow)).toEqual([])
    expect(told(oneOwner, fault(0, "a", "clock", { rate: 0.95 }), ...slow)).toHaveLength(1)
    expect(told(oneOwner, fault(0, "a", "clock", { rate: 1.05 }), ...slow)).toEqual([])
  })

  it("tells keys apart", () => {
    expect(told(oneOwner, acquired(0, "a", 1), { ...acquired(10, "b", 2), key: "ledger/other" })).toEqual([])
  })
})

describe("one owner, where a record is deleted by hand,", () => {
  const owned = [lease(0, "a", "a.1", 30_000), acquired(0, "a", 1)] as const
  const next = acquired(10_000, "b", 2)

  // Tests rule 15: A record deleted under its owner lets the next one begin only when that lease would be over.
  it("asks nothing of the owner whose record it was, and all of every other", () => {
    expect(told(oneOwner, ...owned, removed(9000, null), next)).toEqual([])
    expect(told(oneOwner, ...owned, removed(9000, null), next, renewed(10_001, "a", 1))).toEqual([])
    expect(told(oneOwner, ...owned, removed(9000, "c"), next)).toHaveLength(1)
    expect(told(oneOwner, ...owned, removed(9000, null), next, acquired(11_000, "c", 3))).toHaveLength(1)
  })

  it("asks nothing of one that hears of its lease only after its record was deleted", () => {
    const unheard = lease(0, "a", "a.1", 30_000)
    const token = unheard.lease!.token!
    expect(told(oneOwner, unheard, removed(9000, null), next, acquired(11_000, "a", token))).toEqual([])
    expect(told(oneOwner, unheard, removed(9000, null), next, acquired(11_000, "a", token + 1))).toHaveLength(1)
  })

  it("asks all of the activations that follow", () => {
    const again = acquired(60_000, "a", 3)
    expect(told(oneOwner, ...owned, removed(9000, null), again, acquired(61_000, "b", 4))).toHaveLength(1)
  })

  it("knows whose it was where something else stood in its place, or a stranger dropped its token", () => {
    const { lease: _, ...damaged } = lease(8000, null, null)
    expect(told(oneOwner, ...owned, damaged, removed(9000, null), next)).toEqual([])
    const stripped = lease(8000, null, "a.1", 30_000)
    expect(
      told(oneOwner, ...owned, { ...stripped, lease: { ...stripped.lease!, token: null } }, removed(9000, null), next),
    ).toEqual([])
  })
})

describe("alone at work", () => {
  const begun = (at: number, worker: string, token: number) => work(at, worker, "restore began", token)
  const both = [acquired(0, "a", 1), acquired(10_000, "b", 2)] as const
  const busy = [acquired(0, "a", 1), begun(10, "a", 1), acquired(10_000, "b", 2)] as const

  // Tests rule 15.
  it("tells of work that begins while another may be at it, whoever of them came first", () => {
    expect(told(aloneAtWork, ...busy, begun(10_001, "b", 2))).toEqual([
      "b begins a restore on ledger/k while a is at work for 16999 ms more",
    ])
    expect(told(aloneAtWork, ...both, begun(10_001, "b", 2), begun(10_002, "a", 1))).toEqual([
      "a begins a restore on ledger/k while b is at work for 26998 ms more",
    ])
  })

  it("is content with one that waits until the other is over, with its own work, and with an owner that never began", () => {
    expect(told(aloneAtWork, ...busy, begun(27_000, "b", 2))).toEqual([])
    expect(told(aloneAtWork, ...busy, lost(20_000, "a"), begun(20_001, "b", 2))).toEqual([])
    expect(told(aloneAtWork, ...busy, work(10_001, "a", "use began", 1))).toEqual([])
    expect(told(aloneAtWork, ...busy, work(10_001, "b", "close began", 2))).toEqual([])
    expect(told(aloneAtWork, ...both, begun(10_001, "b", 2))).toEqual([])
  })
})

describe("growing tokens", () => {
  // Tests traces.
  it("is content where each is greater, and tells where one isn't", () => {
    expect(told(growingTokens, acquired(0, "a", 1), acquired(1, "b", 2), acquired(2, "a", 5))).toEqual([])
    expect(told(growingTokens, acquired(0, "a", 7), acquired(1, "b", 7))).toHaveLength(1)
    expect(told(growingTokens, acquired(0, "a", 7), acquired(1, "b", 8), acquired(2, "a", 3))).toHaveLength(1)
  })

  it("asks nothing of a record that an operator deleted, and all of one that its owner did", () => {
    const owners = [acquired(0, "a", 7), acquired(9, "b", 6)] as const
    expect(told(growingTokens, removed(5, null), ...owners)).toEqual([])
    expect(told(growingTokens, removed(5, "a"), ...owners)).toHaveLength(1)
  })

  it("asks it of each version of a record, also of owners that never heard of theirs, from one creation to the next", () => {
    const owner = (worker: string | null, token: number | null, ownerId: string | null = `${worker}.1`) => {
      const line = lease(1, worker, ownerId, 30_000)
      return { ...line, lease: { ...line.lease!, token } }
    }
    const free = owner("a", null, null)
    expect(told(growingTokens, owner("a", 1), owner("a", 5), free, owner("b", 6), owner("c", 6, "b.1"))).toEqual([])
    expect(told(growingTokens, owner("a", 1), owner("a", 5), free, owner("b", 5))).toEqual([
      "b writes token 5 into ledger=2fk, which had 5",
    ])
    expect(told(growingTokens, owner("a", 5), owner("a", 4))).toHaveLength(1)
    expect(told(growingTokens, owner("a", 5), removed(2, null), owner("b", 4))).toEqual([])
    expect(told(growingTokens, owner("a", 5), removed(2, null), owner("b", 4), owner("c", 3))).toHaveLength(1)
    expect(told(growingTokens, owner("a", 5), owner(null, null, "s"), owner("b", 4))).toEqual([])
  })
})

describe("work under a lease", () => {
  it("is content with what begins before the deadline, and with a close after it", () => {
    const lines = [
      work(26_000, "a", "use began", 1),
      work(28_000, "a", "use ended", 1),
      work(29_000, "a", "close began", 1),
    ]
    expect(told(workUnderLease, acquired(0, "a", 1), ...lines)).toEqual([])
  })

  // Tests traces.
  it("tells of work that begins after the deadline, or after the end of the lease", () => {
    const begun = (at: number) => work(at, "a", "checkpoint began", 1)
    expect(told(workUnderLease, acquired(0, "a", 1), begun(28_000))).toEqual([
      "a begins a checkpoint on ledger/k 1000 ms after its deadline",
    ])
    expect(told(workUnderLease, acquired(0, "a", 1), released(5, "a"), begun(6))).toEqual([
      "a begins a checkpoint on ledger/k when its lease has ended",
    ])
  })
})

describe("saves under a lease", () => {
  const put = (at: number, worker: string): RequestLine => ({
    ...{ kind: "request", at, worker, id: 1, store: "s", op: "put", area: "state", name: "ledger=2fk/head" },
    deadline: 5000,
  })

  it("is content with a head that is sent while its sender has the key, and with one of a trace without locks", () => {
    expect(told(savesUnderLease, acquired(0, "a", 1, 1000), put(1000, "a"))).toEqual([])
    expect(told(savesUnderLease, put(1000, "a"))).toEqual([])
  })

  // Tests traces.
  it("tells of one that is sent after the deadline, or after the loss", () => {
    expect(told(savesUnderLease, acquired(0, "a", 1, 1000), put(1010, "a"))).toHaveLength(1)
    expect(told(savesUnderLease, acquired(0, "a", 1), lost(100, "a"), put(110, "a"))).toHaveLength(1)
  })
})

describe("strangers keep their keys", () => {
  it("is content with who takes a stranger's key once its time is over, or once it is left, deleted or handed over", () => {
    const theirs = lease(0, null, "s", 30_000)
    expect(told(strangersKeep, theirs, lease(30_000, "a", "a.1", 60_000))).toEqual([])
    expect(told(strangersKeep, theirs, lease(10, null, null), lease(20, "a", "a.1", 60_000))).toEqual([])
    expect(told(strangersKeep, theirs, removed(10, null), lease(20, "a", "a.1", 60_000))).toEqual([])
    const marked = lease(10, "a", "s", 30_000, "a.1")
    const given = lease(20, null, "a.1", 50_000)
    expect(told(strangersKeep, theirs, marked, given, lease(30, "a", "a.1", 60_000), lease(40, "b", "b.1"))).toEqual([])
  })

  // Tests traces.
  it("tells of who takes it before, or deletes its record", () => {
    const theirs = lease(0, null, "s", 30_000)
    expect(told(strangersKeep, theirs, lease(29_000, "a", "a.1", 60_000))).toEqual([
      "a takes ledger=2fk from s, who has it for 1000 ms more",
    ])
    expect(told(strangersKeep, theirs, removed(29_000, "a"))).toHaveLength(1)
  })
})

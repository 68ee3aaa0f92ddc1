// Pins what is said of acknowledgements, by traces that are right and traces that are not.
import { describe, expect, it } from "vitest"
import { invariants } from "../../../src/testing/invariants/mod.ts"
import type { CallLine, RequestLine, TraceLine } from "../../../src/trace/trace.ts"
import { call, fault, head, told, work } from "./told.ts"

const { acknowledgedIsStored } = invariants

const durable = (at: number, edge: CallLine["edge"]): CallLine => ({ ...call(at, "a", edge), durable: true })
const ran = [durable(0, "began"), work(1, "a", "use began", 7), work(2, "a", "use ended", 7)] as const
const saves = [work(3, "a", "checkpoint began", 7, 2), work(4, "a", "checkpoint ended", 7, 2)] as const
const asks = (at: number, generation: string): RequestLine => ({
  ...{ kind: "request", at, worker: "a", id: at, store: "memory", op: "put", area: "state", deadline: 5000 },
  name: "ledger=2fk/head",
  generation,
})
const stored = head(6, "a", { token: 7, seq: 2 })

const tells = (...lines: readonly TraceLine[]): readonly string[] => told(acknowledgedIsStored, ...lines)

describe("acknowledged is stored", () => {
  it("is content where the head took effect first, or another try of it, or nothing was asked for", () => {
    expect(tells(...ran, ...saves, asks(5, "1"), stored, durable(7, "ended"))).toEqual([])
    expect(tells(...ran, ...saves, asks(5, "0"), asks(5, "1"), stored, durable(7, "ended"))).toEqual([])
    expect(tells(...ran, ...saves, durable(7, "ended"))).toEqual([])
  })

  it("asks nothing of a use that failed, that isn't durable, or whose process was killed", () => {
    expect(tells(...ran, durable(7, "failed"))).toEqual([])
    expect(tells(call(0, "a", "began"), ...ran.slice(1), call(7, "a", "ended"))).toEqual([])
    expect(tells(...ran, fault(3, "a", "crash"), durable(7, "ended"))).toEqual([])
  })

  // Tests traces: The invariants of traces hold of simulated runs, and each tells of what goes against it.
  it("tells of an acknowledgement before the head took effect, and of a head that replaced another version", () => {
    const early = "a acknowledges a durable use of ledger/k before its head took effect"
    expect(tells(...ran, ...saves, asks(5, "1"), durable(7, "ended"), stored)).toEqual([early])
    expect(tells(...ran, ...saves, asks(5, "4"), stored, durable(7, "ended"))).toEqual([early])
  })

  it("is content with a head that stands there already, of as many bytes, whose answer was lost (seed 35759)", () => {
    const asksFor = (at: number, bytes: number): RequestLine => ({ ...asks(at, "1"), bytes })
    const lost = [asksFor(-2, 437), head(-1, "a", { token: 7, seq: 2 })] as const
    expect(tells(...lost, ...ran, ...saves, asksFor(5, 437), durable(7, "ended"))).toEqual([])
    const early = "a acknowledges a durable use of ledger/k before its head took effect"
    expect(tells(...lost, ...ran, ...saves, asksFor(5, 438), durable(7, "ended"))).toEqual([early])
    const another = head(0, "b", { token: 8, seq: 3 })
    expect(tells(...lost, another, ...ran, ...saves, asksFor(5, 437), durable(7, "ended"))).toEqual([early])
  })

  it("takes the tombstone of a removal for no checkpoint's head: those bytes stood there already (seed 499)", () => {
    const tombstone = head(8, "a", { token: 7, seq: 2, state: "removed" })
    expect(tells(...ran, ...saves, asks(5, "1"), durable(7, "ended"), tombstone)).toEqual([])
    const early = "a acknowledges a durable use of ledger/k before its head took effect"
    expect(tells(...ran, ...saves, asks(5, "4"), durable(7, "ended"), tombstone)).toEqual([early])
    expect(tells(...ran, ...saves, asks(5, "1"), durable(7, "ended"))).toEqual([early])
  })

  it("asks of a call for a checkpoint that one began after it, and was stored", () => {
    const saving = (at: number, edge: CallLine["edge"]): CallLine => ({ ...call(at, "a", edge), call: "checkpoint" })
    expect(tells(saving(2, "began"), ...saves, asks(5, "1"), stored, saving(7, "ended"))).toEqual([])
    expect(tells(saves[0], saving(3, "began"), saves[1], asks(5, "1"), stored, saving(7, "ended"))).toEqual([
      "a acknowledges a checkpoint of ledger/k before a checkpoint held it",
    ])
    expect(tells(saving(2, "began"), ...saves, asks(5, "1"), saving(7, "ended"), stored)).toEqual([
      "a acknowledges a checkpoint of ledger/k before its head took effect",
    ])
  })

  it("tells of one without a checkpoint, with one that failed, and with one that began too early", () => {
    const unsaved = "a acknowledges a durable use of ledger/k before a checkpoint held it"
    expect(tells(...ran, durable(7, "ended"))).toEqual([unsaved])
    expect(tells(...ran, saves[0], work(4, "a", "checkpoint failed", 7, 2), durable(7, "ended"))).toEqual([unsaved])
    const [began, ...ending] = ran
    expect(tells(began, saves[0], ...ending, saves[1], asks(5, "1"), stored, durable(7, "ended"))).toEqual([unsaved])
  })
})

/**
 * Rule 6, and the file store's condition for taking over from the dead: what a machine says of the processes in a
 * record.
 */
import { describe, expect, it } from "vitest"
import type { Evidence } from "../../../src/locks/protocol/rules/state.ts"
import { acquire, type ProcessModel } from "./process-model.ts"
import { Stranger } from "./strangers.ts"
import { World } from "./world.ts"

const host = { name: "h", pid: 7, startedAt: "1", bootId: "boot-1", pidNs: "2", groups: [] }

/** A world of one machine, in which every read comes with what `says` has by then. */
class Machine {
  readonly world: World
  says: Partial<Evidence> = {}

  constructor() {
    this.world = new World({
      clock: "exact",
      spacing: 0,
      twist: (request, result) =>
        request.command.type === "read" && Object.keys(this.says).length > 0
          ? { ...result, evidence: { owner: undefined, waiter: undefined, ...this.says } }
          : result,
    })
  }

  process(id: string): ProcessModel {
    return this.world.process(id, { bootId: "boot-1", host })
  }

  owner(id: string, options: { readonly ttl?: number } = {}): ProcessModel {
    return this.world.owner(id, { bootId: "boot-1", host, ...options })
  }

  waiter(id: string, wish: { readonly groups?: readonly number[] } = {}): ProcessModel {
    return this.world.waiter(id, { bootId: "boot-1", host }, { contention: "retry", ...wish })
  }

  /** How long until it holds the key, from now. */
  takes(process: ProcessModel): number {
    const from = this.world.at
    if (process.phase === "idle") this.world.send(process, acquire({ budgetMs: undefined, contention: "retry" }))
    this.world.until(() => process.holds(this.world.at), 600_000)
    return this.world.at - from
  }
}

describe("an owner's half of which the machine says", () => {
  // Tests rule 6: A half whose process has surely ended is over at once; of two that find it so, one gets the key.
  it("that its process has ended is over at once, and is taken over as any other", () => {
    const machine = new Machine()
    const a = machine.owner("a")
    machine.world.crash(a)
    machine.says = { owner: "gone" }
    const b = machine.process("b")
    expect(machine.takes(b)).toBeLessThan(200)
    expect(b.last("Acquired")).toMatchObject({ how: "takeover" })
    expect(b.token).toBeGreaterThan(a.token!)
    expect(machine.world.store.body["ended"]).toBeNull()
  })

  it("that its process has ended goes to one of two that find it so at once", () => {
    const machine = new Machine()
    machine.world.crash(machine.owner("a"))
    machine.says = { owner: "gone" }
    const both = [machine.process("b"), machine.process("c")]
    for (const each of both) each.network = "held"
    for (const each of both) machine.world.send(each, acquire())
    for (const each of both) machine.world.answer(machine.world.open(each)!)
    const writes = both.map((each) => machine.world.open(each)!)
    expect(writes.map(({ command }) => command.type)).toEqual(["put", "put"])
    machine.says = {}
    for (const each of both) each.network = "up"
    for (const write of writes) machine.world.answer(write)
    machine.world.advance(5000)
    expect(both.filter((each) => each.holds(machine.world.at)).length).toBe(1)
    expect(both.filter((each) => each.count("Acquired") > 0).length).toBe(1)
  })

  // Tests rule 6: A half is never over while a process group that it names works, not to its own process either.
  it("that a process group of it works is not over, whatever the time, until nothing is said any more", () => {
    const machine = new Machine()
    machine.world.crash(machine.owner("a"))
    machine.says = { owner: "working" }
    const b = machine.process("b")
    machine.world.send(b, acquire({ budgetMs: undefined, contention: "retry" }))
    machine.world.advance(300_000)
    expect(b.count("Acquired")).toBe(0)
    machine.says = {}
    expect(machine.takes(b)).toBeLessThan(2000)
  })

  it("nothing is over by its lease alone", () => {
    const machine = new Machine()
    machine.world.crash(machine.owner("a"))
    expect(machine.takes(machine.process("b"))).toBeGreaterThan(30_000)
  })

  it("that a group works is waited for also by the process that the half is of, once it was lost", () => {
    const machine = new Machine()
    const a = machine.owner("a")
    machine.world.send(a, { type: "leaveToExpire" })
    machine.world.until(() => a.count("Lost") > 0, 60_000)
    machine.says = { owner: "working" }
    machine.world.send(a, acquire({ budgetMs: undefined, contention: "retry" }))
    machine.world.advance(20_000)
    expect(a.count("Acquired")).toBe(1)
    machine.says = {}
    expect(machine.takes(a)).toBeLessThan(2000)
  })

  // Tests rule 6: A stranger's pair is judged without evidence.
  it("anything, though it is a stranger's, is judged as a stranger's", () => {
    const machine = new Machine()
    new Stranger(machine.world, "s").own(20_000)
    machine.says = { owner: "gone" }
    expect(machine.takes(machine.process("b"))).toBeGreaterThan(20_000)
  })
})

describe("a waiter's half of which the machine says that its process has ended", () => {
  // Tests rule 6: A waiter whose process has ended blocks nobody, and is granted nothing once that is known.
  it("is in nobody's way", () => {
    const machine = new Machine()
    const a = machine.owner("a")
    machine.world.crash(machine.waiter("b"))
    machine.says = { waiter: "gone" }
    const c = machine.process("c")
    machine.world.send(c, acquire({ budgetMs: undefined }))
    machine.world.until(() => c.count("Waiting") > 0, 1000)
    machine.says = {}
    machine.world.advance(600)
    machine.world.send(a, { type: "release" })
    expect(machine.takes(c)).toBeLessThan(1500)
    expect(c.last("Acquired")).toMatchObject({ how: "granted" })
  })

  it("is granted nothing by an owner that looked", () => {
    const machine = new Machine()
    const a = machine.owner("a")
    machine.world.crash(machine.waiter("b"))
    machine.says = { waiter: "gone" }
    machine.world.advance(600)
    machine.world.send(a, { type: "release" })
    machine.world.until(() => a.phase === "idle")
    expect(machine.world.store.body).toMatchObject({ ownerId: null, waitingOwnerId: null, ended: { how: "release" } })
  })
})

describe("a ring", () => {
  // Tests rule 6: A wake-up brings a look forward and nothing else.
  it("makes a waiter look at once, which it would have done later", () => {
    const machine = new Machine()
    const a = machine.owner("a")
    const b = machine.waiter("b")
    machine.world.advance(20_000)
    const reads = (): number =>
      machine.world.requests.filter((each) => each.process === b && each.command.type === "read").length
    machine.world.until(() => machine.world.open(b) === undefined)
    const before = reads()
    machine.world.send(b, { type: "ring" })
    expect(reads()).toBe(before + 1)
    expect(a.holds(machine.world.at)).toBe(true)
  })

  it("makes an owner look for a waiter at once", () => {
    const machine = new Machine()
    const a = machine.owner("a")
    machine.world.advance(100)
    machine.waiter("b")
    expect(a.count("ReleaseRequested")).toBe(0)
    machine.world.send(a, { type: "ring" })
    machine.world.advance(2 * machine.world.latency)
    expect(a.count("ReleaseRequested")).toBe(1)
  })

  // Tests rule 9: An owner that is told of changes looks once in the life of a mark; one that no longer is, at once.
  it("spares an owner most looks, as long as it is told of every change", () => {
    const machine = new Machine()
    const a = machine.owner("a", { ttl: 600_000 })
    const readsIn = (ms: number): number => {
      const reads = (): number => machine.world.requests.filter(({ command }) => command.type === "read").length
      const before = reads()
      machine.world.advance(ms)
      return reads() - before
    }
    expect(readsIn(60_000)).toBeGreaterThan(100)
    a.watched(true, machine.world.at)
    machine.world.advance(1000)
    expect(readsIn(60_000)).toBe(5)
    a.watched(false, machine.world.at)
    expect(readsIn(5000)).toBeGreaterThan(8)
  })

  it("doesn't shorten the wait after a failure", () => {
    const machine = new Machine()
    machine.owner("a")
    const b = machine.process("b")
    b.network = "held"
    machine.world.send(b, acquire({ budgetMs: undefined }))
    machine.world.lose(machine.world.next(b))
    machine.world.send(b, { type: "ring" })
    expect(machine.world.open(b)).toBeUndefined()
  })

  it("is nothing to a key at rest", () => {
    const machine = new Machine()
    const b = machine.process("b")
    machine.world.send(b, { type: "ring" })
    expect(machine.world.open(b)).toBeUndefined()
  })
})

describe("process groups that an owner names", () => {
  const groupsOf = (machine: Machine): unknown =>
    (machine.world.store.body["owner"] as { host: { groups: unknown } }).host.groups

  // Tests rule 6: Process groups are named by an applied write of their owner, stay, and end with its ownership.
  it("are in its record by a renewal that comes now, and stay in it", () => {
    const machine = new Machine()
    const a = machine.owner("a")
    machine.world.advance(100)
    const before = machine.world.at
    machine.world.send(a, { type: "nameGroups", groups: [41, 42] })
    machine.world.until(() => a.count("Renewed") > 0)
    expect(machine.world.at - before).toBeLessThan(100)
    expect(groupsOf(machine)).toEqual([41, 42])
    machine.world.advance(25_000)
    expect(a.count("Renewed")).toBeGreaterThan(2)
    expect(groupsOf(machine)).toEqual([41, 42])
  })

  it("and that are there before the key is, are in the very write that takes it", () => {
    const machine = new Machine()
    const a = machine.process("a")
    const named = (): readonly number[] => (a.state.phase.name === "owning" ? a.state.phase.hold.named : [])
    machine.world.send(a, acquire({ groups: [41] }))
    machine.world.until(() => a.count("Acquired") > 0)
    expect(groupsOf(machine)).toEqual([41])
    expect(named()).toEqual([41])
    machine.world.until(() => a.count("Renewed") > 0)
    expect(groupsOf(machine)).toEqual([41])
  })

  it("and that are there before the key is granted, are in the first renewal", () => {
    const machine = new Machine()
    const a = machine.owner("a")
    const b = machine.waiter("b", { groups: [41] })
    machine.world.until(() => a.count("ReleaseRequested") > 0)
    machine.world.send(a, { type: "release" })
    machine.world.until(() => b.count("Acquired") > 0)
    expect(groupsOf(machine)).toEqual([])
    machine.world.until(() => b.count("Renewed") > 0)
    expect(groupsOf(machine)).toEqual([41])
  })

  it("are not told to be named by a renewal that was under way and says nothing of them", () => {
    const machine = new Machine()
    const a = machine.owner("a")
    a.network = "held"
    machine.world.send(a, { type: "renew" })
    const renewal = machine.world.next(a, "put")
    machine.world.send(a, { type: "nameGroups", groups: [41] })
    const named = (): readonly number[] => (a.state.phase.name === "owning" ? a.state.phase.hold.named : [])
    machine.world.answer(renewal)
    expect(a.count("Renewed")).toBe(1)
    expect(named()).toEqual([])
    machine.world.answer(machine.world.next(a, "put"))
    expect(named()).toEqual([41])
    expect(groupsOf(machine)).toEqual([41])
  })

  it("are named also where the write before them got no answer: its bytes are not sent again", () => {
    const machine = new Machine()
    const a = machine.owner("a")
    a.network = "held"
    machine.world.send(a, { type: "renew" })
    machine.world.lose(machine.world.next(a, "put"))
    machine.world.send(a, { type: "nameGroups", groups: [41] })
    a.network = "up"
    machine.world.until(() => a.count("Recovered") + a.count("Renewed") > 0)
    machine.world.advance(100)
    expect(groupsOf(machine)).toEqual([41])
  })

  it("are not carried on to the next owner", () => {
    const machine = new Machine()
    const a = machine.owner("a")
    machine.world.send(a, { type: "nameGroups", groups: [41] })
    machine.waiter("b")
    machine.world.until(() => a.count("ReleaseRequested") > 0)
    machine.world.send(a, { type: "release" })
    machine.world.until(() => a.phase === "idle")
    expect(machine.world.store.body["ownerId"]).toBe("b")
    expect(groupsOf(machine)).toEqual([])
  })
})

describe("since when", () => {
  it("is told for as long as one owns the key, and anew by the next", () => {
    const machine = new Machine()
    const since = (): unknown => (machine.world.store.body["owner"] as { since: unknown }).since
    const a = machine.owner("a")
    const first = since()
    machine.world.advance(50_000)
    expect(a.count("Renewed")).toBeGreaterThan(3)
    expect(since()).toBe(first)
    const b = machine.waiter("b")
    machine.world.send(a, { type: "release" })
    machine.world.until(() => b.holds(machine.world.at))
    machine.world.advance(20_000)
    expect(since()).toBeGreaterThanOrEqual((first as number) + 50)
    expect(b.last("Renewed")).toBeDefined()
  })
})

// Pins what the laws of a search call broken, each by the least that breaks it.
import { describe, expect, it } from "vitest"
import type { Head } from "../../../../src/actors/checkpoints/head/head.ts"
import { check } from "../../../../src/testing/check/mod.ts"
import { acquireOf } from "../../../../src/testing/check/moves/moves.ts"
import { strangerMoves } from "../../../../src/testing/check/moves/stranger.ts"
import { settingsOf } from "../../../../src/testing/check/options.ts"
import {
  asked,
  Broken,
  claimed,
  judge,
  losing,
  passing,
  refused,
  through,
  wrote,
} from "../../../../src/testing/check/world/laws.ts"
import { lockInput, newProcess } from "../../../../src/testing/check/world/processes.ts"
import { savedLog } from "../../../../src/testing/check/world/stores.ts"
import { type Mail, noStranger, type Process, type World } from "../../../../src/testing/check/world/world.ts"

const { rules, left } = settingsOf({ pauses: 1, cancels: 1 })
const process = newProcess("p", 0, rules, 0, 1)
const none = { writes: 0, generation: "0" }
const blank: World = {
  ...{ at: 0, lease: { ...none, text: undefined }, head: { ...none, head: null }, mail: [], left, born: 1 },
  ...{ acknowledged: [], topToken: 0, stranger: noStranger, passed: [], processes: [process] },
}
const holding = (record: object): World => ({
  ...blank,
  lease: { writes: 1, generation: "l@1", text: JSON.stringify(record) },
})

describe("turns", () => {
  const wished = settingsOf({ contention: "retry", pauses: 1, cancels: 1 })
  const waiter = {
    ...process,
    lock: { ...process.lock, phase: { name: "seeking", waiting: true } },
  } as unknown as Process
  const owned = (by: string, from: World = { ...blank, processes: [waiter] }): World => ({
    ...from,
    lease: { writes: 1, generation: `l@${by}`, text: JSON.stringify({ ownerId: by, expiresAt: 5 }) },
  })
  const turns = (...owners: readonly string[]): World =>
    owners.reduce((world, by) => passing(world, owned(by, world), wished.rules), owned("a"))

  it("may bring each other owner once before one that waits, and the same one on and on where it stays", () => {
    expect(turns("b", "b", "c").passed).toEqual([["p", ["b", "c"]]])
    expect(turns("b", "c", "p").passed).toEqual([])
  })

  // Tests rule 13a: Of those that want a key again and again, nobody waits longer than the others' turns.
  it("bring nobody twice, unless something befell somebody, or somebody gave up", () => {
    expect(() => turns("b", "c", "b")).toThrow(new Broken("b has the key twice while p waits for it"))
    const after = (rest: Partial<World["left"]>): World => {
      const world = turns("b", "c")
      return passing(world, owned("b", { ...world, left: { ...world.left, ...rest } }), wished.rules)
    }
    expect(after({ pauses: 0 }).passed).toEqual([["p", ["b", "c", "b"]]])
    expect(after({ cancels: 0 }).passed).toEqual([["p", ["b", "c", "b"]]])
  })

  it("are not looked at where whoever meets another waiter gives up", () => {
    const world = owned("b")
    expect(passing(owned("a"), world, rules)).toBe(world)
  })
})

describe("a write that leaves another the owner", () => {
  const before = holding({ ownerId: "q", expiresAt: 5 })

  it("may mark its writer as waiting, and take over", () => {
    const marked = holding({ ownerId: "q", expiresAt: 5, waitingOwnerId: "p" })
    expect(() => wrote(before, marked, "p")).not.toThrow()
    expect(() => wrote(before, holding({ ownerId: "p", expiresAt: 9 }), "p")).not.toThrow()
    expect(() => wrote(before, holding({ ownerId: null, expiresAt: 0 }), "q")).not.toThrow()
  })

  // Tests searches: A search's laws: no standing lease ended, none lost for no reason, nothing left of an attempt.
  it.each([
    ["moves the end of its lease", { ownerId: "q", expiresAt: 6 }, "p changes when the lease of q ends"],
    ["ends it", { ownerId: null, expiresAt: 0 }, "p ends the lease of q"],
  ])("breaks a law where it %s", (_, after, message) => {
    expect(() => wrote(before, holding(after), "p")).toThrow(new Broken(message))
  })
})

describe("an attempt that is over", () => {
  const put = (expected: string): Mail => ({
    ...{ of: "lease", from: 0, by: "p", awaited: false },
    command: { type: "put", id: 1, expected, body: `{"waiter":{"nonce":"p#1.n"}}` },
  })

  // Tests searches.
  it("leaves no mark, and nothing that may still come there", () => {
    through({ ...blank, mail: [put("l@9")] }, process, "p#1.n")
    through({ ...blank, mail: [put("0")] }, process, "p#2.n")
    expect(() => through({ ...blank, mail: [put("0")] }, process, "p#1.n")).toThrow("may still come there")
    expect(() => through(holding({ waitingOwnerId: "p" }), process, "p#1.n")).toThrow("still waits for it")
  })
})

// Tests searches.
it("a lease may be lost by what befell somebody, and not by a cancel", () => {
  losing({ ...blank, left: { ...left, pauses: 0, sum: 1 } }, process, rules)
  expect(() => losing({ ...blank, left: { ...left, cancels: 0, sum: 1 } }, process, rules)).toThrow(
    "p loses the key though nothing befell anybody",
  )
})

describe("a world", () => {
  const owning = (id: string, hasLeft = false): Process => {
    const wanting = newProcess(id, 0, rules, 0, 0)
    const [{ processes }] = lockInput({ ...blank, processes: [wanting] }, 0, acquireOf(rules), rules) as [World]
    const [owner] = processes as [Process]
    return { ...owner, activation: { ...owner.activation!, hasLeft } }
  }

  it("has one owner at most", () => {
    judge({ ...blank, processes: [owning("p")] }, rules)
    expect(() => judge({ ...blank, processes: [owning("p"), owning("q")] }, rules)).toThrow(
      "p and q hold the key at once",
    )
  })

  it("has no owner that has sent its leave", () => {
    expect(() => judge({ ...blank, processes: [owning("p", true)] }, rules)).toThrow(
      "p acts again after it sent its leave",
    )
  })

  it("has no owner beside a stranger, but one whose record was deleted before that one came", () => {
    const beside = (...ids: string[]): World => ({
      ...{ ...blank, processes: [owning("p")] },
      stranger: { until: 5000, beside: ids },
    })
    judge(beside("p"), rules)
    judge({ ...beside(), at: 5000 }, rules)
    expect(() => judge(beside("q"), rules)).toThrow("p and the stranger hold the key at once")
  })

  it("excuses an owner beside a stranger where its record was deleted, and not where the record names it yet", () => {
    const after = settingsOf({ strangers: 1, deletions: 1, commits: 1 })
    const deleted = { ...blank, processes: [owning("p")], left: { ...after.left, deletions: 0 } }
    const takes = (world: World): World => {
      const move = strangerMoves(world, after.rules).find(({ what }) => what === "a stranger takes the key")
      return move!.make()[0]!
    }
    expect(takes(deleted).stranger.beside).toEqual(["p"])
    const { lease } = holding({ ownerId: "p", expiresAt: 1 })
    expect(takes({ ...deleted, lease }).stranger.beside).toEqual([])
  })
})

it("nobody is waited for where nothing befell anybody", () => {
  const cancelled: World = { ...blank, left: { ...left, cancels: 0, sum: 1 } }
  claimed(cancelled, process, 0, rules)
  claimed({ ...blank, left: { ...left, pauses: 0, sum: 1 } }, process, 6000, rules)
  expect(() => claimed(cancelled, process, 6000, rules)).toThrow(
    new Broken("p waits 6000 ms for who has left, though nothing befell anybody"),
  )
})

describe("a commit that is refused", () => {
  const saves = (name: string) => ({ saved: savedLog(["p#c0", name]) }) as Head
  const stored = (name: string): World => ({ ...blank, head: { writes: 1, generation: "h@1", head: saves(name) } })
  const put = (name: string, expected: string): Mail => ({
    ...{ of: "head", from: 0, by: "p", awaited: false },
    command: { type: "put", request: 1, expected, head: saves(name), deadline: 0 },
  })

  it("is not there, and nothing that is under way brings it there", () => {
    const world = stored("q#c1")
    refused(world, process, "p#c2")
    refused({ ...world, mail: [put("p#c2", "h@0")] }, process, "p#c2")
    expect(() => refused(world, process, "q#c1")).toThrow("p is told that q#c1 was refused, and it is stored")
    expect(() => refused({ ...world, mail: [put("p#c2", "h@1")] }, process, "p#c2")).toThrow("may still be stored")
  })
})

it("nobody is asked to leave who owns nothing", () => {
  expect(() => asked(process, "q")).toThrow("p is asked to leave, and owns nothing")
})

// Tests searches: Deletion by hand sets no token back, and hides no owner from those who saw it.
it("a record that is deleted by hand sets no token back, and hides no owner from those who saw it", () => {
  const result = check({ releases: 1, deletions: 1 })
  expect(result).toMatchObject({ complete: true, broken: undefined })
  expect(result.leftOut.some((line) => line.startsWith("records that are deleted"))).toBe(true)
})

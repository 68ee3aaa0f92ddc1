// Pins the search: what each condition finds, and what is said of one that can't be asked.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parseSearch, type Search } from "../../../../src/inspector/live/model/search.ts"
import type { SandboxRow } from "../../../../src/inspector/live/model/wire.ts"
import { row, waiting } from "../made.ts"

const now = 1_000_000
const error = { tag: "StoreUnavailableError", code: "LEASEHOLD_STORE", message: "no route to host" }
const rows: readonly SandboxRow[] = [
  row({ key: "order/eu west", worker: "a", ownedSince: now - 301_000, since: now - 301_000, token: 9 }),
  row({ key: "order/us", worker: "b", ownedSince: now - 1000, since: now - 1000, handoffs: 5, stuck: "run" }),
  row({ key: "Invoice:7", worker: "a", value: waiting, since: now - 11_000, owner: { ownerId: "b1", address: null } }),
  row({ key: "-odd", worker: "ab", value: { owning: { work: "restoring", lease: "degraded" } }, since: now, error }),
]

const asked = (text: string): Search => {
  const search = parseSearch(text)
  if ("problem" in search) throw new Error(search.problem)
  return search
}
const found = (text: string): number[] => {
  const search = asked(text)
  return rows.flatMap((each, index) => (search.matches(each, now) ? [index] : []))
}

describe("a search", () => {
  it.each<[string, number[]]>([
    ["", [0, 1, 2, 3]],
    ["order/", [0, 1]],
    ["ORDER", [0, 1]],
    ['"eu west"', [0]],
    ["order west", [0]],
    ["worker:a", [0, 2]],
    ["worker:a order", [0]],
    ["-worker:a", [1, 3]],
    ["state:waiting", [2]],
    ["state:owning", [0, 1, 3]],
    ["state:degraded", [3]],
    ["state:owning.work.restoring", [3]],
    ["-state:owning", [2]],
    ["held>5m", [0]],
    ["held<5m", [1]],
    ["waited>10s", [2]],
    ["waited>10", [2]],
    ["in>11s", [0]],
    ["in>10.5s", [0, 2]],
    ["handoffs>3", [1]],
    ["token>8", [0]],
    ["owner:b1", [2]],
    ["error:route", [3]],
    ["is:stuck", [1]],
    ["is:failed", [3]],
    ["is:owned", [0, 1]],
    ["invoice:7", [2]],
    ['"-odd"', [3]],
    ["constructor:x", []],
    ["(.*)+$", []],
  ])("%s finds what it says", (text, indices) => {
    expect(found(text)).toEqual(indices)
  })

  it.each([
    ["held:5m", /write held>5m/],
    ["worker>3", /no number: write worker:3/],
    ["held>soon", /such as 10s, 5m, 2h/],
    ["held>5constructor", /can't be compared/],
    ["token>x", /write a number/],
    ["state:asleep", /no state asleep: use one of acquiring/],
    ["is:constructor", /use one of stuck, owned, failed/],
    ["worker:", /says nothing after its :/],
    ['worker:"a', /no other that ends it/],
    ["x".repeat(1001), /at most 1000 characters/],
  ])("%s is refused in words that help", (text, problem) => {
    expect(parseSearch(text)).toMatchObject({ problem: expect.stringMatching(problem) })
  })

  it("knows whether its answer changes as time goes by", () => {
    expect(asked("held>5m order").isTimed).toBe(true)
    expect(asked("worker:a").isTimed).toBe(false)
    expect([asked(" ").isEmpty, asked("a").isEmpty]).toEqual([true, false])
  })

  it("answers whatever is typed, and never throws", () => {
    const words = fc.constantFrom("worker", ":", ">", "<", '"', "-", " ", "held", "5m", "state", "is", "(", "__proto__")
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string({ unit: "binary" }))), (parts) => {
        const search = parseSearch(parts.join(""))
        const answers = "problem" in search ? [search.problem] : rows.map((each) => String(search.matches(each, now)))
        expect(answers.filter((text) => text.length < 4)).toEqual([])
      }),
    )
  })
})

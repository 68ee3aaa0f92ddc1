// Pins that the conformance suite passes right stores, that each of its cases refuses a store that is wrong in what the
// case is about, and what it says then.
import { describe, expect, it } from "vitest"
import { InvalidConfigError } from "../../../src/locks/api/errors.ts"
import { memoryStore } from "../../../src/locks/stores/memory-store.ts"
import { ABSENT, type ObjectStore } from "../../../src/locks/stores/port.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { conformance, ConformanceError, type ConformanceOptions, type MakeStore } from "../../../src/testing/mod.ts"
import { loseRequest, scripted, type ScriptedStore } from "../../support/scripted-store.ts"
import { sabotages } from "./sabotage.ts"
import type { Scene } from "./saboteurs.ts"

/**
 * Memory stores under virtual time, each place one of its own, whose network can fall silent; and wrong ones of them.
 */
function places(sabotage: (scene: Scene) => Partial<ObjectStore> = () => ({})): {
  clock: VirtualTime
  make: MakeStore
  options: ConformanceOptions
} {
  const clock = new VirtualTime()
  const stores = new Map<string, { real: ScriptedStore; made: number; silent: boolean }>()
  const make = (place: string): ObjectStore => {
    const known = stores.get(place) ?? { real: scripted(memoryStore({ clock }), clock), made: 0, silent: false }
    stores.set(place, known)
    const { real } = known
    return altered(real, sabotage({ real, clock, number: known.made++, silent: () => known.silent }))
  }
  const silence = (place: string): void => {
    const { real } = stores.get(place)!
    real.script.onRead(loseRequest())
    real.script.onPut(loseRequest())
    real.script.onRemove(loseRequest())
    real.script.onList(loseRequest())
    stores.get(place)!.silent = true
  }
  return { clock, make, options: { clock, silence } }
}

function altered(real: ObjectStore, changes: Partial<ObjectStore>): ObjectStore {
  const { name, capabilities } = real
  const own: ObjectStore = {
    name,
    capabilities,
    start: (...start) => real.start(...start),
    read: (...read) => real.read(...read),
    put: (...put) => real.put(...put),
    remove: (...remove) => real.remove(...remove),
    list: (...list) => real.list(...list),
    close: () => real.close(),
  }
  return Object.defineProperties(own, Object.getOwnPropertyDescriptors(changes))
}

/** What the case of that name says of such stores. */
async function verdict(name: string, sabotage?: (scene: Scene) => Partial<ObjectStore>): Promise<unknown> {
  const { clock, make, options } = places(sabotage)
  const found = conformance(make, options).find((one) => one.name === name)
  return clock.runUntil(
    found!.run().then(
      () => "it passed",
      (error: unknown) => error,
    ),
  )
}

const refusal = expect.objectContaining({ name: InvalidConfigError.name, next: expect.stringMatching(/./) })

const { make: makeRight, options: rightOptions } = places()
const cases = conformance(makeRight, rightOptions)

describe("the conformance suite", () => {
  it("has a store to refuse for each of its cases, and no two cases of one name", () => {
    expect(Object.keys(sabotages).toSorted()).toEqual(cases.map(({ name }) => name).toSorted())
  })

  it.each(cases)("passes a store that $name", async ({ name }) => {
    expect(await verdict(name)).toBe("it passed")
  })

  const wrong = Object.entries(sabotages).flatMap(([name, stores]) =>
    stores.map(([sabotage, says], index) => ({ name, which: index + 1, sabotage, says })),
  )

  it.each(wrong)("refuses a store of which it is not true that it $name ($which)", async ({ name, sabotage, says }) => {
    const error = await verdict(name, sabotage)
    expect(error).toBeInstanceOf(ConformanceError)
    expect(error).toHaveProperty("message", expect.stringMatching(says))
    expect(error).toHaveProperty("message", expect.stringMatching(/^The store .+\. The contract asks: .+\.$/))
  })

  it("leaves no timer behind, whatever a store does", async () => {
    const { clock, make, options } = places(({ real }) => ({ read: (...read) => real.read(...read) }))
    for (const { run } of conformance(make, options)) await clock.runUntil(run())
    expect(clock.pendingTimers).toBe(0)
  })

  it.each([
    ["a kind that there is not", { read: async () => ({ kind: "maybe" }) as never }, /with the kind maybe/],
    [
      "an error of its own",
      { read: async () => ({ kind: "failed", error: new Error("x") }) as never },
      /failed with Error: x/,
    ],
    ["an empty generation", { put: async () => ({ kind: "applied", generation: "" }) as const }, /the generation ""/],
    [
      "ABSENT for a generation",
      { put: async () => ({ kind: "applied", generation: ABSENT }) as const },
      /the generation "0"/,
    ],
    [
      "a body of text",
      { read: async () => ({ kind: "found", generation: "1", body: "" }) as never },
      /a body that is no bytes/,
    ],
    [
      "an error that it throws",
      {
        read: () => {
          throw new RangeError("thrown")
        },
      },
      /rejected a read of .* RangeError: thrown/,
    ],
    [
      "nothing, ever",
      { put: () => new Promise<never>(() => {}) },
      /did not settle a put of leases\/user-42 by its deadline/,
    ],
  ])("refuses %s as an answer", async (_, changes: Partial<ObjectStore>, says) => {
    const error = await verdict("keeps an empty body apart from no object", () => changes)
    expect(error).toBeInstanceOf(ConformanceError)
    expect(error).toHaveProperty("message", expect.stringMatching(says))
  })

  it("refuses a store that doesn't start, with its own error as the cause", async () => {
    const cause = new Error("no disk")
    const error = await verdict("creates once, and refuses to create what is there", () => ({
      start: () => Promise.reject(cause),
    }))
    expect(error).toMatchObject({ did: "rejected its start: Error: no disk", cause })
  })

  it("leaves out the cases of deletes for stores without them, and those of silence where nobody can make it", () => {
    const left = conformance(makeRight, { deletes: false }).map(({ name }) => name)
    expect(cases.map(({ name }) => name).filter((name) => !left.includes(name))).toEqual([
      "deletes on the newest generation only",
      "refuses to delete what is absent or deleted",
      "lets one through where ten deletes and ten writes of a generation come at once",
      "lists nothing that was deleted",
      "settles every call by its deadline though nothing answers, and says that it learned nothing",
      "settles every call that is given up though nothing answers",
    ])
  })

  // Tests searches: A suite of conformance has the cases that it was asked for; what can't be asked is refused.
  it.each<[string, object]>([
    ["no names", { names: 0 }],
    ["one name, which is no long list", { names: 1 }],
    ["names and a half", { names: 2.5 }],
    ["a deadline before now", { deadline: -5 }],
    ["a deadline of nothing", { deadline: 0 }],
    ["a deadline in words", { deadline: "10 s" }],
    ["a grace that is no number", { grace: Number.NaN }],
    ["an endless grace", { grace: Number.POSITIVE_INFINITY }],
    ["deletes that are neither", { deletes: "no" }],
    ["a silence that nobody can make", { silence: true }],
    ["a clock that is none", { clock: {} }],
    ["no clock", { clock: null }],
    ["a misspelt option", { delets: false }],
    ["a misspelt silence", { silense: () => {} }],
  ])("isn't made with %s", (_, options) => {
    expect(() => conformance(makeRight, options)).toThrow(refusal)
  })

  it.each([[undefined], [null], [{}]])("isn't made of %s in place of a function", (makeStore) => {
    expect(() => conformance(makeStore as never)).toThrow(refusal)
  })

  it("isn't made with null in place of options", () => {
    expect(() => conformance(makeRight, null as never)).toThrow(refusal)
  })
})

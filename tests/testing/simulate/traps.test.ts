/** Traps for time and chance that no seed controls. */
import { expect, it } from "vitest"
import { setTraps } from "../../../src/testing/simulate/traps.ts"

/** What each call throws, and what the traps have noted, with the traps gone. */
function trapped(call: () => unknown): {
  readonly thrown: unknown
  readonly calls: readonly { what: string; caller: string }[]
} {
  using traps = setTraps()
  try {
    call()
    return { thrown: undefined, calls: traps.calls }
  } catch (thrown) {
    return { thrown, calls: traps.calls }
  }
}

const forbidden: Readonly<Record<string, () => unknown>> = {
  "Date.now()": () => Date.now(),
  "new Date()": () => new Date(),
  "Date()": () => Date(),
  "Math.random()": () => Math.random(),
  "performance.now()": () => performance.now(),
  "setTimeout()": () => setTimeout(() => {}, 0),
  "setInterval()": () => setInterval(() => {}, 1),
  "setImmediate()": () => setImmediate(() => {}),
  "fetch()": () => fetch("http://127.0.0.1:1"),
  "crypto.randomUUID()": () => crypto.randomUUID(),
  "crypto.getRandomValues()": () => crypto.getRandomValues(new Uint8Array(1)),
  "crypto.subtle.digest()": () => crypto.subtle.digest("SHA-1", new Uint8Array(1)),
  "AbortSignal.timeout()": () => AbortSignal.timeout(1),
}

it.each(Object.entries(forbidden))("%s throws in a run, and its caller is named", (what, call) => {
  const { thrown, calls } = trapped(call)
  expect(thrown).toBeInstanceOf(Error)
  expect(calls).toMatchObject([{ what, caller: expect.stringContaining("traps.test") }])
})

it("a date of a given time is nobody's secret", () => {
  const { thrown, calls } = trapped(() => new Date(0).toISOString() + String(new Date("2026-01-01").getTime()))
  expect({ thrown, calls }).toEqual({ thrown: undefined, calls: [] })
})

it("traps that are taken away leave everything as it was", () => {
  const before = things()
  setTraps()[Symbol.dispose]()
  expect(things()).toEqual(before)
  expect(performance.now()).toBeGreaterThan(0)
})

const things = (): readonly unknown[] => {
  const { random } = Math
  return [Date, setTimeout, fetch, random, Object.getOwnPropertyDescriptor(performance, "now")]
}

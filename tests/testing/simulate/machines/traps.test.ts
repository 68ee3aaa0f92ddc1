/** Traps for time and chance that no seed controls. */
import nodeCrypto, { randomBytes as randomBytesByName } from "node:crypto"
import process from "node:process"
import timers, { setTimeout as setTimeoutByName } from "node:timers"
import waits, { setTimeout as waitByName } from "node:timers/promises"
import { expect, it } from "vitest"
import { setTraps } from "../../../../src/testing/simulate/machines/traps.ts"

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
  "process.hrtime()": () => process.hrtime(),
  "process.hrtime.bigint()": () => process.hrtime.bigint(),
  "process.uptime()": () => process.uptime(),
  "node:timers setTimeout()": () => timers.setTimeout(() => {}, 0),
  "node:timers setInterval()": () => timers.setInterval(() => {}, 1),
  "node:timers setImmediate()": () => timers.setImmediate(() => {}),
  "node:timers/promises setTimeout()": () => waits.setTimeout(0),
  "node:timers/promises setInterval()": () => waits.setInterval(1),
  "node:timers/promises setImmediate()": () => waits.setImmediate(),
  "node:timers/promises scheduler.wait()": () => waits.scheduler.wait(0),
  "node:timers/promises scheduler.yield()": () => waits.scheduler.yield(),
  "node:crypto randomBytes()": () => nodeCrypto.randomBytes(1),
  "node:crypto randomFill()": () => nodeCrypto.randomFill(new Uint8Array(1), () => {}),
  "node:crypto randomFillSync()": () => nodeCrypto.randomFillSync(new Uint8Array(1)),
  "node:crypto randomInt()": () => nodeCrypto.randomInt(9),
  "node:crypto randomUUID()": () => nodeCrypto.randomUUID(),
}

type Functions = Readonly<Record<string, () => unknown>>
const { Temporal } = globalThis as { readonly Temporal?: { readonly Now: Functions } }
const ofCrypto = nodeCrypto as object as Functions

/** What not every runtime has. */
const later: Functions = {
  ...("randomUUIDv7" in nodeCrypto && { "node:crypto randomUUIDv7()": () => ofCrypto["randomUUIDv7"]!() }),
  ...Object.fromEntries(
    (Temporal === undefined
      ? []
      : ["instant", "zonedDateTimeISO", "plainDateTimeISO", "plainDateISO", "plainTimeISO"]
    ).map((name) => [`Temporal.Now.${name}()`, () => Temporal!.Now[name]!()]),
  ),
}

// Tests simulations: In a simulated run the machine's own time and chance throw, and name their caller.
it.each(Object.entries({ ...forbidden, ...later }))("%s throws in a run, and its caller is named", (what, call) => {
  const { thrown, calls } = trapped(call)
  expect(thrown).toBeInstanceOf(Error)
  expect(calls).toMatchObject([{ what, caller: expect.stringContaining("traps.test") }])
})

it.each<[string, () => unknown, readonly string[]]>([
  ["node:timers setTimeout()", () => setTimeoutByName(() => {}, 0), []],
  ["node:timers/promises setTimeout()", () => waitByName(0), []],
  ["node:crypto randomBytes()", () => randomBytesByName(1), ["crypto.getRandomValues()"]],
])("%s is caught by an imported name as well, on Deno only by what it calls", (what, call, onDeno) => {
  const { calls } = trapped(call)
  expect(calls.map((each) => each.what)).toEqual("Deno" in globalThis ? onDeno : [what])
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
  expect(process.hrtime.bigint()).toBeGreaterThan(0n)
  expect(randomBytesByName(3)).toHaveLength(3)
})

const things = (): readonly unknown[] => {
  const { random } = Math
  return [
    ...[Date, setTimeout, fetch, random, Object.getOwnPropertyDescriptor(performance, "now")],
    ...[process, timers, waits, waits.scheduler, nodeCrypto, Temporal?.Now ?? {}].map((holder) =>
      Object.getOwnPropertyDescriptors(holder),
    ),
    ...[setTimeoutByName, waitByName, randomBytesByName],
  ]
}

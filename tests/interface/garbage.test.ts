/**
 * No public call guesses: what it can't mean is a typed error that says what to do next, whatever a caller without
 * types gives it.
 */
import { describe, expect, it } from "vitest"
import npm from "../../package.json" with { type: "json" }
import { LockError } from "../../src/mod.ts"
import { exported, objects } from "./calls.ts"
import { type Argument, optionsIn, outcome, withOption, wrongCalls, wrongOptions } from "./garbage.ts"

type Invoke = (...args: readonly unknown[]) => unknown

const isClass = (value: unknown): boolean => typeof value === "function" && /^class\b/.test(String(value))

/** Errors are for catching: nobody but leasehold makes one. */
const isError = (value: unknown): boolean => typeof value === "function" && value.prototype instanceof Error

/** All that a call must refuse and doesn't, as sentences. */
async function taken(name: string, args: readonly Argument[], invoke: Invoke): Promise<string[]> {
  const wrong = [...wrongCalls(args)]
  for (const [at, { isOptions }] of args.entries()) {
    if (isOptions !== true) continue
    const refusal = await outcome(() => invoke(...withOption(args, at, "durabel", true)))
    wrong.push(...wrongOptions(args, at, optionsIn(refusal)))
  }
  const found: string[] = []
  for (const { what, args: given } of wrong) {
    const error = await outcome(() => invoke(...given))
    if (!(error instanceof LockError) || error.next === "") found.push(`${name}, ${what}: ${String(error)}`)
  }
  return found
}

it("has the calls of every entry of the package", () => {
  const entries = Object.keys(npm.exports).filter((name) => name !== "./package.json")
  expect(Object.keys(exported).sort()).toEqual(entries.map((name) => `leasehold${name.slice(1)}`).sort())
})

describe.each(Object.entries(exported))("%s", (_entry, { entry, calls }) => {
  // Tests input: No public call guesses: each wrong argument is a typed error that says what to do.
  it("has no function or class but these", () => {
    const callable = Object.entries(entry).filter(([, value]) => typeof value === "function" && !isError(value))
    expect(callable.map(([name]) => name).sort()).toEqual(Object.keys(calls).sort())
  })

  it.each(Object.entries(calls))("%s refuses garbage", async (name, args) => {
    const value = (entry as Readonly<Record<string, unknown>>)[name] as Invoke &
      (new (...args: readonly unknown[]) => object)
    const invoke: Invoke = isClass(value) ? (...given) => new value(...given) : value
    expect(await taken(name, args, invoke)).toEqual([])
  })
})

/** The methods that an object has, its own and its class's. */
function methodsOf(object: object): readonly string[] {
  const names = new Set<string>()
  for (
    let at: object | null = object;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof value === "function" && name !== "constructor") names.add(name)
  }
  return [...names].sort()
}

describe.each(Object.entries(objects))("%s", (_name, { of, calls, exempt = {} }) => {
  // Tests input.
  it("has no method but these", async () => {
    await of(async (object) => {
      expect(methodsOf(object)).toEqual([...Object.keys(calls), ...Object.keys(exempt)].sort())
    })
  })

  it.each(Object.entries(calls))("%s refuses garbage", async (name, args) => {
    await of(async (object) => {
      const method = (object as Readonly<Record<string, Invoke>>)[name]!
      expect(await taken(name, args, method.bind(object))).toEqual([])
    })
  })
})

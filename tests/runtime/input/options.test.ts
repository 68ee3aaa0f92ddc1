import { describe, expect, it } from "vitest"
import { InvalidConfigError } from "../../../src/runtime/errors.ts"
import { aDuration, aFlag, refuseUnknown, shown } from "../../../src/runtime/input/options.ts"

const circle: Record<string, unknown> = {}
circle["self"] = circle

describe("a value in an error", () => {
  // Tests input: No public call guesses: each wrong argument is a typed error that says what to do.
  it.each([
    [Number.NaN, "NaN"],
    [-Infinity, "-Infinity"],
    [null, "null"],
    [undefined, "undefined"],
    ["30s", '"30s"'],
    ["x".repeat(81), `"${"x".repeat(80)}…"`],
    [10n, "10n"],
    [Symbol("s"), "a symbol"],
    [() => {}, "a function"],
    [[1], "an array"],
    [circle, "an object"],
    [Object.create(null), "an object"],
  ])("%# is told apart from all others", (value, text) => {
    expect(shown(value)).toBe(text)
  })
})

describe("options", () => {
  const known = { ttl: aDuration, durable: aFlag, free: true } as const
  const refuse = (given: unknown, required: readonly string[] = []) => {
    return () => refuseUnknown("acquire", given as object, known, required)
  }

  it.each([[{}], [{ ttl: 5 }], [{ ttl: undefined, durable: undefined }], [{ durable: false, free: Symbol("free") }]])(
    "%# are taken",
    (given) => {
      expect(refuse(given)).not.toThrow()
    },
  )

  // Tests input.
  it.each([
    [{ durabel: true }, "durabel is no option of acquire. Use some of ttl, durable, free."],
    [{ toString: 1 }, "toString is no option of acquire. Use some of ttl, durable, free."],
    [{ durable: "yes" }, 'durable is "yes". Give true or false.'],
    [{ durable: null }, "durable is null. Give true or false."],
    [{ ttl: Number.NaN }, "ttl is NaN, which is no duration."],
    [{ ttl: null }, "ttl is null, which is no duration."],
    [null, "The options of acquire are null. Give an object with some of ttl, durable, free, or leave it out."],
    [[], "The options of acquire are an array."],
    [5, "The options of acquire are 5."],
  ])("%# are refused by name, with what to give", (given, message) => {
    expect(refuse(given)).toThrow(InvalidConfigError)
    expect(refuse(given)).toThrow(message)
  })

  it("that are required are refused where they are absent", () => {
    expect(refuse({}, ["durable"])).toThrow("durable is undefined. Give true or false.")
    expect(refuse({ durable: true }, ["durable"])).not.toThrow()
  })
})

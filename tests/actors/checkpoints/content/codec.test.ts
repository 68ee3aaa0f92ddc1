import * as Schema from "effect/Schema"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import {
  bytes,
  checkpointCodec,
  type Codec,
  type CodecParts,
  type CodecScope,
  unchecked,
} from "../../../../src/actors/checkpoints/content/codec.ts"
import {
  CheckpointInvalidError,
  CheckpointVersionError,
  CorruptCheckpointError,
} from "../../../../src/locks/api/errors.ts"
import { bytesOf, failureOf, textOf } from "../world.ts"

/** A codec whose hooks run at once, and as long as they like. */
const codecOf = <In, Out>(schema: CodecParts<In, Out>["schema"], more: Partial<CodecParts<In, Out>> = {}) => {
  const codec = checkpointCodec({ version: 2, maxCheckpoint: 1000, ...more, schema })
  return {
    encode: (key: string, value: In) => codec.encode(scopeOf(key), value),
    decode: (key: string, saved: Uint8Array, from: number) => codec.decode(scopeOf(key), saved, from),
  }
}

const scopeOf = (lockKey: string): CodecScope => ({
  ...{ key: `its ${lockKey}`, lockKey, token: 7 },
  run: async (_hook, fn) => fn(new AbortController().signal),
})

type Kind = typeof CheckpointInvalidError | typeof CorruptCheckpointError

const refusal = async (promise: Promise<unknown>, kind: Kind = CheckpointInvalidError): Promise<string> => {
  const error = await failureOf(promise)
  expect(error).toBeInstanceOf(kind)
  return (error as Error).message
}

describe("a schema", () => {
  const counter = codecOf(z.object({ n: z.number().int(), name: z.string().default("none") }))

  it("stores its input side as JSON, and gives its output side back", async () => {
    const saved = await counter.encode("k", { n: 1 })
    expect(textOf(saved)).toBe('{"n":1}')
    expect(await counter.decode("k", saved, 2)).toEqual({ n: 1, name: "none" })
  })

  it("may turn what was saved into another type", async () => {
    const codec = codecOf(Schema.toStandardSchemaV1(Schema.Struct({ at: Schema.DateFromString })))
    const saved = await codec.encode("k", { at: "2024-02-29T00:00:00.000Z" })
    expect((await codec.decode("k", saved, 2)).at.getTime()).toBe(Date.UTC(2024, 1, 29))
  })

  // Tests rule 17: A checkpoint that JSON would change or that the schema refuses is never stored.
  it("that refuses a checkpoint is named with the path and its reason", async () => {
    const list = codecOf(z.object({ users: z.array(z.object({ age: z.number() })) }))
    const wrong = { users: [{ age: 1 }, { age: "old" }] } as unknown as { users: { age: number }[] }
    expect(await refusal(list.encode("k", wrong))).toMatch(/\$\.users\[1\]\.age: /)
  })

  it("sees the value as it will be read again, so that what JSON drops is missing to it", async () => {
    const codec = codecOf(z.object({ at: z.union([z.string(), z.undefined()]) }))
    expect(await refusal(codec.encode("k", { at: undefined }))).toContain("$.at")
    const lenient = codecOf(z.object({ at: z.string().optional() }))
    expect(textOf(await lenient.encode("k", { at: undefined }))).toBe("{}")
  })

  it("that throws, at once or later, refuses", async () => {
    const atOnce = (): never => {
      throw new Error("not today")
    }
    for (const validate of [atOnce, () => Promise.reject(new Error("not today"))]) {
      const throwing = codecOf<number, number>({ "~standard": { version: 1, vendor: "test", validate } })
      expect(await refusal(throwing.encode("k", 1))).toContain("not today")
      expect(await refusal(throwing.decode("k", bytesOf("1"), 2), CorruptCheckpointError)).toContain("not today")
    }
  })

  it("that refuses saved state makes it corrupt, with the path", async () => {
    expect(await refusal(counter.decode("k", bytesOf('{"n":0.5}'), 2), CorruptCheckpointError)).toMatch(/\$\.n: /)
  })

  it.each([
    ["not JSON", "{"],
    ["empty", ""],
    ["not UTF-8", "\u00ff"],
  ])("calls state that is %s corrupt", async (_w, text) => {
    const saved = Uint8Array.from(text, (char) => char.charCodeAt(0))
    expect(await refusal(counter.decode("k", saved, 2), CorruptCheckpointError)).toContain("can't be decoded")
  })
})

describe("a value that JSON would change", () => {
  const codec = codecOf(z.any())
  class Point {
    x = 1
  }
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle

  // Tests rule 17.
  it.each([
    ["a date", { at: [new Date(0)] }, /\$\.at\[0\] is an instance of Date/],
    ["NaN", { n: Number.NaN }, /\$\.n is NaN, which JSON turns into null/],
    ["a map", new Map([[1, 2]]), /\$ is an instance of Map/],
    ["an instance of a class", { p: new Point() }, /\$\.p is an instance of Point/],
    ["bytes", { raw: new Uint8Array(2) }, /\$\.raw is an instance of Uint8Array/],
    ["undefined in an array", [1, undefined], /\$\[1\] is undefined, which JSON turns into null/],
    ["an array with holes", Array(3), /\$ is an array with holes/],
    ["a function", { "a b": () => 1 }, /\$\["a b"\] is a function/],
    ["a bigint", { n: 1n }, /can't be written as JSON/],
    ["a cycle", cycle, /can't be written as JSON/],
    ["a symbol for a name", { [Symbol("s")]: 1 }, /has symbols for names/],
    ["toJSON", { a: { toJSON: () => "short" } }, /\$\.a is an object, which JSON turns into a string/],
    ["nothing at all", undefined, /\$ is undefined, which JSON can't hold/],
    ["a function alone", () => 1, /\$ is a function, which JSON can't hold/],
  ])("(%s) is refused with the path that changed", async (_what, value, message) => {
    expect(await refusal(codec.encode("k", value))).toMatch(message)
    expect(await refusal(codecOf(unchecked<unknown>()).encode("k", value))).toMatch(message)
  })

  it("isn't one where a property is undefined, null prototypes included", async () => {
    const value = Object.assign(Object.create(null) as object, { a: undefined, b: 1 })
    expect(textOf(await codec.encode("k", value))).toBe('{"b":1}')
  })

  it("isn't any value that came out of JSON", async () => {
    const wide = codecOf(z.any(), { maxCheckpoint: 1e6 })
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const parsed: unknown = JSON.parse(JSON.stringify(value))
        expect(await wide.decode("k", await wide.encode("k", parsed), 2)).toEqual(parsed)
      }),
      { numRuns: 200 },
    )
  })

  it("is refused when reading it throws", async () => {
    const value = {
      get n(): number {
        throw new Error("closed")
      },
    }
    expect(await refusal(codec.encode("k", value))).toContain("closed")
  })
})

describe("a codec", () => {
  it("stores bytes as they are", async () => {
    const codec = codecOf(bytes)
    const saved = await codec.encode("k", Uint8Array.of(0, 255))
    expect(await codec.decode("k", saved, 2)).toEqual(Uint8Array.of(0, 255))
  })

  it("may encode in chunks and decode as it likes", async () => {
    const lines: Codec<string[], number> = {
      async *encode(value) {
        for (const line of value) yield bytesOf(`${line}\n`)
      },
      async decode(chunks) {
        return textOf(await bytes.decode(chunks))!.split("\n").length - 1
      },
    }
    const codec = codecOf(lines)
    expect(await codec.decode("k", await codec.encode("k", ["a", "b"]), 2)).toBe(2)
  })

  it("is read no further than the cap", async () => {
    let chunks = 0
    const endless: Codec<null> = {
      async *encode() {
        for (;;) {
          chunks++
          yield new Uint8Array(400)
        }
      },
      decode: () => null,
    }
    expect(await refusal(codecOf(endless).encode("k", null))).toContain("1200 bytes or more, over the cap of 1000")
    expect(chunks).toBe(3)
  })

  it("that throws or gives no bytes refuses the checkpoint, and makes saved state corrupt", async () => {
    const broken: Codec<unknown> = {
      encode: () => ["text"] as unknown as AsyncIterable<Uint8Array>,
      decode: () => Promise.reject(new Error("unreadable")),
    }
    expect(await refusal(codecOf(broken).encode("k", 1))).toContain("not a Uint8Array")
    expect(await refusal(codecOf(broken).decode("k", bytesOf("1"), 2), CorruptCheckpointError)).toContain("unreadable")
  })

  it("without a schema gives JSON back as it is", async () => {
    const codec = codecOf(unchecked<{ n: number }>())
    expect(await codec.decode("k", await codec.encode("k", { n: 1 }), 2)).toEqual({ n: 1 })
  })
})

it("refuses what is over the cap, whatever made it", async () => {
  const codec = codecOf(z.string())
  expect((await codec.encode("k", "x".repeat(998))).length).toBe(1000)
  expect(await refusal(codec.encode("k", "x".repeat(999)))).toContain("raise maxCheckpoint")
})

describe("versions", () => {
  const schema = z.object({ total: z.number() })
  const old = bytesOf('{"n":5}')

  it("newer state is refused with both versions", async () => {
    const error = await failureOf(codecOf(schema).decode("k", old, 3))
    expect(error).toBeInstanceOf(CheckpointVersionError)
    expect(error).toMatchObject({ saved: 3, known: 2 })
  })

  it("older state is migrated before the schema sees it, and state of this version isn't", async () => {
    const from: number[] = []
    const migrate = (saved: unknown, version: number): unknown => {
      from.push(version)
      return { total: (saved as { n: number }).n }
    }
    const codec = codecOf(schema, { migrate })
    expect(await codec.decode("k", old, 1)).toEqual({ total: 5 })
    expect(await codec.decode("k", bytesOf('{"total":6}'), 2)).toEqual({ total: 6 })
    expect(from).toEqual([1])
  })

  it("a migrate that throws, or whose result the schema refuses, makes the state corrupt", async () => {
    const migrates = [
      () => {
        throw new Error("broken")
      },
      () => ({}),
    ]
    for (const migrate of migrates) {
      const decoded = codecOf(schema, { migrate }).decode("k", old, 1)
      expect(await refusal(decoded, CorruptCheckpointError)).toContain("mend it")
    }
  })

  it("a codec's decoded value is what is migrated", async () => {
    const codec = codecOf(unchecked<{ total: number }>(), {
      migrate: (saved) => ({ total: (saved as { n: number }).n }),
    })
    expect(await codec.decode("k", old, 1)).toEqual({ total: 5 })
  })
})

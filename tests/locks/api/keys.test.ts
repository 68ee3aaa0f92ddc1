/** Keys, and the names of their objects. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { LockError } from "../../../src/locks/api/errors.ts"
import {
  checkKey,
  decodeName,
  encodeName,
  namePrefix,
  sandboxLockKey,
  splitSandboxLockKey,
} from "../../../src/locks/api/keys.ts"

const isKey = (key: unknown): boolean => refusal(key) === undefined

function refusal(key: unknown): LockError | undefined {
  try {
    checkKey(key)
    return undefined
  } catch (error) {
    return error as LockError
  }
}

/** Any key, with more of what is special in names than chance would bring. */
const keys = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 120 }),
    fc.string({ unit: fc.constantFrom(..."aA/._-~=%:é漢\u{1F600}\uFEFF".match(/./gu)!), maxLength: 200 }),
  )
  .filter(isKey)

describe("a key", () => {
  it.each([
    ["is empty", ""],
    ["is over 512 bytes", "x".repeat(2000)],
    ["is over 512 bytes", "é".repeat(257)],
    ["is not in Unicode normal form C", "e\u0301"],
    ["has a control character", "a\u0000b"],
    ["has a control character", "a\nb"],
    ["has a control character", "a\u007fb"],
    ["has a control character", "a\u2028b"],
    ["has a . or .. segment", ".."],
    ["has a . or .. segment", "a/../b"],
    ["has a . or .. segment", "./a"],
    ["has a lone surrogate", "a\ud800"],
    ["is not a string", 7],
    ["is not a string", undefined],
    ["is not a string", Object.create(null)],
    ["is not a string", Symbol("key")],
  ])("is nothing that %s", (why, key) => {
    expect(refusal(key)).toMatchObject({ _tag: "InvalidKeyError", message: expect.stringContaining(why) })
    expect(refusal(key)!.next).toContain("512 bytes")
  })

  it.each(["a", "x".repeat(512), "é".repeat(256), "a b", "...", "a/..b", "/", "a//b", "漢字/\u{1F600}", "\uFEFFa"])(
    "can be %j",
    (key) => {
      expect(refusal(key)).toBeUndefined()
    },
  )
})

describe("the name of a key", () => {
  it("is read back as the key, or not at all where it holds only a hash", () => {
    fc.assert(
      fc.property(keys, (key) => {
        const name = encodeName(key)
        expect(decodeName(name)).toBe(name.includes("~") ? undefined : key)
      }),
      { numRuns: 2000, seed: 1 },
    )
  })

  // Tests record: Names never collide in any store.
  // Tests input: Keys may be empty, 2,000 bytes, not NFC, with control characters or `..`, or look alike.
  it("is shared by no two keys, also where case is ignored and names are normalised", () => {
    fc.assert(
      fc.property(keys, keys, (one, other) => {
        const fold = (key: string): string => encodeName(key).toUpperCase().normalize("NFD")
        expect(fold(one) === fold(other)).toBe(one === other)
      }),
      { numRuns: 2000, seed: 1 },
    )
    const alike = ["a/b", "a_b", "a%2Fb", "A/B", "a=2fb", "a~b", "a.b", ".a", "=2ea", "é", "É"]
    expect(new Set(alike.map((key) => encodeName(key).toLowerCase())).size).toBe(alike.length)
  })

  it("is one path segment of at most 180 harmless characters, never hidden and never . or ..", () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(encodeName(key)).toMatch(/^[a-z0-9_=-][a-z0-9._=~-]{0,179}$/)
      }),
      { numRuns: 2000, seed: 1 },
    )
  })

  it("longer than 180 characters becomes a prefix, ~ and a hash of the whole key", () => {
    const key = `${"Ab".repeat(100)}-1`
    expect(encodeName(key)).toMatch(/^[a-z0-9=]{98,100}~[0-9a-f]{64}$/)
    expect(encodeName(key)).not.toBe(encodeName(`${"Ab".repeat(100)}-2`))
    expect(encodeName("a".repeat(180))).toBe("a".repeat(180))
    expect(encodeName("a".repeat(181))).toMatch(/^a{100}~[0-9a-f]{64}$/)
  })

  it("is no name that nobody made: a foreign file has no key", () => {
    for (const name of ["=zz", "a=", "=4", "A", "=61", "a b", "=ff=fe", ".hidden"])
      expect(decodeName(name)).toBeUndefined()
  })

  it("begins as the names of all keys with the same beginning do", () => {
    fc.assert(
      fc.property(keys, fc.nat(60), (key, length) => {
        const prefix = Array.from(key).slice(0, length).join("")
        expect(encodeName(key).startsWith(namePrefix(prefix))).toBe(true)
      }),
      { numRuns: 2000, seed: 1 },
    )
  })

  it("of another area can't be reached: there is no / in it", () => {
    expect(encodeName("../state/x")).not.toContain("/")
  })
})

describe("the lock key of a sandbox", () => {
  it("is made by one definition and key only, and split into them again", () => {
    const parts = fc.string({ unit: fc.constantFrom(..."ab/%2F5é".match(/./gu)!), minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(parts, parts, (definition, key) => {
        expect(splitSandboxLockKey(sandboxLockKey(definition, key))).toEqual({ definition, key })
      }),
      { numRuns: 2000, seed: 1 },
    )
    expect(sandboxLockKey("a/b", "c")).not.toBe(sandboxLockKey("a", "b/c"))
    expect(sandboxLockKey("counter", "user-42")).toBe("counter/user-42")
  })

  it("that was not made of a definition and a key is not split", () => {
    for (const key of ["a", "a/b/c", "a%/b", "a%41/b", "a/%2f"]) expect(splitSandboxLockKey(key)).toBeUndefined()
  })
})

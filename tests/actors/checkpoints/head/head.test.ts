import { Buffer } from "node:buffer"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  fitsInline,
  formatHead,
  type Head,
  HEAD_LIMIT,
  INLINE_LIMIT,
  inlineBytes,
  inlined,
  KEPT_LIMIT,
  parseHead,
} from "../../../../src/actors/checkpoints/head/head.ts"
import { digestOf } from "../../../../src/actors/checkpoints/objects/digest.ts"
import { contentName, contentRef, contentToken, headRef } from "../../../../src/actors/checkpoints/objects/names.ts"
import { CorruptCheckpointError, FormatVersionError } from "../../../../src/locks/api/errors.ts"
import { bytesOf, lockKey } from "../world.ts"

const place = { store: "memory", lockKey, type: "counter" }
const sha = "a".repeat(64)

const head = (more: Partial<Head> = {}): Head => ({
  v: 1,
  needs: [],
  key: lockKey,
  type: "counter",
  leases: "memory",
  ttlMs: 30_000,
  token: 5,
  nonce: "n",
  seq: 3,
  version: 1,
  opId: "op",
  predecessorOpId: null,
  waitOutMs: 0,
  saved: { state: "none" },
  kept: [],
  extra: {},
  ...more,
})

const saved = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => inlined(bytes, digestOf(bytes))),
  fc.constantFrom(...([{ state: "none" }, { state: "removed" }] as const)),
  fc.nat().map((bytes) => ({ state: "content", content: `5-${bytes}-x`, sha256: sha, bytes }) as const),
)

describe("a head", () => {
  it("reads back as it was written, unknown fields included", () => {
    fc.assert(
      fc.property(
        saved,
        fc.constantFrom(0, 30_000),
        fc.dictionary(
          fc.string().map((name) => `x-${name}`),
          fc.jsonValue(),
        ),
        (state, waitOutMs, unknown) => {
          const extra = JSON.parse(JSON.stringify(unknown)) as Record<string, unknown>
          const kept = [{ content: "4-1-y", sha256: sha, bytes: 9, version: 1, note: "from a later release" }]
          const whole = head({ saved: state, kept, extra, predecessorOpId: "before", waitOutMs })
          expect(parseHead(formatHead(whole), place)).toEqual(whole)
        },
      ),
    )
  })

  it("is one flat JSON object of the published fields", () => {
    const bytes = bytesOf("hi")
    const body = JSON.parse(
      Buffer.from(formatHead(head({ saved: inlined(bytes, digestOf(bytes)) }))).toString(),
    ) as object
    expect(Object.keys(body).sort()).toEqual(
      ["bytes", "inline", "key", "kept", "leases", "needs", "nonce", "opId", "over", "seq", "sha256"]
        .concat(["state", "token", "ttlMs", "type", "v", "version"])
        .sort(),
    )
  })

  it.each(["v", "key", "type", "leases", "ttlMs", "token", "nonce", "seq", "version", "opId", "over", "state", "kept"])(
    "without %s is corrupt, and the error names it",
    (name) => {
      const body = JSON.parse(Buffer.from(formatHead(head())).toString()) as Record<string, unknown>
      delete body[name]
      expect(() => parseHead(bytesOf(JSON.stringify(body)), place)).toThrow(CorruptCheckpointError)
      expect(() => parseHead(bytesOf(JSON.stringify(body)), place)).toThrow(new RegExp(`damaged.*${name}`))
    },
  )

  it("never throws anything but a typed error, whatever its bytes", () => {
    const damaged = fc.oneof(
      fc.uint8Array(),
      fc.json().map(bytesOf),
      fc
        .tuple(fc.constantFrom(...Object.keys(head()), "inline", "sha256", "bytes", "content"), fc.jsonValue())
        .map(([name, value]) => {
          const body = JSON.parse(Buffer.from(formatHead(head())).toString()) as object
          return bytesOf(JSON.stringify({ ...body, [name]: value }))
        }),
    )
    const outcome = (body: Uint8Array): unknown => {
      try {
        return parseHead(body, place) && "a head"
      } catch (error) {
        return (error as object).constructor
      }
    }
    fc.assert(
      fc.property(damaged, (body) => {
        expect(["a head", CorruptCheckpointError, FormatVersionError]).toContain(outcome(body))
      }),
      { numRuns: 1000 },
    )
  })

  it("with an inline state at its limit and all the contents it can keep is still readable", () => {
    const bytes = new Uint8Array(INLINE_LIMIT).fill(255)
    const kept = Array.from({ length: KEPT_LIMIT }, (_, n) => ({
      content: contentName(2 ** 52, 2 ** 52 + n, "x".repeat(16)),
      sha256: sha,
      bytes: 2 ** 52,
      version: 2 ** 31,
    }))
    const key = "k".repeat(512)
    const full = head({ saved: inlined(bytes, digestOf(bytes)), kept, key, type: key, leases: key })
    expect(fitsInline(full, bytes.length)).toBe(true)
    expect(formatHead(full).length).toBeLessThan(HEAD_LIMIT - 2048)
  })

  it("gives its inline bytes only when they match their checksum", () => {
    const bytes = bytesOf("state")
    const state = inlined(bytes, digestOf(bytes)) as Extract<Head["saved"], { state: "inline" }>
    expect(inlineBytes(state, place)).toEqual(bytes)
    for (const wrong of [{ inline: "" }, { inline: "c3RhdGU" + "x" }, { bytes: 6 }, { sha256: sha }])
      expect(() => inlineBytes({ ...state, ...wrong }, place)).toThrow(CorruptCheckpointError)
  })
})

describe("names", () => {
  it("of a head and of content lie under the encoded lock key", () => {
    expect(headRef("Counter/a b")).toEqual({ area: "state", name: "=43ounter=2fa=20b/head" })
    expect(contentRef("c/a", contentName(12, 3, "AbC_-9"))).toEqual({ area: "state", name: "c=2fa/12-3-abc_-9" })
  })

  it("of content tell their token, and nothing else does", () => {
    expect(contentToken("12-3-abc")).toBe(12)
    for (const other of ["head", "12-3", "-1-2-x", "1-2-x/y", "../1-2-x", "1-2-X", "1.5-2-x"])
      expect(contentToken(other)).toBeUndefined()
  })
})

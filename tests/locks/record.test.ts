/** The lease record: what is read from it, and which half counts. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { LockError } from "../../src/locks/api/errors.ts"
import { corrupt, isToken, needsError, ownerOf, parseRecord, toSeconds } from "../../src/locks/record.ts"

const published = { ownerId: "a", expiresAt: 1678886400.5, waitingOwnerId: "b", waiterExpiresAt: 1678886380.25 }
const owner = {
  for: "a",
  expiresAt: 1678886400.5,
  token: 1678886340017,
  ttlMs: 30_000,
  nonce: "na",
  opId: "oa",
  address: "http://a",
  stateVersion: 3,
  process: null,
  host: null,
}
const waiter = { for: "b", expiresAt: 1678886380.25, nonce: "nb", accepts: ["grant"], opId: "ob", bootId: null }
const whole = { ...published, v: 1, needs: [], key: "k", owner, waiter, ended: null, writtenAt: 1678886370.123 }

const parse = (body: unknown): ReturnType<typeof parseRecord> => parseRecord("k", JSON.stringify(body))

function failure(body: unknown): LockError {
  try {
    parse(body)
  } catch (error) {
    return error as LockError
  }
  throw new Error("it was read")
}

function outcome(text: string): string {
  try {
    parseRecord("k", text)
    return "a record"
  } catch (error) {
    return error instanceof LockError ? error._tag : String(error)
  }
}

describe("a record", () => {
  it("is read with its times in milliseconds, and both halves where they count", () => {
    const record = parse(whole)
    expect(record).toMatchObject({
      ownerId: "a",
      expiresAt: 1678886400500,
      waitingOwnerId: "b",
      writtenAt: 1678886370123,
    })
    expect(record.waiterExpiresAt).toBe(1678886380250)
    expect(record.owner).toEqual(owner)
    expect(record.waiter).toEqual(waiter)
    expect(record.body).toEqual(whole)
  })

  it("of the four published fields is a record, without halves", () => {
    expect(parse(published)).toMatchObject({
      owner: undefined,
      waiter: undefined,
      lastRelease: undefined,
      writtenAt: undefined,
    })
  })

  it("without an owner is free: null, or empty, or with any time", () => {
    for (const ownerId of [null, ""]) {
      expect(parse({ ownerId, expiresAt: -7 })).toMatchObject({ ownerId: null, expiresAt: 0, waitingOwnerId: null })
    }
  })

  it("that lacks ownerId or expiresAt is no record", () => {
    for (const body of [{}, { ownerId: null }, { expiresAt: 0 }]) expect(failure(body)._tag).toBe("CorruptRecordError")
  })

  it("survives being written and read: seconds of a record and milliseconds are the same number to the millisecond", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (ms) => {
        expect(parse({ ...published, expiresAt: toSeconds(ms) }).expiresAt).toBe(ms)
      }),
      { seed: 1 },
    )
  })
})

describe("a half", () => {
  // Tests record: A half counts only beside the pair it was written with.
  it("counts only beside the very pair that it was written with", () => {
    expect(parse({ ...whole, ownerId: "s" }).owner).toBeUndefined()
    expect(parse({ ...whole, expiresAt: 1678886400.6 }).owner).toBeUndefined()
    expect(parse({ ...whole, waitingOwnerId: "s" }).waiter).toBeUndefined()
    expect(parse({ ...whole, waiterExpiresAt: 1678886380.3 }).waiter).toBeUndefined()
  })

  it("that doesn't count may be anything", () => {
    for (const half of [{ for: "x", expiresAt: 1, token: "no" }, [], "half", 7]) {
      expect(parse({ ...whole, owner: half, waiter: half })).toMatchObject({ owner: undefined, waiter: undefined })
    }
  })

  it("that counts with wrong types is corrupt", () => {
    const changes = [{ token: -1 }, { token: 1.5 }, { ttlMs: 0 }, { nonce: "" }, { opId: null }, { address: 7 }]
    const more = [{ stateVersion: "3" }, { host: "h" }, { deletes: "yes" }, { token: 2 ** 53 - 1 }]
    for (const change of [...changes, ...more]) {
      expect(failure({ ...whole, owner: { ...owner, ...change } })._tag).toBe("CorruptRecordError")
    }
    for (const change of [{ nonce: 7 }, { opId: undefined }]) {
      expect(failure({ ...whole, waiter: { ...waiter, ...change } })._tag).toBe("CorruptRecordError")
    }
  })

  it("keeps what isn't known in it, and may lack what came later", () => {
    expect(parse({ ...whole, owner: { ...owner, shape: 1 } }).owner).toMatchObject({ shape: 1 })
    const { address: _, stateVersion: __, host: ___, ...old } = owner
    expect(parse({ ...whole, owner: old }).owner).toMatchObject({ nonce: "na" })
  })

  it("of a waiter accepts nothing where accepts is no list, and keeps ways that nobody knows", () => {
    expect(parse({ ...whole, waiter: { ...waiter, accepts: "grant" } }).waiter?.accepts).toEqual([])
    expect(parse({ ...whole, waiter: { ...waiter, accepts: ["later"] } }).waiter?.accepts).toEqual(["later"])
  })
})

describe("the end of the last ownership", () => {
  it("is read, and an unknown manner is one", () => {
    const ended = { token: 5, by: "o", how: "grant", note: { x: 1 } }
    expect(parse({ ...whole, ended }).lastRelease).toEqual(ended)
    expect(parse({ ...whole, ended: { token: 5, by: "o", how: 7 } }).lastRelease).toEqual({
      token: 5,
      by: "o",
      how: "unknown",
      note: null,
    })
  })

  it("with wrong types is corrupt", () => {
    for (const ended of ["grant", [], { by: "o" }, { token: 1 }, { token: "1", by: "o" }]) {
      expect(failure({ ...whole, ended })._tag).toBe("CorruptRecordError")
    }
  })
})

describe("needs", () => {
  // Tests record: No record is CorruptRecordError; an unknown need is FormatVersionError, never written over.
  it("make a record one that is read by its published fields alone", () => {
    const record = parse({ ...whole, needs: ["heartbeat"], owner: { new: "shape" }, ended: 7 })
    expect(record).toMatchObject({
      ownerId: "a",
      needs: ["heartbeat"],
      owner: undefined,
      waiter: undefined,
      lastRelease: undefined,
    })
    const error = needsError("k", record)
    expect(error).toMatchObject({ _tag: "FormatVersionError", needs: ["heartbeat"], owner: { ownerId: "a", token: 0 } })
    expect(error.message).toContain("Upgrade leasehold")
  })

  it("absent or null are none, anything but names is corrupt, and a greater v alone refuses nothing", () => {
    expect(parse({ ...published, needs: null, v: 9 }).needs).toEqual([])
    for (const needs of ["x", [7], {}]) expect(failure({ ...published, needs })._tag).toBe("CorruptRecordError")
  })
})

describe("any bytes", () => {
  // Tests input: Records may be truncated, no JSON, an array, 50 MB, far in time, or another object's.
  // Tests record.
  it("are a record or CorruptRecordError, never another error", () => {
    const mutilated = fc.record(
      Object.fromEntries(
        Object.keys(whole).map((field) => [
          field,
          fc.oneof(
            fc.json().map((text) => JSON.parse(text)),
            fc.constant(whole[field as keyof typeof whole]),
          ),
        ]),
      ),
      { requiredKeys: [] },
    )
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      mutilated.map((body) => JSON.stringify(body)),
    )
    fc.assert(
      fc.property(texts, (text) => {
        expect(["a record", "CorruptRecordError"]).toContain(outcome(text))
      }),
      { numRuns: 2000, seed: 1 },
    )
  })

  it("cut off anywhere are corrupt", () => {
    const text = JSON.stringify(whole)
    for (let length = 0; length < text.length; length++) {
      expect(() => parseRecord("k", text.slice(0, length))).toThrow(LockError)
    }
  })

  it("that are corrupt name the key and say what to do", () => {
    expect(() => corrupt("k", "it is not JSON")).toThrow(
      /under "k" is not its lease record: it is not JSON\. Look at the object/,
    )
  })
})

describe("the owner that callers see", () => {
  it("has what the record tells of it, and no more", () => {
    expect(ownerOf(parse(whole))).toEqual({
      ownerId: "a",
      token: 1678886340017,
      expiresAt: 1678886400500,
      address: "http://a",
      checkpointVersion: 3,
      waiterId: "b",
    })
    expect(ownerOf(parse({ ownerId: "s", expiresAt: 1678886400.5 }))).toEqual({
      ownerId: "s",
      token: 0,
      expiresAt: 1678886400500,
    })
  })

  it("tells its process where the record tells it in the right types, and nothing else of its host", () => {
    const housed = (host: unknown) => ownerOf(parse({ ...whole, owner: { ...owner, host } }))
    const host = { name: "build-3", pid: 41, startedAt: "7", bootId: "b", pidNs: "n", groups: [9] }
    expect(housed(host)).toEqual({ ...ownerOf(parse(whole)), pid: 41, host: "build-3" })
    for (const odd of [{ name: "", pid: 0 }, { name: 7, pid: "41" }, { pid: -1 }, {}, null]) {
      expect(housed(odd)).toEqual(ownerOf(parse(whole)))
    }
  })

  it("is undefined where there is none", () => {
    expect(ownerOf(undefined)).toBeUndefined()
    expect(ownerOf(parse({ ownerId: null, expiresAt: 0 }))).toBeUndefined()
  })
})

describe("a token", () => {
  it("is a whole number that leaves room for the next ones", () => {
    expect([0, 1678886340017, 2 ** 52].map(isToken)).toEqual([true, true, true])
    expect([-1, 0.5, NaN, Infinity, "7", null, 2 ** 53 - 1].map(isToken)).toEqual(
      Array.from({ length: 7 }, () => false),
    )
  })
})

// Pins what a trace tells of a write that took effect, whatever was written.
import { describe, expect, it } from "vitest"
import { appliedWrite } from "../../src/trace/applied.ts"

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value))
const write = { worker: "a", area: "leases", name: "k", before: "1", generation: "2" } as const

describe("a write that took effect", () => {
  it("of a lease record tells who owns and who waits", () => {
    const body = bytes({
      ...{ ownerId: "a", expiresAt: 1_700_000_030.5, waitingOwnerId: "b", waiterExpiresAt: 1_700_000_012 },
      owner: { for: "a", token: 7 },
    })
    const lease = { ownerId: "a", token: 7, expiresAt: 1_700_000_030_500, waiterId: "b" }
    expect(appliedWrite({ ...write, body })).toEqual({ ...write, op: "put", lease })
  })

  it("tells one mark of a waiter from the next", () => {
    const pair = { ownerId: null, expiresAt: 0, waitingOwnerId: "b", waiterExpiresAt: 9 }
    const marked = (waiter: object) => appliedWrite({ ...write, body: bytes({ ...pair, waiter }) }).lease
    expect(marked({ for: "b", nonce: "n1" })).toMatchObject({ waiterId: "b", waiterNonce: "n1" })
    expect(marked({ for: "c", nonce: "n1" })).not.toHaveProperty("waiterNonce")
  })

  it("believes no half beside another's pair, as of a stranger who kept it", () => {
    const body = bytes({ ownerId: "s", expiresAt: 1, owner: { for: "a", token: 7 } })
    expect(appliedWrite({ ...write, worker: null, body }).lease).toMatchObject({ ownerId: "s", token: null })
  })

  it("of a released record tells that nobody owns", () => {
    const lease = { ownerId: null, token: null, expiresAt: 0, waiterId: null }
    expect(appliedWrite({ ...write, body: bytes({ ownerId: null, expiresAt: 0 }) }).lease).toEqual(lease)
  })

  it("of a head tells its token, number and state, and of content nothing", () => {
    const head = { token: 7, nonce: "n", seq: 3, state: "inline", sha256: "abc" }
    const state = { ...write, area: "state", name: "k/head" } as const
    expect(appliedWrite({ ...state, body: bytes({ ...head, more: 1 }) })).toEqual({ ...state, op: "put", head })
    const content = { ...state, name: "k/7-3-x" }
    expect(appliedWrite({ ...content, body: bytes(head) })).toEqual({ ...content, op: "put" })
  })

  it.each(["<html>", "7", "null", "[1]", "\u0000"])("of %j tells that it was written", (text) => {
    expect(appliedWrite({ ...write, body: bytes(text) })).toEqual({ ...write, op: "put" })
  })

  it("of a removal tells that there is nothing now", () => {
    expect(appliedWrite({ ...write, body: undefined })).toEqual({ ...write, op: "remove", generation: "0" })
  })
})

// Pins what a live trace leaves out: what may quote a user's values, and credentials; and that what it keeps has
// bounds.
import { describe, expect, it } from "vitest"
import {
  CheckpointInvalidError,
  HandingOffError,
  LockLostError,
  StoreUnavailableError,
} from "../../../src/locks/api/errors.ts"
import { bareAddress, errorOf, safeLine, withoutCredentials } from "../../../src/trace/live/redacted.ts"
import type { LockLine, RequestLine } from "../../../src/trace/trace.ts"

const about = { message: "It happened to counter/k", next: "Do this", key: "counter/k" }
const secret = new Error("the password is hunter2")

describe("an error in a live trace", () => {
  // Tests traces: A live trace has no credentials, has a user's values only where asked for, and has bounds.
  it("has its message where all words are leasehold's", () => {
    const lost = new LockLostError({ ...about, reason: "expired", since: 1 })
    const unavailable = new StoreUnavailableError({ ...about, status: 503, cause: lost })
    expect(errorOf(false)(lost).message).toBe("It happened to counter/k. Do this.")
    expect(errorOf(false)(unavailable)).toEqual({
      ...{ tag: "StoreUnavailableError", code: "LEASEHOLD_STORE", status: 503 },
      message: "It happened to counter/k. Do this.",
    })
  })

  it.each([
    ["it is a user's", secret],
    ["a user's is behind it", new HandingOffError({ ...about, cause: secret })],
    [
      "a user's is far behind it",
      new StoreUnavailableError({ ...about, cause: new HandingOffError({ ...about, cause: secret }) }),
    ],
    ["it quotes state", new CheckpointInvalidError(about)],
    ["it is none", "hunter2"],
  ])("has none where %s, and has it all where that is asked for", (_why, error) => {
    expect(errorOf(false)(error).message).toBe("(redacted)")
    expect(errorOf(true)(error).message).toBe(error instanceof Error ? error.message : error)
  })

  it("has bounds", () => {
    const long = Object.assign(new Error("m".repeat(1e6)), { name: "n".repeat(1e6), status: "s".repeat(1e6) })
    const { tag, message, status } = errorOf(true)(long)
    expect([tag.length < 300, message.length < 2100, String(status).length < 300]).toEqual([true, true, true])
    expect(message).toMatch(/… \(\+\d+ characters\)$/)
  })

  it("is told as one that can't be read, where it is built to do harm", () => {
    const hostile = Object.defineProperty(new Error("x"), "message", { get: () => raise() })
    const proxy: unknown = new Proxy(new Error("x"), { getPrototypeOf: () => raise() })
    const unreadable = { tag: "unknown", code: null, message: "(what was thrown can't be read)" }
    expect(errorOf(true)(hostile)).toEqual(unreadable)
    expect(errorOf(true)(proxy)).toEqual(unreadable)
    expect(errorOf(false)(proxy).message).toBe("(redacted)")
    expect(errorOf(true)(Object.assign(new Error(), { message: 7, name: { toString: () => "odd" } }))).toEqual({
      ...{ tag: "odd", code: null, message: "7" },
    })
  })

  it("has no credentials, also where its message is shown", () => {
    expect(errorOf(true)(new Error("at https://u:it's@h:1/x?token=t, or http://h/#t")).message).toBe(
      "at https://…@h:1/x?… or http://h/?…",
    )
  })
})

describe("an address in a live trace", () => {
  // Tests traces.
  it.each([
    ["http://10.0.0.3:8080", "http://10.0.0.3:8080"],
    ["http://user:key@host/way?token=t#f", "http://…@host/way?…"],
    ["HTTPS://user@host", "HTTPS://…@host"],
    ["user:key@host:80?x=1", "…@host:80?…"],
    ["host:80#token", "host:80?…"],
    ["http://user:it's@host/", "http://…@host/"],
    ['http://user:a"b c<d>@host/', "http://…@host/"],
    ["postgres://user:a/b#c?d@host/db?x=1", "postgres://…@host/db?…"],
    ["//user:key@host/way", "//…@host/way"],
    ["http:/user:key@host", "http:/…@host"],
    ["http://[::1]:80/a@b", "http://[::1]:80/a@b"],
    ["http://host/a@b?x=1", "http://host/a@b?…"],
  ])("%s is %s", (address, bare) => {
    expect(bareAddress(address)).toBe(bare)
  })

  it("is looked through to a bound, whatever it is", () => {
    expect(withoutCredentials("a://".repeat(1e6)).length).toBeLessThanOrEqual(10_000)
    expect(bareAddress("a:".repeat(1e6)).length).toBeLessThan(2100)
  })
})

describe("a line of a live trace", () => {
  const waiting: LockLine = {
    ...{ kind: "lock", at: 1, worker: "a", key: "k", type: "Waiting", ownerId: "a", wall: 1 },
    owner: { ownerId: "b", token: 1, expiresAt: 2, address: "http://u:p@h", host: "h".repeat(5000) },
  }

  // Tests traces.
  it("has the owner's address without credentials, and texts of others with bounds", () => {
    const { owner } = safeLine(waiting) as LockLine
    expect(owner).toMatchObject({ ownerId: "b", token: 1, expiresAt: 2, address: "http://…@h" })
    expect(owner!.host!.length).toBeLessThan(2100)
  })

  it("has the store's name without credentials, and is itself where there is nothing to leave out", () => {
    const request: RequestLine = {
      ...{ kind: "request", at: 1, worker: "a", id: 1, op: "start", deadline: 1 },
      store: "gs://u:p@bucket/prefix",
    }
    expect(safeLine(request)).toEqual({ ...request, store: "gs://…@bucket/prefix" })
    const plain: LockLine = { ...waiting, type: "Renewed", owner: undefined as never }
    expect(safeLine(plain)).toBe(plain)
  })
})

function raise(): never {
  throw new Error("hostile")
}

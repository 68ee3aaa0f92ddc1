// Pins which failures of the operating system are typed how. The errors are real ones wherever they can be had.
import { mkdirSync, openSync, readdirSync, writeFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { InvalidKeyError, StoreMisconfiguredError, StoreUnavailableError } from "../../../../../src/locks/api/errors.ts"
import { errnoOf, failure } from "../../../../../src/locks/stores/file/disk/failures.ts"

function thrownBy(action: () => unknown): unknown {
  try {
    return action()
  } catch (error) {
    return error
  }
}

const coded = (code: string): Error => Object.assign(new Error(code), { code })

describe("failure", () => {
  it.each([
    ["ENOSPC", thrownBy(() => writeFileSync("/dev/full", "x")), StoreUnavailableError, "Make room"],
    ["ENOENT", thrownBy(() => readdirSync("/nowhere")), StoreUnavailableError, "try again"],
    ["ENOTDIR", thrownBy(() => readdirSync("/dev/null")), StoreMisconfiguredError, "Name a directory"],
    ["EEXIST", thrownBy(() => mkdirSync("/")), StoreMisconfiguredError, "Name a directory"],
    ["ENAMETOOLONG", thrownBy(() => openSync(`/${"x".repeat(300)}`, "r")), StoreMisconfiguredError, "too long a name"],
    ["EROFS", coded("EROFS"), StoreMisconfiguredError, "writable"],
    ["EACCES", coded("EACCES"), StoreMisconfiguredError, "user of this process"],
    ["ENOTSUP", coded("ENOTSUP"), StoreMisconfiguredError, "hard links"],
    ["EDQUOT", coded("EDQUOT"), StoreUnavailableError, "quota"],
    ["EMFILE", coded("EMFILE"), StoreUnavailableError, "ulimit -n"],
    ["EIO", coded("EIO"), StoreUnavailableError, "Check that disk"],
    ["EFBIG", new Error("File too large (os error 27)"), StoreUnavailableError, "ulimit -f"],
  ])("of %s says what it was about and what to do", (status, error, type, next) => {
    const typed = failure(error, "reading leases/x", "/var/leases")
    expect(typed).toBeInstanceOf(type)
    expect(typed).toMatchObject({ status, cause: error, next: expect.stringContaining(next) })
    expect(typed.message).toContain(`/var/leases failed with ${status} while reading leases/x`)
  })

  it("names what Deno wasn't permitted to do", () => {
    const refusal = Object.assign(new Error('Requires write access to "/x"'), { name: "NotCapable" })
    expect(failure(refusal, "starting", "/x")).toMatchObject({ _tag: "StoreMisconfiguredError", status: "NotCapable" })
  })

  it("keeps a typed error as it is, and wraps any other", () => {
    const typed = new InvalidKeyError({ message: "no", next: "yes" })
    expect(failure(typed, "starting", "/x")).toBe(typed)
    const bug = new TypeError("not a function")
    expect(failure(bug, "starting", "/x")).toMatchObject({ _tag: "StoreUnavailableError", cause: bug })
  })
})

describe("errnoOf", () => {
  it.each([undefined, "ENOENT", { code: "ENOENT" }, new Error("ENOENT")])("finds none in %j", (value) => {
    expect(errnoOf(value)).toBeUndefined()
  })
})

import { describe, expect, it } from "vitest"
import { Deferred } from "../../src/runtime/deferred.ts"

describe("a promise that is made when somebody waits", () => {
  it.each([
    ["before", true],
    ["after", false],
  ])("settles for who asks for it %s it is settled", async (_, asksFirst) => {
    const [good, bad] = [new Deferred<number>(), new Deferred<number>()]
    const early = asksFirst ? [good.promise, bad.promise] : []
    good.resolve(1)
    bad.reject(new Error("as scripted"))
    const [value, error] = [...early, good.promise, bad.promise]
    await expect(value).resolves.toBe(1)
    await expect(error).rejects.toThrow("as scripted")
  })

  it("settles once: the first time counts", async () => {
    const deferred = new Deferred<number>()
    deferred.reject(new Error("the first"))
    deferred.resolve(2)
    await expect(deferred.promise).rejects.toThrow("the first")
  })

  it("is one promise for all who wait", () => {
    const deferred = new Deferred<void>()
    expect(deferred.promise).toBe(deferred.promise)
    deferred.resolve()
  })

  it("is no unhandled rejection where nobody waits any more", async () => {
    const deferred = new Deferred<void>()
    void deferred.promise
    deferred.reject(new Error("as scripted"))
    void deferred.promise
    await new Promise((done) => setImmediate(done)) // vitest fails the run for an unhandled one
    await expect(deferred.promise).rejects.toThrow("as scripted")
  })
})

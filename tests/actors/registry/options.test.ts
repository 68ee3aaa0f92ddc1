import { describe, expect, it } from "vitest"
import {
  bytes,
  defineSandbox,
  InvalidConfigError,
  InvalidKeyError,
  memoryStore,
  SandboxManager,
  UnknownDefinitionError,
} from "../../../src/mod.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { storeWith } from "../../support/lock-world.ts"
import { counter, failure } from "../world.ts"

const sound = { name: "typo", schema: bytes, restore: () => 0, checkpoint: () => new Uint8Array() }
const time = new VirtualTime()
const store = memoryStore({ clock: time })

/** What the manager says of these options beside good ones. */
const said = async (options: Record<string, unknown>): Promise<string> => {
  const good = { store, sandboxes: [counter()], clock: time }
  const error = await time.runUntil(failure(SandboxManager.start({ ...good, ...options })))
  expect(error).toBeInstanceOf(InvalidConfigError)
  return error.message
}

describe("a manager's options", () => {
  it.each([
    ["ttl", 0],
    ["ttl", Number.NaN],
    ["ttl", -5],
    ["ttl", 100],
    ["ttl", "30 seconds"],
    ["ttl", "25 h"],
    ["minTenure", -1],
    ["minTenure", Number.POSITIVE_INFINITY],
    ["restoreWithin", 0],
    ["settleWithin", 0],
    ["settleWithin", Number.NaN],
    ["checkpointWithin", "0 s"],
    ["closeWithin", 0],
    ["killGrace", "-3 s"],
    ["keepCheckpoints", 1.5],
    ["keepCheckpoints", 33],
    ["keepCheckpoints", -1],
    ["maxCheckpoint", 0],
    ["address", ""],
    ["address", 7],
    ["onError", "log"],
    ["inspect", {}],
    ["sandboxes", undefined],
    ["checkpoints", {}],
  ])("%s: %o is refused by name, and says what to give", async (option, value) => {
    expect(await said({ [option]: value })).toMatch(new RegExp(`^${option} .*\\. (Give|Use|Set) `))
  })

  it("that nobody reads are refused, since a misspelt one would be a silent default", async () => {
    expect(await said({ setleWithin: "1 s" })).toMatch(
      /^setleWithin is no option of SandboxManager\.start\. Use some of .*settleWithin/,
    )
    expect(() => defineSandbox({ ...sound, idleafter: "1 s" } as never)).toThrow(
      /^idleafter is no option of defineSandbox\. Use some of .*idleAfter/,
    )
  })

  // Tests input: Options may be ttl 0, below the guard, NaN or negative.
  it("must leave time to settle and to save before the process is killed", async () => {
    const message = await said({ settleWithin: "20 s", checkpointWithin: "15 s", killGrace: "30 s" })
    expect(message).toContain(
      "settleWithin (20000 ms) and checkpointWithin (15000 ms) together are longer than killGrace",
    )
  })

  it("name one source of locks, and a store for what is saved", async () => {
    const lockFactory = (): never => {
      throw new Error("not called")
    }
    expect(await said({ store: undefined })).toContain("neither a store nor a lockFactory")
    expect(await said({ lockFactory })).toContain("a store and a lockFactory")
    expect(await said({ store: undefined, lockFactory })).toContain("checkpoints is no store for saved state")
    expect(await said({ store: {} })).toContain("store is no store")
    expect(await said({ store: storeWith(store, {}) })).toContain("checkpoints is no store for saved state")
  })

  it("name each definition once, and only what defineSandbox made", async () => {
    expect(await said({ sandboxes: [counter(), counter()] })).toContain('two definitions named "counter"')
    const foreign = { store, sandboxes: [{ name: "x", version: 1, calls: {} }], clock: time }
    expect(await time.runUntil(failure(SandboxManager.start(foreign)))).toBeInstanceOf(UnknownDefinitionError)
    expect(await failure(SandboxManager.start(undefined as never))).toBeInstanceOf(InvalidConfigError)
  })

  it("are the store's own affair where it can't be used", async () => {
    const unusable = storeWith(store, { start: () => Promise.reject(new Error("as scripted")) })
    const options = { store: { ...unusable, checkpoints: true as const }, sandboxes: [], clock: time }
    expect(await time.runUntil(failure(SandboxManager.start(options as never)))).toMatchObject({
      message: "as scripted",
    })
  })
})

describe("a definition", () => {
  const good = { name: "good", schema: bytes, restore: () => 0, checkpoint: () => new Uint8Array() }
  const define = (hooks: Record<string, unknown>) => () => defineSandbox({ ...good, ...hooks } as never)

  it.each([
    ["version", 0],
    ["version", 1.5],
    ["version", "2"],
    ["idleAfter", -1],
    ["idleAfter", "5 minutes"],
    ["checkpointEvery", 0],
    ["restore", undefined],
    ["checkpoint", 5],
    ["run", {}],
    ["close", "later"],
    ["migrate", 1],
    ["schema", undefined],
    ["schema", null],
    ["schema", {}],
    ["schema", { encode: () => new Uint8Array() }],
  ])("with %s: %o is refused where it is made", (option, value) => {
    expect(define({ [option]: value })).toThrow(InvalidConfigError)
    expect(define({ [option]: value })).toThrow(new RegExp(`^${option} `))
  })

  // Tests input: A raised version says how earlier state is read, or its definition is refused.
  it("whose version was raised has to say how earlier state is read", () => {
    const refused = "version is 2, and migrate is undefined: nothing says how to read what version 1 saved."
    expect(define({ version: 2 })).toThrow(InvalidConfigError)
    expect(define({ version: 2 })).toThrow(refused)
    expect(define({ version: 2, migrate: (saved: unknown) => saved })).not.toThrow()
    expect(define({ version: 1 })).not.toThrow()
  })

  it("with a name that can't be part of a key is refused", () => {
    for (const name of ["", "a/..", undefined, "x".repeat(600)]) expect(define({ name })).toThrow(InvalidKeyError)
    expect(define({ name: "a name/with a slash" })).not.toThrow()
  })
})

// Pins what the start-up probe refuses, what it only notes, and that it gives up in time and cleans up.
import { describe, expect, it } from "vitest"
import { type LockError, StoreMisconfiguredError, StoreUnavailableError } from "../../../src/locks/api/errors.ts"
import { memoryStore } from "../../../src/locks/stores/memory-store.ts"
import { ABSENT, type ObjectStore, type WriteAnswer } from "../../../src/locks/stores/port.ts"
import { probe, type ProbedStore } from "../../../src/locks/stores/probe.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { failApplied, failPut, failRead, refuseApplied, scripted, throttle } from "../../support/scripted-store.ts"

const options = { deadline: 10_000 }

async function probed(clock: VirtualTime, store: ProbedStore): Promise<{ deletes: boolean } | LockError> {
  return clock.runUntil(probe(store, clock, options).catch((error: LockError) => error))
}

function faulty(): { clock: VirtualTime; memory: ObjectStore; store: ReturnType<typeof scripted> } {
  const clock = new VirtualTime()
  const memory = memoryStore({ clock })
  return { clock, memory, store: scripted(memory, clock, { name: "a faulty store" }) }
}

async function left(store: ObjectStore): Promise<number> {
  return (await store.list("probe", { ...options, prefix: "" })).items.length
}

/** A store that applies a write whose precondition doesn't hold, when `ignores` says so. */
function careless(memory: ObjectStore, ignores: (expected: string) => boolean): ProbedStore {
  return {
    name: "a careless store",
    read: (ref, read) => memory.read(ref, read),
    remove: (ref, expected, request) => memory.remove(ref, expected, request),
    put: async (ref, expected, body, request) => {
      const now = await memory.read(ref, { ...request, limit: 0 })
      const current = now.kind === "tooLarge" ? now.generation : ABSENT
      return memory.put(ref, ignores(expected) ? current : expected, body, request)
    },
  }
}

describe("the start-up probe", () => {
  it("passes a store that honours all preconditions, and leaves nothing in it", async () => {
    const { clock, memory, store } = faulty()
    expect(await probed(clock, store)).toEqual({ deletes: true })
    expect(store.script.requests.map(({ op }) => op)).toContain("remove")
    expect(await left(memory)).toBe(0)
  })

  it.each([
    ["creates over what is there", (expected: string) => expected === ABSENT],
    ["writes on generations that are over", (expected: string) => expected !== ABSENT],
  ])("refuses a store that %s, and names it", async (_, ignores) => {
    const { clock, memory } = faulty()
    const error = await probed(clock, careless(memory, ignores))
    expect(error).toBeInstanceOf(StoreMisconfiguredError)
    expect(error).toHaveProperty("message", expect.stringMatching(/^a careless store ignores the preconditions/))
    expect(await left(memory)).toBe(0)
  })

  it.each([
    ["says refused", async (): Promise<WriteAnswer> => ({ kind: "refused" })],
    [
      "says unknown",
      async (): Promise<WriteAnswer> => ({
        kind: "unknown",
        error: new StoreUnavailableError({ message: "x", next: "y" }),
      }),
    ],
    ["says applied", async (): Promise<WriteAnswer> => ({ kind: "applied", generation: "1" })],
  ])("notes that deletes ignore their precondition when the object is gone, though the store %s", async (_, answer) => {
    const { clock, memory } = faulty()
    const store: ProbedStore = {
      name: "an emulator",
      read: (ref, read) => memory.read(ref, read),
      put: (ref, expected, body, request) => memory.put(ref, expected, body, request),
      remove: async (ref, _expected, request) => {
        const now = await memory.read(ref, { ...request, limit: 0 })
        if (now.kind === "tooLarge") await memory.remove(ref, now.generation, request)
        return answer()
      },
    }
    expect(await probed(clock, store)).toEqual({ deletes: false })
    expect(await left(memory)).toBe(0)
  })

  it.each([0, 1, 2, 3])("decides by reading where the answer of put %i was lost or throttled", async (at) => {
    for (const fault of [failApplied(), failPut(), throttle()]) {
      const { clock, memory, store } = faulty()
      store.script.onPut(...Array.from({ length: at }, () => ({})), fault)
      expect(await probed(clock, store)).toEqual({ deletes: true })
      expect(store.script.pending).toBe(0)
      expect(await left(memory)).toBe(0)
    }
  })

  it("takes a write for applied that the store refused only in its answer", async () => {
    const { clock, store } = faulty()
    store.script.onPut(refuseApplied(), {}, refuseApplied())
    expect(await probed(clock, store)).toEqual({ deletes: true })
    expect(store.script.pending).toBe(0)
  })

  it("tries a read that failed again, and a delete whose answer was lost", async () => {
    const { clock, store } = faulty()
    const error = new StoreUnavailableError({ message: "503", next: "wait" })
    store.script.onRead(failRead(), {}, failRead())
    store.script.onRemove({ before: "lost", instead: { kind: "unknown", error } })
    expect(await probed(clock, store)).toEqual({ deletes: true })
    expect(store.script.pending).toBe(0)
  })

  it("rejects at once with an answer that no second try can mend", async () => {
    const { clock, store } = faulty()
    const forbidden = new StoreMisconfiguredError({ message: "403", next: "grant it" })
    store.script.onPut(failPut(forbidden))
    expect(await probed(clock, store)).toBe(forbidden)
    expect(clock.read().mono).toBe(0)
  })

  it("rejects within its deadline with what the store said last, when it never gets better", async () => {
    const { clock, store } = faulty()
    const down = new StoreUnavailableError({ message: "503", next: "wait" })
    store.script.onPut(...Array.from({ length: 50 }, () => failPut(down)))
    expect(await probed(clock, store)).toBe(down)
    expect(clock.read().mono).toBeLessThanOrEqual(options.deadline)
    expect(clock.pendingTimers).toBe(0)
  })

  it("stops waiting when it is aborted", async () => {
    const { clock, store } = faulty()
    const down = new StoreUnavailableError({ message: "503", next: "wait" })
    store.script.onPut(failPut(down), failPut(down))
    const controller = new AbortController()
    const outcome = probe(store, clock, { ...options, signal: controller.signal }).catch((error: LockError) => error)
    await clock.advance(500)
    controller.abort()
    expect(await outcome).toBe(down)
    expect(clock.pendingTimers).toBe(0)
    expect(store.script.pending).toBe(1)
  })

  it.each([
    [
      "shows nothing of what it applied",
      { instead: { kind: "applied", generation: "7" } } as const,
      StoreUnavailableError,
    ],
    ["refuses what it should apply", { instead: { kind: "refused" } } as const, StoreMisconfiguredError],
  ])("refuses a store that %s", async (_, fault, type) => {
    const { clock, store } = faulty()
    store.script.onPut({ before: "lost", ...fault })
    expect(await probed(clock, store)).toBeInstanceOf(type)
  })
})

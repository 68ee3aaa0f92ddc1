// Pins that a recorded store is the store: what is asked and answered passes unchanged, and is in the trace without
// bodies.
import { describe, expect, it } from "vitest"
import { TraceRecorder } from "../../src/inspector/recorder.ts"
import { StoreMisconfiguredError, StoreUnavailableError } from "../../src/locks/api/errors.ts"
import { memoryStore } from "../../src/locks/stores/memory-store.ts"
import { ABSENT, type CheckpointStore, type LeaseStore, type ObjectStore } from "../../src/locks/stores/port.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"
import { type Recorded } from "../../src/trace/recorded-store.ts"
import type { TraceLine } from "../../src/trace/trace.ts"
import { failure, storeWith } from "../support/lock-world.ts"
import { failPut, lateAnswer, overtake, scripted, throttle } from "../support/scripted-store.ts"

const ref = { area: "state", name: "k" } as const
const body = new TextEncoder().encode("a secret")
const deadline = 5000

function recording<S extends ObjectStore>(store: S, time: VirtualTime): { store: Recorded<S>; lines: TraceLine[] } {
  const lines: TraceLine[] = []
  const recorder = new TraceRecorder({ source: "simulated", clock: time, onLine: (line) => lines.push(line) })
  return { store: recorder.worker("a").store(store), lines }
}

describe("a recorded store", () => {
  // Tests traces: Recording changes nothing of what is recorded.
  it("tells requests and answers, with generations, sizes and milliseconds, and no body", async () => {
    const time = new VirtualTime()
    const plain = scripted(memoryStore({ clock: time }), time)
    const { store, lines } = recording(plain, time)
    plain.script.onPut(lateAnswer(120))
    const { kind } = await time.runUntil(store.put(ref, ABSENT, body, { deadline }))
    expect(kind).toBe("applied")
    const read = await store.read(ref, { deadline, limit: 100 })
    expect(read).toMatchObject({ kind: "found", generation: "1", body })
    await store.read(ref, { deadline, limit: 100, known: "1" })
    await store.list("state", { deadline, prefix: "" })
    await store.remove(ref, "1", { deadline })
    const of = { worker: "a", store: plain.name, area: "state", deadline }
    expect(lines).toMatchObject([
      { ...of, kind: "request", id: 1, op: "put", name: "k", generation: "0", bytes: 8 },
      { kind: "answer", id: 1, outcome: "applied", generation: "1", ms: 120, storeTime: expect.any(Number) },
      { ...of, kind: "request", id: 2, op: "read", name: "k" },
      { kind: "answer", id: 2, outcome: "found", generation: "1", bytes: 8, ms: 0 },
      { ...of, kind: "request", id: 3, op: "read", name: "k", generation: "1" },
      { kind: "answer", id: 3, outcome: "unchanged", generation: "1" },
      { ...of, kind: "request", id: 4, op: "list", name: "" },
      { kind: "answer", id: 4, outcome: "done", items: 1 },
      { ...of, kind: "request", id: 5, op: "remove", name: "k", generation: "1" },
      { kind: "answer", id: 5, outcome: "applied", generation: "1" },
    ])
    expect(JSON.stringify(lines)).not.toContain("secret")
  })

  // Tests traces: A trace says why a write's fate isn't known: an error, a spacing, or a write in between.
  it("tells why a request failed, with its status, and whether it was throttled or overtaken", async () => {
    const time = new VirtualTime()
    const plain = scripted(memoryStore({ clock: time }), time)
    const { store, lines } = recording(plain, time)
    plain.script.onPut(
      failPut(new StoreUnavailableError({ message: "m", next: "n", status: 503 })),
      throttle(),
      overtake(),
    )
    for (const _ of [1, 2, 3]) await store.put(ref, ABSENT, body, { deadline })
    expect(lines.filter(({ kind }) => kind === "answer")).toMatchObject([
      {
        outcome: "unknown",
        error: { tag: "StoreUnavailableError", code: "LEASEHOLD_STORE", message: "m. n.", status: 503 },
      },
      { outcome: "unknown", throttled: true },
      { outcome: "unknown", overtaken: true },
    ])
  })

  it("rejects as the store does, with the very error", async () => {
    const time = new VirtualTime()
    const broken = new StoreMisconfiguredError({ message: "no bucket", next: "create it" })
    const fails = { start: () => Promise.reject(broken), list: () => Promise.reject(broken) }
    const { store, lines } = recording(storeWith(memoryStore({ clock: time }), fails), time)
    expect(await failure(store.start({ deadline }))).toBe(broken)
    expect(await failure(store.list("leases", { deadline, prefix: "" }))).toBe(broken)
    expect(lines.filter(({ kind }) => kind === "answer")).toMatchObject([
      { id: 1, outcome: "rejected", error: { code: "LEASEHOLD_STORE_CONFIG" } },
      { id: 2, outcome: "rejected", error: { code: "LEASEHOLD_STORE_CONFIG" } },
    ])
  })

  it("is fit for what the store is fit for, and has its capabilities as they are now", () => {
    const time = new VirtualTime()
    const plain = memoryStore({ clock: time })
    const both: LeaseStore & CheckpointStore = recording(plain, time).store
    const leases: LeaseStore = recording(storeWith(plain, {}), time).store
    expect([both.leases, both.checkpoints, leases.leases, "checkpoints" in leases]).toEqual([true, true, true, false])
    let deletes = true
    const changing: LeaseStore = Object.defineProperty(storeWith(plain, {}), "capabilities", {
      get: () => ({ ...plain.capabilities, deletes }),
    })
    const { store } = recording(changing, time)
    deletes = false
    expect(store.capabilities.deletes).toBe(false)
  })
})

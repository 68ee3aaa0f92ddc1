/** Processes of the last release beside those of this one: what they read and write of a record. */
import type { CheckpointStore, LeaseStore, ObjectRef } from "leasehold"
import { describe, expect, it } from "vitest"
import { VirtualHost } from "../../../../src/runtime/time/virtual-host.ts"
import { VirtualTime } from "../../../../src/runtime/time/virtual-time.ts"
import { Draw } from "../../../../src/testing/simulate/plan/draw.ts"
import { asLastRelease } from "../../../../src/testing/simulate/run/last-release.ts"
import { SimulatedConnection } from "../../../../src/testing/simulated-store/connection.ts"
import { SimulatedStore } from "../../../../src/testing/simulated-store/store.ts"
import { inTurns, run } from "../scripted.ts"

const lease: ObjectRef = { area: "leases", name: "k" }
const head: ObjectRef = { area: "state", name: "k/head" }
const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
const known = {
  ownerId: "a",
  expiresAt: 1,
  owner: { for: "a", token: 7 },
  waiter: null,
  ended: { token: 6, how: "grant" },
}
const newer = {
  ...{ ...known, line: ["b"], waiter: { for: "b", rank: 2 } },
  ...{ owner: { ...known.owner, past: ["n"] }, ended: { ...known.ended, proof: "p" } },
}

/** A store as both releases see it. */
function seenTwice() {
  const time = new VirtualTime({ seed: 1 })
  const chance = new Draw(1, "store")
  const store = new SimulatedStore({ profile: "exact", generations: "short", time, chance })
  const own: LeaseStore & CheckpointStore = new SimulatedConnection(store, "a", new VirtualHost(time))
  const last = asLastRelease(own)
  const read = async (from: typeof own, ref: ObjectRef): Promise<unknown> => {
    const answer = await time.runUntil(from.read(ref, { deadline: 1000, limit: 65_536 }))
    return answer.kind === "found" ? JSON.parse(new TextDecoder().decode(answer.body)) : answer.kind
  }
  const put = (to: typeof own, ref: ObjectRef, expected: string, body: unknown) =>
    time.runUntil(to.put(ref, expected, bytes(body), { deadline: 1000 }))
  return { own, last, read, put }
}

describe("a process of the last release", () => {
  // Tests simulations: Simulated workers may know only the last release's record; machines tell ended processes truly.
  it("sees of a record what its format had, and writes no more", async () => {
    const { own, last, read, put } = seenTwice()
    const written = await put(own, lease, "0", newer)
    expect(await read(last, lease)).toEqual({ ...known, waiter: { for: "b" } })
    expect(await read(own, lease)).toEqual(newer)
    await put(last, lease, written.kind === "applied" ? written.generation : "", newer)
    expect(await read(own, lease)).toEqual({ ...known, waiter: { for: "b" } })
  })

  it("sees itself in a line that no other sees, so that it joins by one write", async () => {
    const { own, last, read, put } = seenTwice()
    const line = [{ for: "l" }]
    const written = await put(last, lease, "0", { ...known, line })
    expect([await read(last, lease), await read(own, lease)]).toEqual([{ ...known, line }, known])
    const generation = written.kind === "applied" ? written.generation : ""
    await put(last, lease, "7", known)
    expect(await read(last, lease)).toEqual({ ...known, line })
    await put(last, lease, generation, known)
    expect(await read(last, lease)).toEqual(known)
  })

  it("leaves all else as it is: heads, and what is no record", async () => {
    const { last, read, put } = seenTwice()
    await put(last, head, "0", newer)
    await put(last, lease, "0", ["none"])
    expect(await read(last, head)).toEqual(newer)
    expect(await read(last, lease)).toEqual(["none"])
  })

  it("hands over to one of this release, and takes over from it, in a fleet that is being upgraded", async () => {
    for (const releases of [{ a: "last" }, { b: "last" }, { a: "upgraded", b: "last", c: "upgraded" }] as const) {
      const { lines } = await run({ script: [], workload: inTurns, releases })
      const acquired = lines.flatMap((line) => (line.kind === "lock" && line.type === "Acquired" ? [line.worker] : []))
      expect(acquired).toEqual(["a", "b", "c"])
    }
  })
})

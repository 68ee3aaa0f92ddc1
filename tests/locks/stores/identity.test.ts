// What tells a lease store from others of its name: an object of its own, made once.
import { cp, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { StoreMisconfiguredError, StoreUnavailableError } from "../../../src/locks/api/errors.ts"
import { fileStore } from "../../../src/locks/stores/file/file-store.ts"
import { identityOf, type StoreIdentity } from "../../../src/locks/stores/identity.ts"
import { memoryStore } from "../../../src/locks/stores/memory-store.ts"
import { ABSENT, type LeaseStore } from "../../../src/locks/stores/port.ts"
import { started } from "../../../src/locks/stores/start.ts"
import { type Clock, liveClock } from "../../../src/runtime/time/clock.ts"
import { VirtualTime } from "../../../src/runtime/time/virtual-time.ts"
import { failure } from "../../support/lock-world.ts"
import {
  failApplied,
  failPut,
  failRead,
  lateAnswer,
  loseRequest,
  refuse,
  scripted,
  type ScriptedStore,
} from "../../support/scripted-store.ts"

const options = { deadline: 1000, limit: 1024 }
const ref = { area: "store", name: "identity" } as const

/** A memory store behind a scripted network; a second wire leads to the same one. */
function scene(): { time: VirtualTime; wire: () => ScriptedStore; store: ScriptedStore } {
  const time = new VirtualTime()
  const memory = memoryStore({ clock: time })
  const wire = (): ScriptedStore => scripted(memory, time)
  return { time, wire, store: wire() }
}

const idOf = async (time: VirtualTime, store: LeaseStore): Promise<string | undefined> =>
  (await time.runUntil(identityOf(store, time))).origin.leasesId

describe("the identity of a store", () => {
  // Tests rule 15: A store's identity is created once; one that can't be read is StoreMisconfiguredError.
  it("is made by whoever starts on it first, by two requests, and read by one ever after", async () => {
    const { time, wire, store } = scene()
    const first = await idOf(time, store)
    expect(first).toMatch(/^\S+$/)
    expect(store.script.requests.map(({ op, area, name }) => `${op} ${area}/${name}`)).toEqual([
      "read store/identity",
      "put store/identity",
    ])
    await idOf(time, store) // this process knows it
    expect(store.script.requests).toHaveLength(2)
    const other = wire()
    expect(await idOf(time, other)).toBe(first)
    expect(other.script.requests.map(({ op }) => op)).toEqual(["read"])
  })

  it("is another in each memory store, and the same in two runs of one seed", async () => {
    const ids = async (): Promise<unknown[]> => {
      const time = new VirtualTime({ seed: 7 })
      return [await idOf(time, memoryStore({ clock: time })), await idOf(time, memoryStore({ clock: time }))]
    }
    const [a, b] = await ids()
    expect(a).not.toBe(b)
    expect(await ids()).toEqual([a, b])
  })

  it("is one for two who make it at the same time", async () => {
    const { time, wire, store } = scene()
    const other = wire()
    // Both have looked before either has written.
    for (const each of [store, other]) each.script.onRead(lateAnswer(50))
    const [a, b] = await time.runUntil(Promise.all([identityOf(store, time), identityOf(other, time)]))
    expect(a.origin).toEqual(b.origin)
    const puts = [store, other].flatMap(({ script }) => script.requests.filter(({ op }) => op === "put"))
    expect(puts.map(({ answer }) => (answer as { kind: string }).kind).toSorted()).toEqual(["applied", "refused"])
  })

  it.each([
    ["was applied all the same", failApplied()],
    ["was not applied", failPut()],
    ["was refused by a cache's word", refuse()],
  ])("is decided by reading where the answer to its write is lost, and the write %s", async (_what, fault) => {
    const { time, wire, store } = scene()
    store.script.onPut(fault)
    const id = await idOf(time, store)
    expect(await idOf(time, wire())).toBe(id)
    expect(store.script.pending).toBe(0)
  })

  it("is asked for again where the store fails, and not where trying again can't help", async () => {
    const { time, store, wire } = scene()
    store.script.onRead(failRead(), failRead())
    expect(await idOf(time, store)).toBeDefined()
    const denied = wire()
    denied.script.onRead(failRead(new StoreMisconfiguredError({ message: "no permission", next: "ask for it" })))
    expect(await failure(time.runUntil(identityOf(denied, time)))).toBeInstanceOf(StoreMisconfiguredError)
    expect(await idOf(time, denied)).toBe(await idOf(time, store)) // the failure isn't remembered
  })

  it("ends as StoreUnavailableError where the store stays silent", async () => {
    const { time, store } = scene()
    store.script.onRead(...Array.from({ length: 20 }, loseRequest))
    const from = time.mono()
    expect(await failure(time.runUntil(identityOf(store, time)))).toBeInstanceOf(StoreUnavailableError)
    expect(time.mono() - from).toBeLessThanOrEqual(31_000)
  })

  it.each([
    ["no JSON", "{"],
    ["no object", "null"],
    ["an identity that could steer a terminal", JSON.stringify({ identity: "\u001b[2J" })],
    ["none", "{}"],
    ["more than is read", `{"identity":"a"}${" ".repeat(2000)}`],
  ])("that says %s is StoreMisconfiguredError, and stays as it is", async (_what, text) => {
    const { time, store } = scene()
    const put = await store.put(ref, ABSENT, new TextEncoder().encode(text), options)
    const error = await failure(time.runUntil(identityOf(store, time)))
    expect(error).toBeInstanceOf(StoreMisconfiguredError)
    expect(String(error)).toContain("store/identity")
    expect(await store.read(ref, { deadline: 1000, limit: 1e6 })).toMatchObject({
      generation: (put as { generation: string }).generation,
    })
  })

  it("that was deleted by hand is another for who starts after that", async () => {
    const { time, wire, store } = scene()
    const before = await idOf(time, store)
    const { generation } = (await store.read(ref, options)) as { generation: string }
    await store.remove(ref, generation, options)
    const after = await idOf(time, wire())
    expect(after).not.toBe(before)
    expect(await idOf(time, store)).toBe(before) // whose leases are in progress
  })
})

describe("the identity of a directory", () => {
  const make = async (directory: string, clock: Clock = liveClock): Promise<StoreIdentity> => {
    const store = fileStore({ directory, clock })
    await started(store, clock)
    return identityOf(store, clock)
  }

  it("is one for all store objects on it, and is kept", async () => {
    const directory = await mkdtemp(join(tmpdir(), "leasehold-identity-"))
    try {
      const made = await Promise.all([make(directory), make(directory), make(directory)])
      expect(new Set(made.map(({ origin }) => origin.leasesId)).size).toBe(1)
      expect((await make(directory)).origin).toEqual(made[0].origin)
      expect(await readdir(join(directory, "store"))).toEqual(
        ["identity", ...(liveClock.bootId === undefined ? [] : [`boot-${liveClock.bootId}`])].toSorted(),
      )
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  // Tests rule 15: Copies of one lease directory are told apart by the boots that each has seen.
  it("goes along with a copy, which doesn't know the other copy's later boots", async () => {
    const root = await mkdtemp(join(tmpdir(), "leasehold-image-"))
    const [image, copy] = [join(root, "image"), join(root, "copy")]
    // Of these clocks only the boot counts: each is a machine of its own.
    const [first, here, there] = [
      new VirtualTime({ seed: 1 }),
      new VirtualTime({ seed: 2 }),
      new VirtualTime({ seed: 3 }),
    ] as const
    const boots = [first, here, there].map(({ bootId }) => bootId!)
    try {
      await make(image, first)
      await cp(image, copy, { recursive: true })
      const [a, b] = [await make(image, here), await make(copy, there)]
      expect(a.origin.leasesId).toBe(b.origin.leasesId)
      expect(await Promise.all(boots.map(a.knows))).toEqual([true, true, false])
      expect(await Promise.all(boots.map(b.knows))).toEqual([true, false, true])
      // One that both machines share knows both.
      const shared = await make(image, there)
      expect(await Promise.all(boots.map(shared.knows))).toEqual([true, true, true])
      expect(await a.knows(boots[2]!)).toBe(true)
    } finally {
      await rm(root, { recursive: true })
    }
  })
})

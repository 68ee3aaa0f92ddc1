/**
 * Rule 8 on real stores: a call that is cancelled while a write of it is in flight leaves no mark and no lock behind.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { LockCancelledError } from "../../src/locks/api/errors.ts"
import { encodeName } from "../../src/locks/api/keys.ts"
import { StoreLock } from "../../src/locks/lock/store-lock.ts"
import { fileStore } from "../../src/locks/stores/file/mod.ts"
import { gcsStore } from "../../src/locks/stores/gcs/mod.ts"
import { memoryStore } from "../../src/locks/stores/memory-store.ts"
import type { CheckpointStore, LeaseStore } from "../../src/locks/stores/port.ts"
import { liveClock } from "../../src/runtime/time/clock.ts"
import { failure } from "../support/lock-world.ts"
import { hold, scripted } from "../support/scripted-store.ts"
import { startStrictGcs } from "../support/strict-gcs-server.ts"

type Store = LeaseStore & CheckpointStore
type Act = "claim" | "mark"
/** Where the write is when its call is cancelled, and what comes of it; the first two are answered. */
type Fate = "is on its way" | "has landed" | "has landed, and its answer is lost" | "never arrives"

const acts: readonly Act[] = ["claim", "mark"]
const fates: readonly Fate[] = ["is on its way", "has landed", "has landed, and its answer is lost", "never arrives"]
const isAnswered = (_: unknown, fate: number): boolean => fate < 2

const stores: readonly (readonly [
  string,
  "2 s" | "12 s",
  () => Promise<AsyncDisposable & { readonly store: Store }>,
])[] = [
  ["memory", "2 s", async () => ({ store: memoryStore(), [Symbol.asyncDispose]: async () => {} })],
  ["file", "2 s", onDirectory],
  ["the strict GCS server", "12 s", onStrictGcs],
]

async function onDirectory(): Promise<AsyncDisposable & { readonly store: Store }> {
  const directory = await mkdtemp(join(tmpdir(), "leasehold-cancelled-"))
  return { store: fileStore({ directory }), [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
}

async function onStrictGcs(): Promise<AsyncDisposable & { readonly store: Store }> {
  const server = await startStrictGcs()
  const store = gcsStore({ bucket: "bucket", endpoint: server.url })
  const end = async (): Promise<void> => {
    await store.close()
    await server[Symbol.asyncDispose]()
  }
  return { store, [Symbol.asyncDispose]: end }
}

/** Who owns the key and who waits for it, by the record itself. */
async function standing(store: Store, key: string): Promise<unknown> {
  const ref = { area: "leases", name: encodeName(key) } as const
  const answer = await store.read(ref, { limit: 65_536, deadline: 5000 })
  if (answer.kind !== "found") return { owner: null, waiter: null }
  const body = JSON.parse(new TextDecoder().decode(answer.body)) as Record<string, unknown>
  return { owner: body["ownerId"], waiter: body["waitingOwnerId"] }
}

/**
 * Cancels a call while its write has met that fate; tells what stands in the record then, and once the call is cleaned
 * up.
 */
async function cancelDuring(store: Store, ttl: "2 s" | "12 s", act: Act, fate: Fate) {
  const key = `${act} that ${fate}`
  const [holder, waiter] = [liveClock.id(), liveClock.id()]
  const a = new StoreLock(key, { store, ttl, incarnation: { id: holder } })
  const held = act === "mark" ? await a.acquire() : undefined
  const wire = scripted(store, liveClock)
  const write = hold()
  wire.script.onPut(write)
  const b = new StoreLock(key, { store: wire, ttl, incarnation: { id: waiter } })
  const controller = new AbortController()
  const call = failure(b.acquire({ timeout: "30 s", signal: controller.signal }))
  await write.arrived
  if (fate.startsWith("has landed")) write.deliver()
  controller.abort()
  if (fate === "is on its way") write.deliver()
  if (fate === "is on its way" || fate === "has landed") write.answer()
  const error = await call
  const atOnce = await standing(store, key)
  // The next call of the same process has its turn when nothing of this one is under way any more.
  const next = await b.acquire({ whenOwned: "report" }).catch((refusal: unknown) => refusal as Error)
  const after = await standing(store, key)
  if ("release" in next) await (next as { release(): Promise<unknown> }).release()
  await held?.release()
  return { error, atOnce, after, holder: act === "mark" ? holder : null, waiter }
}

describe.concurrent.each(stores)("a call that is cancelled on %s", (_, ttl, start) => {
  // Tests rule 8: Cancelling while a write is in flight leaves no mark and no lock, on any store.
  it.each(acts)("while its %s is in flight leaves no mark and no lock, whatever comes of the write", async (act) => {
    await using place = await start()
    await place.store.start({ deadline: 10_000 })
    const outcomes = await Promise.all(fates.map((fate) => cancelDuring(place.store, ttl, act, fate)))
    const expected = outcomes.map(({ holder, waiter }) => ({
      error: expect.any(LockCancelledError) as unknown,
      atOnce: { owner: holder, waiter: null },
      after: { owner: holder ?? waiter, waiter: null },
    }))
    expect(outcomes.map(({ error, after }) => ({ error, after }))).toEqual(
      expected.map(({ error, after }) => ({ error, after })),
    )
    // Known by its answer before the call is told; where there is none, the rest goes on behind it. So it may where a
    // store takes one write a second, of which owners have the first.
    if (place.store.capabilities.writeSpacing > 0) return
    expect(outcomes.filter(isAnswered).map(({ atOnce }) => atOnce)).toEqual(
      expected.filter(isAnswered).map(({ atOnce }) => atOnce),
    )
  })
})

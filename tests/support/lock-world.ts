/**
 * What the tests of the lock share: a virtual clock, a memory store whose network can be scripted, and locks on one key
 * by named incarnations, which contend as processes do.
 */
import { expect } from "vitest"
import type { LockError } from "../../src/locks/api/errors.ts"
import { encodeName } from "../../src/locks/api/keys.ts"
import type { LockEvent } from "../../src/locks/api/lock.ts"
import type { LockOptions } from "../../src/locks/engine/options.ts"
import { StoreLock } from "../../src/locks/lock/store-lock.ts"
import { memoryStore } from "../../src/locks/stores/memory-store.ts"
import type { LeaseStore, StoreCapabilities } from "../../src/locks/stores/port.ts"
import { VirtualTime, type VirtualTimeOptions } from "../../src/runtime/time/virtual-time.ts"
import { scripted, type ScriptedStore } from "./scripted-store.ts"

export const KEY = "orders/7"

/** A store where writes of one object are spaced and reads cost, as GCS. */
export const spaced: Partial<StoreCapabilities> = {
  clock: "coarse",
  sameClock: false,
  cheapReads: false,
  writeSpacing: 1000,
}

export interface LockWorld {
  readonly time: VirtualTime
  readonly store: ScriptedStore
  /** What went to onError. */
  readonly errors: unknown[]
  readonly lock: (id: string, options?: LockOptions & { readonly store?: LeaseStore }) => StoreLock
}

export function lockWorld(
  options: VirtualTimeOptions & { readonly capabilities?: Partial<StoreCapabilities> } = {},
): LockWorld {
  const { capabilities = {}, ...timeOptions } = options
  const time = new VirtualTime(timeOptions)
  const store = scripted(memoryStore({ clock: time }), time, { capabilities })
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  return {
    time,
    store,
    errors,
    lock: (id, own = {}) => new StoreLock(KEY, { store, clock: time, incarnation: { id }, onError, ...own }),
  }
}

/** The events of a lock, from now on. */
export function eventsOf(lock: { readonly events$: StoreLock["events$"] }): LockEvent[] {
  const events: LockEvent[] = []
  lock.events$.subscribe((event) => events.push(event))
  return events
}

export const types = (events: readonly LockEvent[]): string[] => events.map((event) => event.type)

/** What the promise rejects with. */
export function failure<E = LockError>(promise: Promise<unknown>): Promise<E> {
  return promise.then(
    (value) => {
      throw new Error(`it resolved, with ${String(value)}`)
    },
    (error: E) => error,
  )
}

/** How long it takes until the promise settles, in virtual milliseconds, and with what. */
export async function settling<A>(time: VirtualTime, promise: Promise<A>): Promise<{ ms: number; value: A }> {
  const from = time.mono()
  const value = await time.runUntil(promise)
  return { ms: time.mono() - from, value }
}

/** A store of which some calls are replaced. */
export function storeWith(store: LeaseStore, replaced: Partial<LeaseStore>): LeaseStore {
  return {
    leases: true,
    name: store.name,
    capabilities: store.capabilities,
    start: (options) => store.start(options),
    read: (ref, options) => store.read(ref, options),
    put: (ref, expected, body, options) => store.put(ref, expected, body, options),
    remove: (ref, expected, options) => store.remove(ref, expected, options),
    list: (area, options) => store.list(area, options),
    close: () => store.close(),
    ...replaced,
  }
}

/** A promise that never settles: a store that says nothing. */
export const silence = <A>(): Promise<A> => new Promise<A>(() => {})

/** The record as stored, or undefined where there is none. */
export async function recordOf(world: LockWorld): Promise<Record<string, unknown> | undefined> {
  const ref = { area: "leases", name: encodeName(KEY) } as const
  const answer = await world.store.read(ref, { limit: 65_536, deadline: 1000 })
  return answer.kind === "found" ? JSON.parse(new TextDecoder().decode(answer.body)) : undefined
}

/** Nothing waits any more: no timer is left once what was under way in the background is over. */
export async function expectRest(time: VirtualTime): Promise<void> {
  await time.advance(45_000)
  expect(time.pendingTimers).toBe(0)
}

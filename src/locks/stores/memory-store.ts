/**
 * The store in this process: for tests, for `FakeLock`, and for several incarnations that share one process.
 *
 * Not promised: that anything outlives the process, acknowledged writes under `state` included; and bounded memory, as
 * only a delete frees any.
 */
import { aClock, aText, type OptionChecks, refuseUnknown } from "../../runtime/input/options.ts"
import { type Clock, liveClock } from "../../runtime/time/clock.ts"
import {
  ABSENT,
  type Area,
  type CheckpointStore,
  type Generation,
  type LeaseStore,
  type ListOptions,
  type ObjectRef,
  type Page,
  type ReadAnswer,
  type ReadOptions,
  type StoreCapabilities,
  type WriteAnswer,
} from "./port.ts"

/** How a memory store is made. */
export interface MemoryStoreOptions {
  /** Names the store for people and in heads; default `memory`. Two stores that one manager uses need two names. */
  readonly name?: string
  /** The clock that the locks of this store read too; default: this process's. */
  readonly clock?: Clock
}

/** A new, empty store. All contenders share the one object. Throws InvalidConfigError. */
export function memoryStore(options: MemoryStoreOptions = {}): LeaseStore & CheckpointStore {
  refuseUnknown("memoryStore", options, OPTIONS)
  const { name = "memory", clock = liveClock } = options
  return new MemoryStore(name, clock)
}

const OPTIONS: OptionChecks<MemoryStoreOptions> = { name: aText, clock: aClock }

interface Version {
  readonly generation: Generation
  readonly body: Uint8Array
}

const PAGE_SIZE = 1000

class MemoryStore implements LeaseStore, CheckpointStore {
  readonly leases = true as const
  readonly checkpoints = true as const
  readonly name: string
  readonly capabilities: StoreCapabilities = {
    clock: "exact",
    sameClock: true,
    deletes: true,
    cheapReads: true,
    writeSpacing: 0,
  }
  readonly #clock: Clock
  readonly #hasBoot: boolean
  /** Added to a clock that is never stepped, it gives Unix milliseconds. */
  readonly #offset: number
  readonly #objects = new Map<string, Version>()
  /** One count for all names, which only grows: no generation comes twice, even after a delete. */
  #writes = 0

  constructor(name: string, clock: Clock) {
    this.name = name
    this.#clock = clock
    this.#hasBoot = clock.bootId !== undefined
    this.#offset = clock.read().wall - this.#steady()
  }

  async start(): Promise<void> {}

  async read(ref: ObjectRef, options: ReadOptions): Promise<ReadAnswer> {
    const version = this.#objects.get(address(ref.area, ref.name))
    const storeTime = this.#now()
    if (version === undefined) return { kind: "absent", storeTime }
    const { generation, body } = version
    if (generation === options.known) return { kind: "unchanged", generation, storeTime }
    if (body.length > options.limit) return { kind: "tooLarge", generation, storeTime }
    return { kind: "found", generation, body: new Uint8Array(body), storeTime }
  }

  async put(ref: ObjectRef, expected: Generation, body: Uint8Array): Promise<WriteAnswer> {
    const storeTime = this.#now()
    if (this.#generation(ref) !== expected) return { kind: "refused", storeTime }
    const generation = String(++this.#writes)
    this.#objects.set(address(ref.area, ref.name), { generation, body: new Uint8Array(body) })
    return { kind: "applied", generation, storeTime }
  }

  async remove(ref: ObjectRef, expected: Generation): Promise<WriteAnswer> {
    const storeTime = this.#now()
    if (expected === ABSENT || this.#generation(ref) !== expected) return { kind: "refused", storeTime }
    this.#objects.delete(address(ref.area, ref.name))
    return { kind: "applied", generation: expected, storeTime }
  }

  async list(area: Area, options: ListOptions): Promise<Page> {
    const prefix = address(area, options.prefix)
    const after = options.after === undefined ? "" : address(area, options.after)
    const found = [...this.#objects].filter(([key]) => key.startsWith(prefix) && key > after)
    found.sort(([a], [b]) => (a < b ? -1 : 1))
    const items = found.slice(0, PAGE_SIZE).map(([key, { generation }]) => ({
      name: key.slice(address(area, "").length),
      generation,
    }))
    const last = items.at(-1)
    return found.length > items.length && last !== undefined ? { items, next: last.name } : { items }
  }

  async close(): Promise<void> {}

  #generation(ref: ObjectRef): Generation {
    return this.#objects.get(address(ref.area, ref.name))?.generation ?? ABSENT
  }

  #now(): number {
    return this.#steady() + this.#offset
  }

  /** The boot clock, which `isHeld()` reads too. Without one it is the monotonic clock: the wall clock may step. */
  #steady(): number {
    const { boot, mono } = this.#clock.read()
    return this.#hasBoot ? boot : mono
  }
}

function address(area: Area, name: string): string {
  return `${area}/${name}`
}

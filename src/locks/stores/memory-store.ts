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
  type PromptRequests,
  type ReadOptions,
  type StoreCapabilities,
  type Watching,
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
  /** Nobody else changes them. */
  readonly bytes: ArrayBufferLike
}

/** The bytes of a body that is given away. */
const ownBytes = (body: Uint8Array): ArrayBufferLike =>
  body.byteLength === body.buffer.byteLength ? body.buffer : body.slice().buffer

/** Told of the versions of one object. */
class Watch implements Watching {
  readonly #wake: (generation?: Generation) => void
  readonly #of: Watches
  readonly #name: string

  constructor(of: Watches, name: string, wake: (generation?: Generation) => void) {
    this.#of = of
    this.#name = name
    this.#wake = wake
    const others = of.get(name)
    of.set(name, others === undefined ? [this] : [...others, this])
  }

  /** Every write goes through this store object, and each is told of. No field: each owner has a watch. */
  get hears(): boolean {
    return true
  }

  get hearsAll(): boolean {
    return true
  }

  /** Nothing once it is disposed, also by one that was told before it. */
  tell(generation: Generation): void {
    if (this.#of.get(this.#name)?.includes(this) === true) this.#wake(generation)
  }

  [Symbol.dispose](): void {
    const others = this.#of.get(this.#name)?.filter((watch) => watch !== this) ?? []
    if (others.length === 0) this.#of.delete(this.#name)
    else this.#of.set(this.#name, others)
  }
}

/** By the names of objects. Most have one watch, by their owner. */
type Watches = Map<string, readonly Watch[]>

/** The objects of one area. */
interface Objects {
  readonly versions: Map<string, Version>
  readonly watches: Watches
}

/** A write that is to be told of. */
interface Change {
  readonly watches: Watches
  readonly name: string
  readonly generation: Generation
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
    inMemory: true,
    writeSpacing: 0,
  }
  readonly prompt: PromptRequests = {
    read: (ref, options) => this.#read(ref, options),
    put: (ref, expected, body) => this.#put(ref, expected, ownBytes(body)),
    remove: (ref, expected) => this.#remove(ref, expected),
  }
  readonly #clock: Clock
  readonly #hasBoot: boolean
  /** Added to a clock that is never stepped, it gives Unix milliseconds. */
  readonly #offset: number
  readonly #areas = new Map<Area, Objects>()
  /** One count for all names, which only grows: no generation comes twice, even after a delete. */
  #writes = 0
  #changes: Change[] = []

  constructor(name: string, clock: Clock) {
    this.name = name
    this.#clock = clock
    this.#hasBoot = clock.bootId !== undefined
    this.#offset = clock.read().wall - this.#steady()
  }

  async start(): Promise<void> {}

  async read(ref: ObjectRef, options: ReadOptions): Promise<ReadAnswer> {
    return this.#read(ref, options)
  }

  async put(ref: ObjectRef, expected: Generation, body: Uint8Array): Promise<WriteAnswer> {
    return this.#put(ref, expected, new Uint8Array(body).buffer)
  }

  async remove(ref: ObjectRef, expected: Generation): Promise<WriteAnswer> {
    return this.#remove(ref, expected)
  }

  async list(area: Area, options: ListOptions): Promise<Page> {
    const { prefix, after = "" } = options
    const found = [...this.#of(area).versions].filter(([name]) => name.startsWith(prefix) && name > after)
    found.sort(([a], [b]) => (a < b ? -1 : 1))
    const items = found.slice(0, PAGE_SIZE).map(([name, { generation }]) => ({ name, generation }))
    const last = items.at(-1)
    return found.length > items.length && last !== undefined ? { items, next: last.name } : { items }
  }

  /** Tells of every write, when the call that made it is over. */
  watch({ area, name }: ObjectRef, wake: (generation?: Generation) => void): Watching {
    return new Watch(this.#of(area).watches, name, wake)
  }

  async close(): Promise<void> {}

  #read({ area, name }: ObjectRef, options: ReadOptions): ReadAnswer {
    const version = this.#of(area).versions.get(name)
    const storeTime = this.#now()
    if (version === undefined) return { kind: "absent", storeTime }
    const { generation, bytes } = version
    if (generation === options.known) return { kind: "unchanged", generation, storeTime }
    if (bytes.byteLength > options.limit) return { kind: "tooLarge", generation, storeTime }
    return { kind: "found", generation, body: new Uint8Array(bytes.slice(0)), storeTime }
  }

  #put({ area, name }: ObjectRef, expected: Generation, bytes: ArrayBufferLike): WriteAnswer {
    const { versions, watches } = this.#of(area)
    const storeTime = this.#now()
    if ((versions.get(name)?.generation ?? ABSENT) !== expected) return { kind: "refused", storeTime }
    const generation = String(++this.#writes)
    versions.set(name, { generation, bytes })
    this.#changed({ watches, name, generation })
    return { kind: "applied", generation, storeTime }
  }

  #remove({ area, name }: ObjectRef, expected: Generation): WriteAnswer {
    const { versions, watches } = this.#of(area)
    const storeTime = this.#now()
    if (expected === ABSENT || versions.get(name)?.generation !== expected) return { kind: "refused", storeTime }
    versions.delete(name)
    this.#changed({ watches, name, generation: ABSENT })
    return { kind: "applied", generation: expected, storeTime }
  }

  #of(area: Area): Objects {
    let objects = this.#areas.get(area)
    if (objects === undefined) this.#areas.set(area, (objects = { versions: new Map(), watches: new Map() }))
    return objects
  }

  /** Whoever writes may watch too, and has taken the answer in before it is told. */
  #changed(change: Change): void {
    if (!change.watches.has(change.name)) return
    this.#changes.push(change)
    if (this.#changes.length === 1) this.#clock.soon(() => this.#tell())
  }

  #tell(): void {
    const changes = this.#changes
    this.#changes = []
    const errors: unknown[] = []
    for (const { watches, name, generation } of changes) {
      for (const watch of watches.get(name) ?? []) {
        try {
          watch.tell(generation)
        } catch (error) {
          errors.push(error) // the others are told all the same: they rely on it
        }
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, "a watch of the memory store threw")
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

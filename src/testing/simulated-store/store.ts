/**
 * A store on virtual time, for connections of processes (connection.ts): requests travel, arrive and take effect,
 * answers travel back, and any of it may go wrong as it is told to. Each answer comes by its process's own clock, so
 * that one which is stopped hears of nothing and one which was killed never does.
 *
 * Not promised: anything about real stores but what the port `src/locks/stores/port.ts` asks for; that it keeps when
 * calm.
 */
import { clockName, sharesClock } from "../../locks/stores/file/time.ts"
import { ABSENT, type Generation, type ObjectRef, type StoreCapabilities } from "../../locks/stores/port.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { VirtualTime } from "../../runtime/time/virtual-time.ts"
import type { AppliedWrite } from "../../trace/applied.ts"
import type { Chance } from "./chance.ts"
import { calm, type Fate, fateOf } from "./fate.ts"
import { checkStoreFault, type StoreFault, type StoreFaultKind, type StoreOp } from "./faults.ts"
import {
  generationOf,
  type GenerationStyle,
  latencyOf,
  type StoreProfile,
  type StoreProfileName,
  storeProfiles,
} from "./profile.ts"

/** How a simulated store is made. */
export interface SimulatedStoreOptions {
  /** The time in which everything travels, whose wall clock is the store's clock. */
  readonly time: VirtualTime
  /** Of latencies and generations. */
  readonly chance: Chance
  /** What kind of store; default `gcs`. */
  readonly profile?: StoreProfileName
  /** How it names versions; default `long`. */
  readonly generations?: GenerationStyle
  /** Told of every write that takes effect, at that moment. */
  readonly onApplied?: (write: AppliedWrite) => void
}

/** One version of an object. */
export interface StoredVersion {
  /** Its name, which no other version ever has. */
  readonly generation: Generation
  /** What was written. */
  readonly body: Uint8Array
  /** When it was written, in milliseconds of the world's monotonic time. */
  readonly at: number
}

/** A simulated store in the hands of a test: what goes wrong, and what is there. */
export interface StoreControl {
  /** In people's eyes, and in heads. */
  readonly name: string
  /** What is there, by `area/name`. */
  readonly objects: ReadonlyMap<string, StoredVersion>
  /** From now on this goes wrong, as often or as long as it says. Throws InvalidConfigError. */
  inject(fault: StoreFault): void
  /** Nothing goes wrong any more. What is on its way stays as it is. */
  heal(): void
  /** Writes an object, or removes it, as an operator or a stranger does, who goes by no protocol of ours. */
  tamper(ref: ObjectRef, body: Uint8Array | undefined): void
}

/** The time of a store whose time is that of a boot, as one process reads it. */
export interface BootTime {
  readonly id: string
  now(): number
}

/** What became of a write when it arrived. */
export type WriteFate = "refused" | "throttled" | { readonly generation: Generation }

interface Active {
  readonly fault: StoreFault
  readonly until: number
  left: number
}

/** A store that exists in one virtual world. */
export class SimulatedStore implements StoreControl {
  /** What it is like. */
  readonly profile: StoreProfile
  readonly name: string
  readonly #time: VirtualTime
  readonly #chance: Chance
  readonly #style: GenerationStyle
  readonly #onApplied: (write: AppliedWrite) => void
  readonly #objects = new Map<string, StoredVersion>()
  /** When an object was last written, also one that is gone. */
  readonly #writtenAt = new Map<string, number>()
  /** The offsets of boot clocks, by name, as the first process that reads each has left them. */
  readonly #clocks = new Map<string, number>()
  #faults: Active[] = []
  /** When it has served all that has arrived, where it serves one after the other. */
  #servedBy = 0
  #versions = 0

  /** Without objects and without faults. */
  constructor(options: SimulatedStoreOptions) {
    const { profile = "gcs", generations = "long", onApplied = () => {} } = options
    this.profile = storeProfiles[profile]
    this.name = `simulated:${profile}`
    this.#time = options.time
    this.#chance = options.chance
    this.#style = generations
    this.#onApplied = onApplied
  }

  inject(fault: StoreFault): void {
    checkStoreFault(fault)
    const { times, forMs } = fault
    const until = forMs === undefined ? Infinity : this.#time.mono() + forMs
    this.#faults.push({ fault, until, left: times ?? (forMs === undefined ? 1 : Infinity) })
  }

  heal(): void {
    this.#faults = []
  }

  get objects(): ReadonlyMap<string, StoredVersion> {
    return this.#objects
  }

  tamper(ref: ObjectRef, body: Uint8Array | undefined): void {
    this.#apply(null, ref, body)
  }

  /** What the store can do for a process that reads this boot clock of its. */
  capabilitiesBy(time: BootTime | undefined): StoreCapabilities {
    const { capabilities, isOfBoots } = this.profile
    if (isOfBoots === undefined) return capabilities
    return time === undefined
      ? { ...capabilities, clock: "none", sameClock: false }
      : { ...capabilities, bootId: time.id }
  }

  /** What befalls a request that is sent now: one fault of each kind strikes it. */
  strike(worker: string, op: StoreOp, ref?: ObjectRef): Fate {
    if (this.#faults.length === 0) return calm
    const now = this.#time.mono()
    this.#faults = this.#faults.filter(({ until, left }) => until > now && left > 0)
    const struck = new Map<StoreFaultKind, StoreFault>()
    for (const active of this.#faults) {
      const { fault } = active
      if (struck.has(fault.kind) || !fits(fault, worker, op, ref)) continue
      active.left--
      struck.set(fault.kind, fault)
    }
    return fateOf([...struck.values()])
  }

  /** Whether a partition or an outage that goes on now stops what is on its way, there or back. */
  cuts(way: "there" | "back", worker: string, op: StoreOp, ref?: ObjectRef): boolean {
    if (this.#faults.length === 0) return false
    const now = this.#time.mono()
    return this.#faults.some(
      ({ fault, until }) =>
        now < until && until < Infinity && cutting[way].has(fault.kind) && fits(fault, worker, op, ref),
    )
  }

  /** How long a request that arrives now takes to be served, behind those that arrived before, in milliseconds. */
  service(): number {
    const now = this.#time.mono()
    const rates = this.#faults.flatMap(({ fault, until }) =>
      fault.kind === "capacity" && now < until ? [fault.perSecond] : [],
    )
    if (rates.length === 0) return 0
    this.#servedBy = Math.max(now, this.#servedBy) + 1000 / Math.min(...rates)
    return this.#servedBy - now
  }

  /** How long one way takes. */
  latency(): number {
    return latencyOf(this.profile, this.#chance)
  }

  /** Calls back in true time, also where no process lives then. */
  later(ms: number, callback: () => void): void {
    this.#time.after(ms, callback)
  }

  /** The store's time, as an answer tells it to a process that reads this boot clock; undefined where none does. */
  stamp(skew: number, time: BootTime | undefined): number | undefined {
    if (this.profile.isOfBoots) return time?.now()
    const now = this.#time.read().wall + skew
    const { clock: kind } = this.profile.capabilities
    return kind === "none" ? undefined : kind === "coarse" ? Math.floor(now / 1000) * 1000 : now
  }

  /** The boot clock that a process reads from its start on, by the rule of directories. */
  bootTime(clock: Clock): BootTime | undefined {
    const { bootId } = clock
    if (!this.profile.isOfBoots || bootId === undefined) return undefined
    const { wall, boot } = clock.read()
    for (let count = 0; ; count++) {
      const id = clockName(bootId, count)
      const offset = this.#clocks.get(id) ?? wall - boot
      this.#clocks.set(id, offset)
      if (sharesClock(offset, wall - boot)) return { id, now: () => clock.read().boot + offset }
    }
  }

  /** The object as it stands. */
  look(ref: ObjectRef): StoredVersion | undefined {
    return this.#objects.get(address(ref))
  }

  /** A write that arrives. */
  write(worker: string, ref: ObjectRef, expected: Generation, body: Uint8Array | undefined): WriteFate {
    const there = this.look(ref)?.generation ?? ABSENT
    if (there !== expected || (body === undefined && expected === ABSENT)) return "refused"
    const { writeSpacing } = this.profile.capabilities
    const last = this.#writtenAt.get(address(ref)) ?? -Infinity
    if (writeSpacing > 0 && this.#time.mono() - last < writeSpacing) return "throttled"
    return { generation: this.#apply(worker, ref, body) }
  }

  #apply(worker: string | null, ref: ObjectRef, body: Uint8Array | undefined): Generation {
    const key = address(ref)
    const before = this.#objects.get(key)?.generation ?? ABSENT
    const generation = body === undefined ? ABSENT : generationOf(this.#style, ++this.#versions, this.#chance)
    if (body === undefined) this.#objects.delete(key)
    else this.#objects.set(key, { generation, body, at: this.#time.mono() })
    this.#writtenAt.set(key, this.#time.mono())
    this.#onApplied({ worker, area: ref.area, name: ref.name, before, generation, body })
    return generation
  }
}

const address = ({ area, name }: ObjectRef): string => `${area}/${name}`

/** What stops messages as long as it lasts. */
const cutting: Readonly<Record<"there" | "back", ReadonlySet<StoreFaultKind>>> = {
  there: new Set(["outage", "partition"]),
  back: new Set(["outage", "partition", "mutePartition"]),
}

function fits(fault: StoreFault, worker: string, op: StoreOp, ref: ObjectRef | undefined): boolean {
  if (fault.worker !== null && fault.worker !== worker) return false
  if (fault.op !== undefined && fault.op !== op) return false
  if (fault.area !== undefined && fault.area !== ref?.area) return false
  return (
    (fault.kind !== "cachedAnswer" || op === "read") && (fault.kind !== "throttle" || op === "put" || op === "remove")
  )
}

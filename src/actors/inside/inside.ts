/**
 * The inside of a manager, for pages that show it to people: who it is, what its sandboxes do, what the store says of a
 * key, and all lines of its trace. Internal: no entry exports it, and it may change with any release.
 *
 * Not promised: that two values of it belong to one moment, unless they are read in one turn of the event loop.
 */
import { guardOf } from "../../locks/engine/options.ts"
import { refusal, shown } from "../../runtime/input/options.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { TraceTap } from "../../trace/live/live-trace.ts"
import type { AnyDefinition } from "../api/sandbox.ts"
import type { SandboxCalls } from "../calls/calls.ts"
import type { ManagerSettings } from "../registry/options.ts"
import type { Registry } from "../registry/registry.ts"
import type { SandboxRuntime } from "../sandbox/runtime.ts"
import { readRecord, type RecordInside } from "./record.ts"
import { type SandboxInside, type SandboxParts, RuntimeInside } from "./sandbox.ts"

export type { RecordInside } from "./record.ts"
export type { SandboxInside } from "./sandbox.ts"

/** What a page can see of a manager, and the few things that it can ask of it. */
export interface ManagerInside {
  /** Its name in the lines of its trace; the incarnation, unless the trace's options name it. */
  readonly worker: string
  /** Its incarnation, as records name it. */
  readonly ownerId: string
  /** Where it can be reached, as it publishes; null where it publishes nothing. */
  readonly address: string | null
  readonly clock: Clock
  readonly definitions: Iterable<AnyDefinition>
  /**
   * Every sandbox that isn't over yet, those included that wait, and those whose lease is lost but whose work goes on.
   */
  readonly sandboxes: Iterable<SandboxInside>
  /** The sandbox of a lock key; undefined where there is none here. */
  find(lockKey: string): SandboxInside | undefined
  /** What `SandboxManager.stats` tells. */
  stats(): Readonly<Record<string, number>>
  /** As `SandboxManager.cordon`. */
  cordon(): void
  /** It takes no new sandbox in: cordoned, draining or closed. */
  readonly closed: boolean
  /** Settles once it is disposed, or was disposed before: nothing more comes of it. Never rejects. */
  readonly ended: Promise<void>
  /** Of its leases, in milliseconds. */
  readonly ttl: number
  /** What an owner subtracts from its lease, in milliseconds; null for locks of a `lockFactory`. */
  readonly guard: number | null
  /**
   * By how much the wall clock is ahead of the store's time, in milliseconds; null where no fresh answer told the
   * store's.
   */
  readonly clockOffset: number | null
  readonly tap: TraceTap
  /** Takes calls of other processes, and sends them. */
  readonly calls: Pick<SandboxCalls, "connect" | "ownerOf" | "receive" | "storeTime">
  /** What the lease record of a key says now: one read. Null where there is none. Rejects as `Lock.peek` does. */
  read(lockKey: string): Promise<RecordInside | null>
}

/** What an inside is made of. */
export interface InsideParts {
  readonly settings: ManagerSettings
  readonly registry: Registry
  readonly calls: SandboxCalls
  readonly stats: () => Readonly<Record<string, number>>
  readonly cordon: () => void
  readonly isClosed: () => boolean
  readonly checkpoint: (runtime: SandboxRuntime) => Promise<void>
}

class Inside implements ManagerInside {
  readonly worker: string
  readonly ownerId: string
  readonly address: string | null
  readonly clock: Clock
  readonly definitions: readonly AnyDefinition[]
  readonly ttl: number
  readonly guard: number | null
  readonly tap: TraceTap
  readonly calls: ManagerInside["calls"]
  readonly #parts: InsideParts

  constructor(parts: InsideParts) {
    const { trace, lockOptions, clock, definitions, ttl, store } = parts.settings
    this.worker = trace.worker
    this.ownerId = lockOptions.incarnation.id
    this.address = lockOptions.address ?? null
    this.clock = clock
    this.definitions = [...definitions.values()].map(({ definition }) => definition)
    this.ttl = ttl
    this.guard = store === undefined ? null : guardOf(ttl, store.capabilities)
    this.tap = trace
    this.calls = parts.calls
    this.#parts = parts
  }

  get sandboxes(): Iterable<SandboxInside> {
    return this.#all()
  }

  find(lockKey: string): SandboxInside | undefined {
    const runtime = this.#parts.registry.find(lockKey)
    return runtime && new RuntimeInside(runtime, this.#shared)
  }

  stats(): Readonly<Record<string, number>> {
    return this.#parts.stats()
  }

  cordon(): void {
    this.#parts.cordon()
  }

  get closed(): boolean {
    return this.#parts.isClosed()
  }

  get ended(): Promise<void> {
    return this.#parts.settings.trace.ended
  }

  get clockOffset(): number | null {
    return this.#parts.settings.keyRuntimes()?.clockOffset ?? null
  }

  async read(lockKey: string): Promise<RecordInside | null> {
    return (await readRecord(this.#parts.settings, lockKey)) ?? null
  }

  *#all(): Iterable<SandboxInside> {
    const shared = this.#shared
    for (const runtime of this.#parts.registry.runtimes) yield new RuntimeInside(runtime, shared)
  }

  get #shared(): SandboxParts {
    const { settings, checkpoint } = this.#parts
    return { keyRuntimes: settings.keyRuntimes(), checkpoint }
  }
}

const insides = new WeakMap<object, ManagerInside>()

/** Lets a manager that was made here be looked into. */
export function openInside(manager: object, parts: InsideParts): void {
  insides.set(manager, new Inside(parts))
}

/** The inside of a manager. Throws InvalidConfigError for what `SandboxManager.start` didn't make. */
export function insideOf(manager: object): ManagerInside {
  const inside = insides.get(manager)
  if (inside !== undefined) return inside
  throw refusal(
    `The manager is ${shown(manager)} that SandboxManager.start didn't make`,
    "Give the manager itself, as SandboxManager.start gave it, and nothing around it",
  )
}

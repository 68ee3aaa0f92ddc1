/**
 * The options of a manager, checked at its start. Every bad value, and every pair of values that can't work together,
 * has a message of its own. None becomes a default.
 */
import type { InspectionEvent, Observer } from "xstate"
import { sharesDoor } from "../../locks/admission/admission.ts"
import type { Incarnation, Lock, LockFactory } from "../../locks/api/lock.ts"
import { anIncarnation, thisProcess } from "../../locks/engine/incarnation.ts"
import { type KeyRuntimes, keyRuntimesOf } from "../../locks/engine/key-runtimes.ts"
import { anAddress, configOf, type LockOptions } from "../../locks/engine/options.ts"
import { StoreLock } from "../../locks/lock/store-lock.ts"
import type { CheckpointStore, LeaseStore, ObjectStore } from "../../locks/stores/port.ts"
import { isStore } from "../../locks/stores/start.ts"
import { lasting } from "../../runtime/input/bounds.ts"
import type { Duration } from "../../runtime/input/duration.ts"
import {
  aClock,
  aCount,
  aDuration,
  aFlag,
  aFunction,
  anObject,
  type OptionChecks,
  millis,
  refusal,
  refuseUnknown,
} from "../../runtime/input/options.ts"
import { type OnError, reporter } from "../../runtime/report.ts"
import { type Clock, liveClock } from "../../runtime/time/clock.ts"
import { LiveTrace } from "../../trace/live/live-trace.ts"
import { aTrace, type TraceOptions, type TraceSink, traceSettings } from "../../trace/live/options.ts"
import { type Recorded, recordedStore } from "../../trace/recorded-store.ts"
import { type DefinitionParts, partsOf } from "../api/definition.ts"
import type { AnyDefinition } from "../api/sandbox.ts"
import { type CheckpointCodec, checkpointCodec, DEFAULT_CAP } from "../checkpoints/content/codec.ts"
import { KEPT_LIMIT } from "../checkpoints/head/head.ts"

/** Where leases and checkpoints are kept: locks made elsewhere and a store, two stores, or one store for both. */
export type ManagerStores =
  | { readonly lockFactory: LockFactory; readonly checkpoints: CheckpointStore; readonly store?: never }
  | { readonly store: LeaseStore; readonly checkpoints: CheckpointStore; readonly lockFactory?: never }
  // The usual one stands last: TypeScript explains a mistake by what the last one lacks.
  | {
      readonly store: LeaseStore & CheckpointStore
      readonly checkpoints?: CheckpointStore
      readonly lockFactory?: never
    }

/** How a manager is started. Stores stay their maker's: a manager never closes one. */
export type ManagerOptions = ManagerStores & {
  /** The definitions that this process can run. Their names must differ. */
  readonly sandboxes: readonly AnyDefinition[]
  /** Of its leases; default 30 s. With a `lockFactory`: the ttl that its locks have. */
  readonly ttl?: Duration
  /** Published to others: where this process can be reached. */
  readonly address?: string
  /**
   * Another process's request takes effect only once the sandbox has run for this time, so that a key doesn't go back
   * and forth. Default 5 s. A call elsewhere waits for the rest of it, and then for the handoff itself: milliseconds in
   * a directory, seconds in a bucket. With 0 it waits for the handoff alone. A call here that waited for the sandbox
   * has its turn first.
   */
  readonly minTenure?: Duration
  /** What claiming the saved state may take, and then `migrate`, the schema and `restore` together; default 30 s. */
  readonly restoreWithin?: Duration
  /**
   * How long the work may take to end once it is asked to; default 10 s. Then it counts as stuck. As with every limit
   * of a hook, its signal aborts, `onError` and `stats().stuck` tell of it, and the lease is kept until the hook has
   * ended.
   */
  readonly settleWithin?: Duration
  /** What one checkpoint may take: the hook, the schema and the store together; default 10 s. */
  readonly checkpointWithin?: Duration
  /** What `close` may take; default: as `settleWithin`. */
  readonly closeWithin?: Duration
  /** What this process has between SIGTERM and SIGKILL: the default grace of `drain`. Default 30 s. */
  readonly killGrace?: Duration
  /**
   * While the `run` of a sandbox goes on here, the process doesn't end for want of other work; default true. With false
   * it may end then, as after a crash: nothing is saved or released. With a `clock` of its own it is false.
   */
  readonly keepAlive?: boolean
  /** How many older content objects stay beside the newest, 0 to 32; default 1. */
  readonly keepCheckpoints?: number
  /** The most bytes of one checkpoint; default 32 MiB. */
  readonly maxCheckpoint?: number
  /**
   * Takes over saved state that was written under leases of another store. Set it once the leases have moved, with no
   * process left on the old store. Set it also where leases don't outlive the process or the boot (memory), if no other
   * process uses these checkpoints.
   */
  readonly adoptHeads?: boolean
  /** Who contends; default this process. */
  readonly incarnation?: Incarnation
  /** Time and chance; default those of this process. */
  readonly clock?: Clock
  /** Gets every error of background work, what observers throw included; default standard error. */
  readonly onError?: OnError
  /** Gets XState's inspection events of all sandboxes: a function, or an observer, as XState's own option. */
  readonly inspect?: Observer<InspectionEvent> | ((event: InspectionEvent) => void)
  /**
   * Writes a trace of what happens here, in the simulator's format (docs/trace.md). Give the path of a file, a function
   * that gets each line, or options. Values and credentials are redacted. Default: none.
   *
   * A trace that can't be written stops and slows nothing. `onError` gets one TraceWriteError, and
   * `stats().traceDropped` counts the lines that are left out.
   */
  readonly trace?: string | TraceSink | TraceOptions
}

/** The check of each option. The stores and the sandboxes have rules of their own, which are checked later. */
const MANAGER_OPTIONS: OptionChecks<ManagerOptions> = {
  store: true,
  checkpoints: true,
  lockFactory: aFunction,
  sandboxes: true,
  ttl: lasting(1),
  address: anAddress,
  minTenure: aDuration,
  restoreWithin: lasting(1),
  settleWithin: lasting(1),
  checkpointWithin: lasting(1),
  closeWithin: lasting(1),
  killGrace: lasting(1),
  keepAlive: aFlag,
  keepCheckpoints: aCount(0),
  maxCheckpoint: aCount(1),
  adoptHeads: aFlag,
  incarnation: anIncarnation,
  clock: aClock,
  onError: aFunction,
  inspect: anInspector,
  trace: aTrace,
}

/** A function, or an observer with a `next`. */
function anInspector(name: string, value: unknown): void {
  if (typeof value !== "function") anObject("Give a function, or an observer with next", "next")(name, value)
}

/** A definition that a manager knows. */
export interface KnownDefinition {
  readonly definition: AnyDefinition
  readonly parts: DefinitionParts
  readonly codec: CheckpointCodec<unknown, unknown>
}

/** Options that hold. Times are milliseconds. */
export interface ManagerSettings {
  /** By name. */
  readonly definitions: ReadonlyMap<string, KnownDefinition>
  readonly store: LeaseStore | undefined
  /** The store of checkpoints as it was given. Send requests to `checkpoints`. */
  readonly checkpointStore: CheckpointStore
  /** The same, with its requests in the trace. */
  readonly checkpoints: CheckpointStore
  readonly trace: LiveTrace
  readonly lockOptions: LockOptions & { readonly incarnation: Incarnation }
  readonly makeLock: (lockKey: string) => Lock
  /** The keys of the locks made here; undefined where they are made elsewhere. */
  readonly keyRuntimes: () => KeyRuntimes | undefined
  readonly ttl: number
  readonly minTenure: number
  readonly restoreWithin: number
  readonly settleWithin: number
  readonly checkpointWithin: number
  readonly closeWithin: number
  readonly killGrace: number
  /** A `run` that goes on keeps the process alive. */
  readonly keepsAlive: boolean
  readonly keepCheckpoints: number
  readonly maxCheckpoint: number
  readonly adoptHeads: boolean
  readonly clock: Clock
  readonly report: OnError
  /** There is no `onError`: a drain reports all states that it can't save in one error. */
  readonly sumsUp: boolean
  readonly inspect: ((event: InspectionEvent) => void) | undefined
}

/** Checks what can be checked before the store has started. Throws InvalidConfigError or UnknownDefinitionError. */
export const settingsOf = (options: ManagerOptions): ManagerSettings => {
  refuseUnknown("SandboxManager.start", options, MANAGER_OPTIONS)
  const { clock = liveClock, onError, inspect, adoptHeads = false, keepCheckpoints = 1 } = options
  const { ttl = "30 s", minTenure = "5 s", restoreWithin = "30 s", settleWithin = "10 s" } = options
  const { checkpointWithin = "10 s", closeWithin = settleWithin, killGrace = "30 s" } = options
  const { maxCheckpoint = DEFAULT_CAP, keepAlive = true } = options
  const report = reporter(onError)
  const { store, checkpointStore } = storesOf(options)
  const lockOptions = lockOptionsOf(options, clock, () => thisProcess(store ?? checkpointStore))
  const trace = new LiveTrace(traceSettings(options.trace), { worker: lockOptions.incarnation.id, clock, report })
  const settings = {
    definitions: definitionsOf(options.sandboxes, maxCheckpoint),
    ...{ store, checkpointStore, checkpoints: inTrace(checkpointStore, trace), trace, lockOptions },
    ttl: millis("ttl", ttl),
    minTenure: millis("minTenure", minTenure),
    restoreWithin: millis("restoreWithin", restoreWithin),
    settleWithin: millis("settleWithin", settleWithin),
    checkpointWithin: millis("checkpointWithin", checkpointWithin),
    closeWithin: millis("closeWithin", closeWithin),
    killGrace: millis("killGrace", killGrace),
    keepsAlive: keepAlive && clock === liveClock, // time of another kind keeps no process alive
    ...{ keepCheckpoints, maxCheckpoint, adoptHeads, clock },
    inspect: typeof inspect === "object" ? (event: InspectionEvent) => inspect.next?.(event) : inspect,
    report,
    sumsUp: onError === undefined,
  }
  checkInequalities(settings)
  return {
    ...settings,
    makeLock: options.lockFactory ?? ((lockKey) => new StoreLock(lockKey, { ...lockOptions, store: options.store })),
    keyRuntimes: () => store && keyRuntimesOf(store, lockOptions.incarnation.id, clock, ""),
  }
}

/** Checks the ttl, which only a store that has started can judge: its clock decides which ttl it allows. */
export const checkAgainst = (settings: ManagerSettings, store: LeaseStore): void => {
  const { lockOptions } = settings
  configOf("ttl", { ...lockOptions.incarnation, life: "" }, lockOptions, store.capabilities)
}

const lockOptionsOf = (
  options: ManagerOptions,
  clock: Clock,
  here: () => Incarnation,
): ManagerSettings["lockOptions"] => {
  const { ttl, address, onError, incarnation = here() } = options
  return {
    clock,
    incarnation,
    ...(ttl !== undefined && { ttl }),
    ...(address !== undefined && { address }),
    ...(onError !== undefined && { onError }),
  }
}

const definitionsOf = (
  sandboxes: ManagerOptions["sandboxes"],
  maxCheckpoint: number,
): ManagerSettings["definitions"] => {
  if (!Array.isArray(sandboxes))
    throw refusal("sandboxes is no array", "Give the definitions that this process can run")
  const definitions: Map<string, KnownDefinition> = new Map()
  for (const definition of sandboxes as readonly AnyDefinition[]) {
    const parts = partsOf(definition)
    if (definitions.has(definition.name)) {
      throw refusal(
        `sandboxes has two definitions named ${JSON.stringify(definition.name)}`,
        "Give each its own name: their saved state would be one",
      )
    }
    const { schema, migrate } = parts.hooks
    const codec = checkpointCodec<unknown, unknown>({ version: parts.version, schema, migrate, maxCheckpoint })
    definitions.set(definition.name, { definition, parts, codec })
  }
  return definitions
}

/**
 * The store, with its requests as lines of the trace. It shares the admission of the store itself, where requests wait.
 */
export const inTrace = <S extends ObjectStore>(store: S, trace: LiveTrace): Recorded<S> => {
  const recorded = recordedStore(store, trace)
  sharesDoor(recorded, store)
  return recorded
}

const storesOf = (options: ManagerOptions): Pick<ManagerSettings, "store" | "checkpointStore"> => {
  const { store, lockFactory } = options
  if ((store === undefined) === (lockFactory === undefined)) {
    throw refusal(
      store === undefined ? "There is neither a store nor a lockFactory" : "There are a store and a lockFactory",
      "Give one of them: the store for locks made here, the lockFactory for locks made elsewhere",
    )
  }
  if (store !== undefined && !isStore(store))
    throw refusal("store is no store", "Give gcsStore(…), fileStore(…) or memoryStore()")
  const checkpoints = (options.checkpoints === undefined ? store : options.checkpoints) as
    | CheckpointStore
    | null
    | undefined
  if (checkpoints?.checkpoints !== true) {
    throw refusal(
      "checkpoints is no store for saved state",
      "Give one that is: a lockFactory alone, and a store of leases alone, have nowhere to put it",
    )
  }
  return { store, checkpointStore: checkpoints }
}

type Checked = Pick<ManagerSettings, "settleWithin" | "checkpointWithin" | "killGrace" | "keepCheckpoints">

const checkInequalities = ({ settleWithin, checkpointWithin, killGrace, keepCheckpoints }: Checked): void => {
  if (settleWithin + checkpointWithin > killGrace) {
    throw refusal(
      `settleWithin (${settleWithin} ms) and checkpointWithin (${checkpointWithin} ms) together are longer than killGrace (${killGrace} ms): a drain could be killed before it has saved`,
      "Lower one of the two, or give the process more time between SIGTERM and SIGKILL and say so in killGrace",
    )
  }
  if (keepCheckpoints > KEPT_LIMIT) throw refusal(`keepCheckpoints is ${keepCheckpoints}`, `Give at most ${KEPT_LIMIT}`)
}

/** What the runtime of one sandbox is made of. Only types. */
import type { AnyActor } from "xstate"
import type { AcquireOptions, Lock, LockEvent } from "../../locks/api/lock.ts"
import type { Fibers } from "../../runtime/bridges/fibers.ts"
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { LiveTrace } from "../../trace/live/live-trace.ts"
import type { DefinitionParts } from "../api/definition.ts"
import type { HookLimits } from "../api/hooks.ts"
import type { CommandedChart } from "../chart/commanded.ts"
import type { ChartFailure, ChartLimits } from "../chart/types.ts"
import type { CheckpointCodec } from "../checkpoints/content/codec.ts"
import type { CheckpointWriter } from "../checkpoints/writer.ts"
import type { Departures } from "./departures.ts"
import type { SandboxTally } from "./tally.ts"

/** What is told of each sandbox. */
export interface Keeper {
  /** Its lock told of something. */
  told(event: LockEvent): void
  /** Its chart is over; its work may not be. */
  ended(parts: RuntimeParts, end: { readonly hasRun: boolean; readonly failure: ChartFailure | undefined }): void
  /** Nothing of it runs any more; `cleaned` settles when nothing is left to do in the store. */
  gone(parts: RuntimeParts, cleaned: Promise<void> | undefined): void
}

/** What all sandboxes of a manager share. */
export interface Surroundings extends CommandedChart {
  readonly keeper: Keeper
  readonly clock: Clock
  /** As far as it is known here, in Unix milliseconds: by the store's last answers, and else by this clock. */
  readonly storeTime: () => number
  readonly fibers: Fibers
  readonly report: OnError
  readonly departures: Departures
  /** Errors go to standard error, where a drain tells of the states that it can't save in one. */
  readonly sumsUp: boolean
  readonly tally: SandboxTally
  readonly trace: LiveTrace
  /** What hooks may take. */
  readonly limits: HookLimits
  /** A `run` that goes on keeps the process alive. */
  readonly keepsAlive: boolean
  /** In milliseconds, from when a sandbox runs. */
  readonly minTenure: number
  /** What all their actors have as parent: so they are one XState system. It does nothing when one ends. */
  readonly root: AnyActor
}

/** What one sandbox is made of. */
export interface RuntimeParts {
  readonly id: string
  readonly key: string
  readonly lockKey: string
  readonly definition: DefinitionParts
  readonly purpose: "run" | "remove"
  readonly lock: Lock
  readonly writer: CheckpointWriter
  readonly codec: CheckpointCodec<unknown, unknown>
}

/** How its key is asked for. Nobody needs it once that was done. */
export interface Wish {
  /** Milliseconds before the first try, or 0. */
  readonly backOff: number
  readonly limits: Pick<ChartLimits, "acquireWithin">
  readonly acquire: Omit<AcquireOptions, "signal" | "minTenure">
}

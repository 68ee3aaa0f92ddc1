/**
 * The options of a manager's calls, and the check of each. What waiting and budgets do is said in `Lock.acquire`.
 *
 * Not promised: that an option's value was checked. The calls do that, with the checks that stand here.
 */
import type { AcquireOptions } from "../../locks/api/lock.ts"
import { ACQUIRE_OPTIONS } from "../../locks/engine/options.ts"
import type { Duration } from "../../runtime/input/duration.ts"
import { aDuration, aFlag, aNumber, millis, type OptionChecks, refusal, shown } from "../../runtime/input/options.ts"
import { CALL_ID } from "./call-id.ts"
import type { CallOptions } from "./calls.ts"
import type { UseOptions } from "./sandbox.ts"

/**
 * How to restore a sandbox: as one acquires a lock. The `observer` is told of the whole call: of another process that
 * has the sandbox, of other calls of this one, and of the restore. It ends as `acquired` when the sandbox, or the use,
 * can begin.
 */
export type RestoreOptions = Pick<
  AcquireOptions,
  "timeout" | "timeoutSource" | "signal" | "observer" | "whenOwned" | "contention"
>

/** How to use a sandbox through its manager: as one restores it, and as `Sandbox.use`. */
export type ManagerUseOptions = RestoreOptions & Pick<UseOptions, "durable">

/** How to drain. */
export interface DrainOptions {
  /** How long to wait for all to leave. Default: the manager's `killGrace`. */
  readonly grace?: Duration
}

function aCallId(name: string, value: unknown): void {
  if (typeof value === "string" && CALL_ID.test(value)) return
  throw refusal(`${name} is ${shown(value)}`, "Give 1 to 128 characters of A to Z, a to z, 0 to 9, _, ., : and -")
}

const { timeout, timeoutSource, signal, observer, whenOwned, contention } = ACQUIRE_OPTIONS

/** A call isn't made as one try: it is answered within its time. */
function aCallTimeout(name: string, value: unknown): void {
  if (value === "infinite") return
  if (millis(name, value as Duration) === 0)
    throw refusal(`${name} is ${shown(value)}`, "Give more than 0 ms: a call has to be answered within it")
}

/** Of `restoreSandbox` and `remove`. */
export const RESTORE_OPTIONS: OptionChecks<RestoreOptions> = {
  timeout,
  timeoutSource,
  signal,
  observer,
  whenOwned,
  contention,
}

/** Of a manager's `use`. */
export const MANAGER_USE_OPTIONS: OptionChecks<ManagerUseOptions> = { ...RESTORE_OPTIONS, durable: aFlag }

/** Of a manager's `call`. */
export const CALL_OPTIONS: OptionChecks<CallOptions> = { signal, timeout: aCallTimeout, id: aCallId, sentAt: aNumber }

/** Of a sandbox's `use`. */
export const USE_OPTIONS: OptionChecks<UseOptions> = { signal, timeout, durable: aFlag }

/** Of `drain`. */
export const DRAIN_OPTIONS: OptionChecks<DrainOptions> = { grace: aDuration }

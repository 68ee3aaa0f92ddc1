/** Every option of the calls of a manager and of a sandbox, with the check of its value. What they mean is said in their types. */
import { ACQUIRE_OPTIONS } from "../../locks/engine/options.ts"
import { aDuration, aFlag, type OptionChecks } from "../../runtime/input/options.ts"
import type { DrainOptions } from "../manager/drain.ts"
import type { ManagerUseOptions, RestoreOptions } from "../manager/manager.ts"
import type { UseOptions } from "./sandbox.ts"

const { timeout, timeoutSource, signal, observer, whenOwned, contention } = ACQUIRE_OPTIONS

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

/** Of a sandbox's `use`. */
export const USE_OPTIONS: OptionChecks<UseOptions> = { signal, timeout, durable: aFlag }

/** Of `drain`. */
export const DRAIN_OPTIONS: OptionChecks<DrainOptions> = { grace: aDuration }

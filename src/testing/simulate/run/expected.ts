/**
 * Which errors a run may come to, and how all others are told. Owns the list of those that no fault explains: what is
 * wrong is then the sandbox, the workload or the options, and a run that took them for weather would try nothing.
 */
import {
  CheckpointInvalidError,
  CheckpointVersionError,
  CorruptCheckpointError,
  HandingOffError,
  InvalidConfigError,
  InvalidKeyError,
  LockError,
  ProtocolFaultError,
  ReentrantLockError,
  UnknownDefinitionError,
} from "../../../locks/api/errors.ts"
import { TrappedCallError } from "../machines/traps.ts"
import { isHookFailure } from "./hook-faults.ts"
import { ProcessGone } from "./member.ts"

/** No fault of a plan spoils saved state, and none writes calls. */
const mistakes = [
  CheckpointInvalidError,
  CheckpointVersionError,
  CorruptCheckpointError,
  InvalidConfigError,
  InvalidKeyError,
  ProtocolFaultError,
  ReentrantLockError,
  UnknownDefinitionError,
]

/** The library's own errors that a fault may explain, and those that the run itself makes. */
export const isExpected = (error: unknown): boolean =>
  (error instanceof LockError && !isMistake(error) && !isOfRun(error)) ||
  error instanceof ProcessGone ||
  error instanceof TrappedCallError ||
  isHookFailure(error)

/** What run threw and no fault explains. */
const isOfRun = (error: LockError): boolean =>
  error instanceof HandingOffError && error.cause !== undefined && !isExpected(error.cause)

/** One of them, or what came of one: a use isn't durable where its checkpoint was refused. */
function isMistake(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; at = at.cause, depth++)
    if (mistakes.some((mistake) => at instanceof mistake)) return true
  return false
}

/** With the stack, where there is one. */
export const describe = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? String(error)) : String(error)

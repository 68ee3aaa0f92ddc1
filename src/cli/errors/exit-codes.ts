/**
 * The exit codes of the command. Each way in which it can fail by itself has its own, so that a script can tell them
 * apart. A command that was run under a lock passes on its own code, which may be any. docs/errors.md lists them beside
 * the classes.
 */
import { LockError } from "../../locks/api/errors.ts"
import { StartError } from "./start-error.ts"
import { UnknownEndError } from "./unknown-end-error.ts"
import { UnwrittenError } from "./unwritten-error.ts"
import { UsageError } from "./usage-error.ts"

/** Where `sysexits.h` has a number for it, the code is near that number. */
export const EXIT = {
  ok: 0,
  /** Nothing was done: it was not said to which version, or the record is another by now. */
  refused: 1,
  usage: 64,
  corrupt: 65,
  format: 66,
  storeUnavailable: 69,
  internal: 70,
  storeMisconfigured: 71,
  /** The result went to a file or a terminal that takes it no more. */
  unwritten: 74,
  timeout: 75,
  contention: 76,
  cancelled: 77,
  configuration: 78,
  leaseLost: 79,
  /** What was run has ended, and nobody knows how: never a success. */
  unknownEnd: 80,
  /** As a shell says it. */
  notStarted: 126,
} as const

/** By the name of the class. Other errors are faults of ours. */
const byClass: Readonly<Record<string, number>> = {
  LockTimeoutError: EXIT.timeout,
  LockContentionError: EXIT.contention,
  OwnedElsewhereError: EXIT.contention,
  LockCancelledError: EXIT.cancelled,
  LockLostError: EXIT.leaseLost,
  InvalidKeyError: EXIT.usage,
  InvalidConfigError: EXIT.configuration,
  StoreUnavailableError: EXIT.storeUnavailable,
  StoreMisconfiguredError: EXIT.storeMisconfigured,
  CorruptRecordError: EXIT.corrupt,
  FormatVersionError: EXIT.format,
  TraceFormatError: EXIT.corrupt,
}

/** The exit code for an error. `instead`: the code that the user wants for a timeout and contention. */
export function exitCodeOf(error: unknown, instead?: number): number {
  if (error instanceof UsageError) return EXIT.usage
  if (error instanceof StartError) return EXIT.notStarted
  if (error instanceof UnknownEndError) return EXIT.unknownEnd
  if (error instanceof UnwrittenError) return EXIT.unwritten
  const code = error instanceof LockError ? (byClass[error._tag] ?? EXIT.internal) : EXIT.internal
  return instead !== undefined && (code === EXIT.timeout || code === EXIT.contention) ? instead : code
}

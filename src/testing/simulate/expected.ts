/** Which errors a run may come to, and how all others are told. */
import { LockError } from "../../locks/errors.ts"
import { isHookFailure } from "./hook-faults.ts"
import { ProcessGone } from "./member.ts"
import { TrappedCallError } from "./traps.ts"

/** The library's own errors, and those that the run itself makes. */
export const isExpected = (error: unknown): boolean =>
  error instanceof LockError ||
  error instanceof ProcessGone ||
  error instanceof TrappedCallError ||
  isHookFailure(error)

/** With the stack, where there is one. */
export const describe = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? String(error)) : String(error)

/**
 * The typed errors of sandboxes and managers, each with what to do next. Owns the wording; who raises which is
 * elsewhere.
 */
import {
  HandingOffError,
  HookOverrunError,
  LockError,
  LockLostError,
  LockNotHeldError,
  LockTimeoutError,
  ManagerClosedError,
  NotDurableError,
  type Owner,
  OwnedElsewhereError,
  StatesUnsavedError,
  UnknownDefinitionError,
} from "../../locks/api/errors.ts"
import { END_REASONS } from "../chart/reasons.ts"
import type { EndReason } from "../chart/types.ts"
import type { HookLimit, HookName, LimitOption } from "./hooks.ts"

/** The sandbox leaves, or has left: use it where it goes. `cause`: what its run threw, where that is why. */
export const handingOff = (key: string, reason: EndReason, cause?: unknown): HandingOffError =>
  new HandingOffError({
    message: `${key} is leaving this process: ${END_REASONS[reason].because}${cause === undefined ? "" : ` (${briefly(cause)})`}`,
    next: nextAfter(reason),
    key,
    cause,
  })

const ASK_ANOTHER = "Ask another process for it, at once: this one takes no sandbox in any more"

const nextAfter = (reason: EndReason): string => {
  if (END_REASONS[reason].endsManager) return ASK_ANOTHER
  return reason === "failed"
    ? "Use it again through the manager, which restores what was saved last, after a pause of 1 s or more"
    : "Use it again through the manager, which finds it where it goes"
}

/** A call that came before the drain waited for a sandbox that doesn't come to run here any more. Nothing of it ran. */
export const drained = (key: string): HandingOffError =>
  new HandingOffError({ message: `${key} doesn't come to run here: this process is draining`, next: ASK_ANOTHER, key })

/**
 * An error within a sentence. One of leasehold's own is long: its tag stands here, and the whole of it is the cause.
 */
const briefly = (error: unknown): string => (error instanceof LockError ? error._tag : String(error))

/** Its run threw. */
export const runThrew = (key: string, cause: unknown): HandingOffError =>
  new HandingOffError({
    message: `run of ${key} threw ${briefly(cause)}, and the sandbox ends without a checkpoint`,
    next: "Make run catch it; the next use restores what was saved last, after a pause of 1 s or more",
    key,
    cause,
  })

/** The lease turned out to be lost when it was to be released: no event had said so before. */
export const lostBefore = (key: string, since: number): LockLostError =>
  new LockLostError({
    message: `The lease of ${key} was lost before it was released`,
    next: "Restore the sandbox anew",
    key,
    reason: "expired",
    since,
  })

/** It isn't here. */
export const notHere = (key: string): LockNotHeldError =>
  new LockNotHeldError({
    message: `${key} isn't owned by this process`,
    next: "Restore it first, or use it through the manager",
    key,
  })

/** Something of ours took longer than its option allows. */
export const tooSlow = (key: string, what: string, option: string, limitMs: number): LockTimeoutError =>
  new LockTimeoutError({
    message: `${what} of ${key} did not end within ${limitMs} ms (${option})`,
    next: `Make it faster, or raise ${option}`,
    key,
    waitedMs: limitMs,
    limitMs,
    source: option,
  })

/** The user's code goes on past its limit: that of its hook, or `settleWithin` since it was asked to end. */
export const ranOver = (
  key: string,
  hook: HookName,
  option: LimitOption,
  limitMs: number,
  isLost: boolean,
): HookOverrunError => {
  const what = whatOf[hook]
  return new HookOverrunError({
    message:
      option === "settleWithin"
        ? `${what} of ${key} ignores that it should end, and is stuck: it had ${limitMs} ms for that (${option})`
        : `${what} of ${key} did not end within ${limitMs} ms (${option})`,
    next: isLost
      ? `Make it obey its signal: what it does now may be done by another owner too`
      : `Make it faster, let it obey its signal, or raise ${option}; until it ends the lease is renewed and nobody else can have it`,
    ...{ key, hook, option, limitMs },
  })
}

/** Code of the user takes long, within its limit. */
export const goesOn = (key: string, hook: HookName, { option, ms }: HookLimit, waitedMs: number): LockTimeoutError =>
  new LockTimeoutError({
    message: `${whatOf[hook]} of ${key} goes on, and has ${ms} ms for that (${option})`,
    next: `Make it faster, or wait for longer than ${option}, which ends it`,
    ...{ key, waitedMs, limitMs: ms, source: option },
  })

const whatOf: Readonly<Record<HookName, string>> = {
  restore: "restore",
  run: "run",
  turn: "a turn of run",
  use: "a use",
  checkpoint: "checkpoint",
  close: "close",
  migrate: "migrate",
  schema: "the validation by the schema",
  codec: "the codec",
}

/** The use ran, and nobody can promise that its effect is stored. */
export const notDurable = (key: string, cause: unknown): NotDurableError =>
  new NotDurableError({
    message: `The use of ${key} ran, but no checkpoint with its effect was acknowledged (${briefly(cause)})`,
    next: "Don't repeat it blindly: it has happened in memory, and may have been stored; read the state, then decide",
    key,
    cause,
  })

/** The most keys that an error names. */
const NAMED_KEYS = 10

/** A drain of so many sandboxes ended without the last state of these. */
export const unsaved = (
  lockKeys: readonly string[],
  of: number,
  graceMs: number,
  cause: unknown,
): StatesUnsavedError => {
  const keys = lockKeys.slice(0, NAMED_KEYS)
  const more = lockKeys.length > keys.length ? ` and ${lockKeys.length - keys.length} more` : ""
  return new StatesUnsavedError({
    message: `The drain couldn't save the last state of ${lockKeys.length} of ${of} sandboxes within ${graceMs} ms: ${keys.join(", ")}${more}`,
    next: "Give it more grace, or see what the cause and the errors of each say; what was saved before stands",
    count: lockKeys.length,
    keys,
    cause,
  })
}

/** The manager takes no new work. */
export const managerClosed = (state: ManagerClosedError["state"], key?: string): ManagerClosedError =>
  new ManagerClosedError({
    message: `This manager is ${state} and takes no sandbox in${key === undefined ? "" : `: ${key}`}`,
    next: "Ask another process, or start a new manager",
    key,
    state,
  })

/** The manager wasn't told of it. */
export const unknownDefinition = (name: string): UnknownDefinitionError =>
  new UnknownDefinitionError({
    message: `This manager was started without the definition ${JSON.stringify(name)}`,
    next: "List the definition itself (not another one of its name) in `sandboxes` of SandboxManager.start",
  })

/** `whenOwned: "report"` joined a call that waits for the owner to leave. */
export const ownedElsewhere = (key: string, owner: Owner): OwnedElsewhereError =>
  new OwnedElsewhereError({
    message: `${key} is owned by ${owner.ownerId}${owner.address === undefined ? "" : ` at ${owner.address}`}`,
    next: 'Send the work there, or ask for the sandbox with whenOwned: "request"',
    key,
    owner,
  })

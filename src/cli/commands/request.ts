/**
 * `leasehold request <key>`: asks the owner to hand off. It waits for the key for a moment, as any waiter, and then
 * withdraws. If it is granted the key it releases it at once. An owner looks for waiters every two seconds at least, so
 * it sees this one.
 *
 * Not promised: that the owner leaves. That is the owner's decision (`run --on-request`).
 */
import { LockContentionError } from "../../locks/api/errors.ts"
import type { Lease } from "../../locks/api/lock.ts"
import { StoreLock } from "../../locks/lock/store-lock.ts"
import { printable } from "../../locks/printable.ts"
import { named, ownerOf } from "../../locks/record.ts"
import type { LeaseStore } from "../../locks/stores/port.ts"
import { budgetOf } from "../../runtime/input/budget.ts"
import { millis } from "../../runtime/input/options.ts"
import { EXIT } from "../errors/exit-codes.ts"
import { UsageError } from "../errors/usage-error.ts"
import type { Call, CommandAction } from "../frame/syntax.ts"
import { cancelledBySignals } from "../process/cancel.ts"
import { cleared } from "../process/clearing.ts"
import { described, readKey } from "../stores/records.ts"
import { startSession, textOption } from "../stores/session.ts"
import { ask } from "./asking.ts"

/**
 * How long the mark stands without `--for`, in milliseconds: more than the two seconds between two looks of an owner.
 */
const STANDS_MS = 5000

export const request: CommandAction = async (call) => {
  const [key = ""] = call.operands
  const stands = standsFor(call)
  await using session = await startSession(call)
  const lock = new StoreLock(key, { store: session.store, clock: call.io.clock })
  const before = await readKey(session.store, key)
  const owner = ownerOf(before.record)
  const tell = (outcome: "free" | "handed over" | "asked", text: string): number => {
    call.output.result({ outcome, ...described(before) }, () => text)
    return EXIT.ok
  }
  if (owner === undefined) return tell("free", `Nobody owns ${JSON.stringify(key)}.`)
  const lease = await asked(call, session.store, lock, stands).catch(alreadyAsked)
  if (lease instanceof LockContentionError) {
    const waiter = printable(JSON.stringify(lease.waiterId))
    return tell("asked", `${named(owner)} was asked already, by ${waiter}, which waits for ${JSON.stringify(key)}.`)
  }
  if (lease === undefined) return tell("asked", `${named(owner)} was asked, and hasn't left by now.`)
  await lease.release()
  return tell("handed over", `${named(owner)} has left; ${JSON.stringify(key)} is free.`)
}

/** The error that another waits: a key has one waiter, whose mark has asked the owner already. */
function alreadyAsked(error: unknown): LockContentionError {
  if (error instanceof LockContentionError) return error
  throw error
}

function standsFor({ options }: Call): number {
  const text = textOption(options, "for")
  if (text === undefined) return STANDS_MS
  const ms = budgetOf(text)
  if (ms === undefined || ms === "infinite" || ms === 0) {
    throw new UsageError(`--for is ${JSON.stringify(text)}`, "Give seconds, or a time such as 30s or 2min")
  }
  return millis("--for", ms)
}

/** Asks, and leaves no mark behind. */
async function asked({ io }: Call, store: LeaseStore, lock: StoreLock, stands: number): Promise<Lease | undefined> {
  using cancel = cancelledBySignals()
  let lease: Lease | undefined
  try {
    return (lease = await ask({ lock, clock: io.clock, stands, signal: cancel.signal }))
  } finally {
    if (lease === undefined) await cleared(store, io.clock)
  }
}

/** The store of a call, and its configuration: each command that touches keys begins with it. */
import { StoreMisconfiguredError } from "../../locks/api/errors.ts"
import type { LeaseStore } from "../../locks/stores/port.ts"
import { started, withinStart } from "../../locks/stores/start.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import type { Call } from "../frame/syntax.ts"
import { findConfig, type FoundConfig } from "./config.ts"
import { type StoreName, storeOf } from "./stores.ts"

/** A store and the configuration beside it. */
export interface Session extends AsyncDisposable {
  readonly store: LeaseStore
  readonly name: StoreName
  readonly found: FoundConfig
}

/**
 * Makes the store that this call uses. Nothing is opened yet; disposing closes it. Rejects with InvalidConfigError, or
 * UsageError for a store that the flag names.
 */
export async function openSession(call: Call): Promise<Session> {
  const found = findConfig(call.io, textOption(call.options, "config"))
  const { name, store } = await storeOf(call.io, textOption(call.options, "store"), found)
  return { store, name, found, [Symbol.asyncDispose]: () => store.close() }
}

/** The same, started. Rejects with StoreUnavailableError or StoreMisconfiguredError. */
export function startSession(call: Call): Promise<Session> {
  return sessionBy(call, ({ store }, clock) => started(store, clock))
}

/**
 * The same for a command that only reads. It writes nothing, so it needs no right to write, and makes no directory.
 * Rejects likewise.
 */
export function readSession(call: Call): Promise<Session> {
  return sessionBy(call, async (session, clock) => {
    const { store } = session
    try {
      await withinStart(store, clock, (deadline) => store.start({ deadline, probe: "never" }))
    } catch (error) {
      if (!isUnused(session, error)) throw error
      await started(store, clock)
    }
  })
}

/** Whether it is the user's default directory, not made yet: any command may be the first. */
const isUnused = ({ name }: Session, error: unknown): boolean =>
  name.kind === "file" &&
  name.isDefault === true &&
  error instanceof StoreMisconfiguredError &&
  error.status === "ENOENT"

async function sessionBy(call: Call, start: (session: Session, clock: Clock) => Promise<void>): Promise<Session> {
  const session = await openSession(call)
  try {
    await start(session, call.io.clock)
    return session
  } catch (error) {
    await session.store.close()
    throw error
  }
}

/** The text of an option that takes one. */
export function textOption(options: Call["options"], name: string): string | undefined {
  const value = options[name]
  return value === true ? undefined : value
}

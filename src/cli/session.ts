/** The store of a call, opened, with what was configured: what every command that touches keys begins with. */
import { started, withinStart } from "../locks/start-store.ts"
import type { LeaseStore } from "../locks/store.ts"
import type { Clock } from "../runtime/clock.ts"
import { findConfig, type FoundConfig } from "./config.ts"
import { storeOf } from "./stores.ts"
import type { Call } from "./syntax.ts"

/** A store and the configuration beside it. */
export interface Session extends AsyncDisposable {
  readonly store: LeaseStore
  readonly found: FoundConfig
}

/**
 * Makes the store that this call uses. Nothing is opened yet; disposing closes it. Rejects with InvalidConfigError, or
 * UsageError for a store that the flag names.
 */
export async function openSession(call: Call): Promise<Session> {
  const found = findConfig(call.io, textOption(call.options, "config"))
  const { store } = await storeOf(call.io, textOption(call.options, "store"), found)
  return { store, found, [Symbol.asyncDispose]: () => store.close() }
}

/** The same, started. Rejects with StoreUnavailableError or StoreMisconfiguredError. */
export function startSession(call: Call): Promise<Session> {
  return sessionBy(call, (store, clock) => started(store, clock))
}

/** The same for who only reads: a bucket isn't written to, which needs no right to do so. Rejects likewise. */
export function readSession(call: Call): Promise<Session> {
  return sessionBy(call, (store, clock) =>
    withinStart(store, clock, (deadline) => store.start({ deadline, probe: "never" })),
  )
}

async function sessionBy(call: Call, start: (store: LeaseStore, clock: Clock) => Promise<void>): Promise<Session> {
  const session = await openSession(call)
  try {
    await start(session.store, call.io.clock)
    return session
  } catch (error) {
    await session.store.close()
    throw error
  }
}

/** What was given for an option that takes text. */
export function textOption(options: Call["options"], name: string): string | undefined {
  const value = options[name]
  return value === true ? undefined : value
}

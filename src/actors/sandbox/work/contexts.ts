/** The contexts of hooks and uses: a lease to look at, a signal, and the clock. */
import type { Lease, LeaseView } from "../../../locks/api/lock.ts"
import { millisOf } from "../../../runtime/input/bounds.ts"
import { orAbort } from "../../../runtime/races.ts"
import type { Clock } from "../../../runtime/time/clock.ts"
import { sleep } from "../../../runtime/time/sleep.ts"
import type { HookContext, SandboxClock } from "../../api/sandbox.ts"

/** The lease without the ways to end or move it: also for code that doesn't compile against the type. */
export class LeaseOnly implements LeaseView {
  /** A property, so that it may be taken out of the lease. */
  readonly isHeld = (): boolean => this.#lease.isHeld()
  readonly #lease: Lease

  constructor(lease: Lease) {
    this.#lease = lease
  }

  get key(): string {
    return this.#lease.key
  }

  get token(): number {
    return this.#lease.token
  }

  get deadline(): number {
    return this.#lease.deadline
  }

  get signal(): AbortSignal {
    return this.#lease.signal
  }

  get events$(): LeaseView["events$"] {
    return this.#lease.events$
  }
}

const sandboxClock = (clock: Clock, signal: AbortSignal): SandboxClock => ({
  now: () => clock.read().wall,
  random: () => clock.random(),
  sleep: async (time) => orAbort(sleep(clock, millisOf("the time to sleep", time), signal), signal),
})

/** What the contexts of one sandbox have in common. */
export interface ContextParts {
  readonly key: string
  readonly lease: LeaseView
  readonly clock: Clock
}

/** The context of one call, whose signal is its own. */
export const hookContext = ({ key, lease, clock }: ContextParts, signal: AbortSignal): HookContext => ({
  key,
  token: lease.token,
  lease,
  signal,
  clock: sandboxClock(clock, signal),
})

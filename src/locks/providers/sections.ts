/**
 * Which section a call is made from, by AsyncLocalStorage. A call that would wait for the section it is made from is
 * refused at once, instead of waiting for ever.
 *
 * A section is known by itself, not by its key. Calls beside it (`Promise.all`), and timers that fire when it is over,
 * wait like any other.
 *
 * Not promised: that a call which the section doesn't await is told from one that it awaits. As long as the section
 * lasts both count as inside.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { anySignal, type LatchedAbort } from "../../runtime/latch-signal.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { ReentrantLockError } from "../api/errors.ts"
import type { HeldLock, Section, SectionClock } from "../api/provider.ts"

const sections = new AsyncLocalStorage<RunningSection>()

/** The lock under which a section runs. */
type SectionLock = Pick<HeldLock, "key" | "token" | "signal" | "isHeld">

/** What a section has beside its lock. */
interface SectionParts {
  readonly clock: SectionClock
  /** The signal of its call. */
  readonly caller: AbortSignal | undefined
}

/** A section in progress, as the code in it sees it. */
export class RunningSection implements Section {
  readonly clock: SectionClock
  readonly #lock: SectionLock
  /** Keys are compared within one scope: a provider, or the store that several of them share. */
  readonly #scope: object
  /** The section that its call was made from, or the nearest around that which still runs. */
  #outer: RunningSection | undefined
  /** Aborts on the loss, or with the call's signal. Where the call has none the lock's own signal will do. */
  readonly #abort: LatchedAbort | undefined
  #running = true

  private constructor(scope: object, lock: SectionLock, { clock, caller }: SectionParts) {
    this.clock = clock
    this.#lock = lock
    this.#scope = scope
    if (caller !== undefined) this.#abort = anySignal(lock.signal, caller)
    this.#outer = RunningSection.#nearest(sections.getStore())
  }

  /** Skips sections that are over: else each link of a chain of timers would keep all before it. */
  static #nearest(from: RunningSection | undefined): RunningSection | undefined {
    let at = from
    while (at !== undefined && !at.#running) at = at.#outer
    return at
  }

  /** The error of a call for this key from inside a section on it. Undefined elsewhere. */
  static refusalInside(scope: object, key: string): ReentrantLockError | undefined {
    for (let at = sections.getStore(); at !== undefined; at = at.#outer)
      if (at.#running && at.#scope === scope && at.key === key) return reentrant(key)
    return undefined
  }

  /**
   * From here on the calling async function is inside of the section. It must have awaited something before: until its
   * first `await` it runs in its caller's context. (`AsyncLocalStorage.run` costs twice as much.)
   */
  static enter(scope: object, lock: SectionLock, parts: SectionParts): RunningSection {
    const section = new RunningSection(scope, lock, parts)
    sections.enterWith(section)
    return section
  }

  /** The section is over, also for what it started and didn't await. */
  leave(): void {
    this.#running = false
    this.#abort?.[Symbol.dispose]()
    this.#outer = RunningSection.#nearest(this.#outer)
  }

  get key(): string {
    return this.#lock.key
  }

  get token(): number {
    return this.#lock.token
  }

  get signal(): AbortSignal {
    return this.#abort?.signal ?? this.#lock.signal
  }

  isHeld(): boolean {
    return this.#lock.isHeld()
  }
}

/** The clock of a section, made of a process's clock. */
export const sectionClock = (clock: Clock): SectionClock => ({ now: () => clock.read().wall })

function reentrant(key: string): ReentrantLockError {
  return new ReentrantLockError({
    key,
    message: `The key ${JSON.stringify(key)} was asked for from inside a section on it, and would wait for that section to end`,
    next: "Do it in the section that holds the key, or make the call after it has ended",
  })
}

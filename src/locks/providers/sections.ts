/**
 * Who is inside of which section: known by AsyncLocalStorage, so that a call which would wait for the very section that
 * it is made from is refused at once instead of never ending.
 *
 * A section is known by itself, not by its key: those who run beside it (`Promise.all`), and timers that fire when it is
 * over, wait like anybody. Not promised: that what a section starts without awaiting is told from what it awaits. As long
 * as the section lasts both count as inside.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { anySignal, type LatchedAbort } from "../../runtime/latch-signal.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { ReentrantLockError } from "../api/errors.ts"
import type { HeldLock, Section, SectionClock } from "../api/provider.ts"

const sections = new AsyncLocalStorage<RunningSection>()

/** What a section runs under. */
type SectionLock = Pick<HeldLock, "key" | "token" | "signal" | "isHeld">

/** What a section is given. */
interface SectionParts {
  readonly clock: SectionClock
  /** The signal of the call that it is the section of. */
  readonly caller: AbortSignal | undefined
}

/** A section in progress, as the code in it sees it. */
export class RunningSection implements Section {
  readonly clock: SectionClock
  readonly #lock: SectionLock
  /** Keys are compared within one scope: a provider, or the store that several of them share. */
  readonly #scope: object
  /** The section that it was asked for from, or the nearest around that which still runs. */
  #outer: RunningSection | undefined
  /** Of the loss and the caller, where the call has a signal: the others need none of their own. */
  readonly #abort: LatchedAbort | undefined
  #running = true

  private constructor(scope: object, lock: SectionLock, { clock, caller }: SectionParts) {
    this.clock = clock
    this.#lock = lock
    this.#scope = scope
    if (caller !== undefined) this.#abort = anySignal(lock.signal, caller)
    this.#outer = RunningSection.#nearest(sections.getStore())
  }

  /** Those that are over are let go: each link of a chain of timers would keep all before it. */
  static #nearest(from: RunningSection | undefined): RunningSection | undefined {
    let at = from
    while (at !== undefined && !at.#running) at = at.#outer
    return at
  }

  /** Why the caller can't wait for this key: he is inside a section on it. */
  static refusalInside(scope: object, key: string): ReentrantLockError | undefined {
    for (let at = sections.getStore(); at !== undefined; at = at.#outer)
      if (at.#running && at.#scope === scope && at.key === key) return reentrant(key)
    return undefined
  }

  /**
   * From here on the calling async function is inside of the section, until it ends. It must have awaited something: what
   * it does before its first `await` is its caller's own turn. (`AsyncLocalStorage.run` costs twice as much.)
   */
  static enter(scope: object, lock: SectionLock, parts: SectionParts): RunningSection {
    const section = new RunningSection(scope, lock, parts)
    sections.enterWith(section)
    return section
  }

  /** It is over, also for what it started and didn't await. */
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

/** The section's clock of a process's clock. */
export const sectionClock = (clock: Clock): SectionClock => ({ now: () => clock.read().wall })

function reentrant(key: string): ReentrantLockError {
  return new ReentrantLockError({
    key,
    message: `The key ${JSON.stringify(key)} was asked for from inside a section on it, and would wait for that section to end`,
    next: "Do it in the section that holds the key, or make the call after it has ended",
  })
}

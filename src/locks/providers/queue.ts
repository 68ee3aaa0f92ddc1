/**
 * The waiters for one key in one process, in the order of their calls. Each waits as long as its budget and its signal
 * allow. One timer serves them all.
 */
import type { Clock } from "../../runtime/time/clock.ts"
import { scheduleOf, type Wake } from "../../runtime/time/schedule.ts"
import type { LockError } from "../api/errors.ts"
import type { AcquireSettings } from "../engine/options.ts"
import { cancelled, here, inUseHere } from "../engine/refusals.ts"

export class Queue<Given> {
  readonly #key: string
  readonly #clock: Clock
  #waiters: Waiter<Given>[] = []
  #wake: Wake | undefined

  constructor(key: string, clock: Clock) {
    this.#key = key
    this.#clock = clock
  }

  /** How many wait. */
  get size(): number {
    return this.#waiters.length
  }

  /** Settles with what is given to it. Rejects with LockTimeoutError or LockCancelledError. `from`: as a waiter's. */
  join(settings: AcquireSettings, from: number, signal: AbortSignal | undefined): Promise<Given> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter<Given> = { settings, from, resolve, reject, signal, aborted: undefined }
      if (signal !== undefined) {
        waiter.aborted = () => this.#refuse(waiter, cancelled(this.#key))
        signal.addEventListener("abort", waiter.aborted)
      }
      this.#waiters.push(waiter)
      this.#watch(waiter)
    })
  }

  /** Gives it to the one that has waited longest. False where none waits. */
  give(given: () => Given): boolean {
    const waiter = this.#waiters.shift()
    if (waiter === undefined) return false
    this.#left(waiter)
    waiter.resolve(given())
    return true
  }

  #refuse(waiter: Waiter<Given>, error: LockError): void {
    const at = this.#waiters.indexOf(waiter)
    if (at < 0) return
    this.#waiters.splice(at, 1)
    this.#left(waiter)
    waiter.reject(error)
  }

  #left({ signal, aborted }: Waiter<Given>): void {
    if (aborted !== undefined) signal?.removeEventListener("abort", aborted)
    if (this.#waiters.length === 0) this.#wake?.clear()
  }

  /** Arms the timer where this one ends first. Most that come later end later, too. */
  #watch(waiter: Waiter<Given>): void {
    const end = endOf(waiter)
    if (end === Infinity) return
    this.#wake ??= scheduleOf(this.#clock).wake(() => this.#expire())
    if (this.#wake.due === undefined || end < this.#wake.due) this.#wake.set(end)
  }

  #expire(): void {
    const now = this.#clock.mono()
    const due = this.#waiters.filter((waiter) => endOf(waiter) <= now)
    this.#waiters = this.#waiters.filter((waiter) => endOf(waiter) > now)
    for (const waiter of due) {
      this.#left(waiter)
      waiter.reject(inUseHere(this.#key, here, waiter.settings, now - waiter.from))
    }
    let next = Infinity // there may be more waiters than a call can have arguments
    for (const waiter of this.#waiters) next = Math.min(next, endOf(waiter))
    if (next < Infinity) this.#wake?.set(next)
  }
}

interface Waiter<Given> {
  readonly settings: AcquireSettings
  /** When it came, by the monotonic clock. */
  readonly from: number
  readonly resolve: (given: Given) => void
  readonly reject: (error: LockError) => void
  readonly signal: AbortSignal | undefined
  aborted: (() => void) | undefined
}

const endOf = ({ from, settings }: Pick<Waiter<never>, "from" | "settings">): number =>
  from + (settings.budgetMs ?? Infinity)

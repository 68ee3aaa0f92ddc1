/**
 * When a key's record is worth a look before the next one is due: its wake source rang. Owns whether a ring is still to
 * be answered. One that comes while a request is under way waits for its answer: that may be older than what rang, or
 * the answer to the very write that rang.
 */
import type { LockState } from "../../protocol/rules/state.ts"
import type { Generation } from "../../stores/port.ts"
import { waits, WakeSource, type WatchedKey } from "./wake-source.ts"

/** What rings are judged and answered by. */
export interface RingsParts extends WatchedKey {
  /** The protocol's state, once there is one. */
  readonly state: LockState | undefined
  /** Called where a look is worth it now. */
  onRing(): void
}

/** Those of one key. */
export class Rings {
  readonly #parts: RingsParts
  /** None on a store that watches nothing, and until something is waited for. */
  #source: WakeSource | undefined
  /** The version that rang last, where it isn't known to be an old one. Null: nobody told which. */
  #rung: Generation | null | undefined

  constructor(parts: RingsParts) {
    this.#parts = parts
  }

  /** Whether nothing that this state waits for can happen unheard, as far as the system's word goes. */
  hears(state: LockState): boolean {
    return this.#source?.hears(state) === true
  }

  /**
   * Watches what this state waits for. Where it begins to, what came just before may have been missed: that is worth a
   * look, unless one is sent after this call that shows it.
   */
  follow(state: LockState, looks: boolean): void {
    if (this.#source === undefined && this.#parts.store.watch !== undefined && waits(state))
      this.#source = new WakeSource(this.#parts, (generation) => this.#ring(generation))
    if (this.#source?.follow(state, looks) === true) this.#rung = null
  }

  /** Passes a ring on, if there is one and no request is under way. */
  answer(): void {
    const rung = this.#rung
    if (rung === undefined) return
    const { state } = this.#parts
    if (state?.flight !== undefined) return
    this.#rung = undefined
    // A version that is known is no news: most are this process's own writes.
    if (rung === null || rung !== state?.view?.generation) this.#parts.onRing()
  }

  /** Of several versions the last one counts. Once nobody could tell which one rang, a look has to. */
  #ring(generation: Generation | undefined): void {
    if (this.#rung !== null) this.#rung = generation ?? null
    this.answer()
  }
}

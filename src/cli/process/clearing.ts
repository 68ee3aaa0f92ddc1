/**
 * Waits until a wait has left no mark in the store. `acquire` settles at the end of its budget, and clears the store
 * after that. A command's process would end before, and its mark would keep others waiting.
 *
 * Not promised: that a store which doesn't answer is clear by then. A mark expires by itself after 12 s.
 */
import { thisProcess } from "../../locks/engine/incarnation.ts"
import { keyRuntimesOf } from "../../locks/engine/key-runtimes.ts"
import type { LeaseStore } from "../../locks/stores/port.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { cancelledBySignals } from "./cancel.ts"

/** The longest that the clearing is waited for, in milliseconds: little less than a mark lasts. */
const LONGEST = 10_000

/**
 * Settles once this process has no request under way at the store, after 10 s, or at a signal. For a process that holds
 * no key any more.
 */
export async function cleared(store: LeaseStore, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  using impatient = cancelledBySignals()
  impatient.signal.addEventListener("abort", () => resolve(), { once: true })
  const timer = clock.after(LONGEST, resolve)
  void keyRuntimesOf(store, thisProcess(store).id, clock, "").rested().then(resolve)
  await promise
  timer.cancel()
}

/**
 * What a wait left in the store is cleared behind its caller, who is told at the end of the budget. A command has
 * nothing behind it but the end of the process: it waits for the clearing, so that no mark keeps others back.
 *
 * Not promised: that a store which doesn't answer is clear by then. A mark runs out by itself after 12 s.
 */
import { thisProcess } from "../../locks/engine/incarnation.ts"
import { keyRuntimesOf } from "../../locks/engine/key-runtimes.ts"
import type { LeaseStore } from "../../locks/stores/port.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { cancelledBySignals } from "./cancel.ts"

/** What it may take, in milliseconds. */
const LONGEST = 10_000

/**
 * Settles once nothing of this process is under way on the store, after 10 s, or at a signal. Nothing is to be held any
 * more.
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

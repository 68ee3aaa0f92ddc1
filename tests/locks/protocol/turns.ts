/**
 * Processes of a world that want one key again and again: each holds it for a time when it has it, and asks again soon
 * after. Counts how many turns of others each wait lasted.
 */
import { acquire, type ProcessModel } from "./process-model.ts"
import type { World } from "./world.ts"

/** How they go about it. In milliseconds. */
export interface Habit {
  readonly hold: number
  readonly pause: number
}

/** A wait that came to its end. */
export interface Waited {
  readonly id: string
  readonly ms: number
  /** Turns of others that began within it. */
  readonly turns: number
}

/** Lets them contend for so long. What those waits were that ended in it. */
export function contend(world: World, processes: readonly ProcessModel[], habit: Habit, ms: number): readonly Waited[] {
  const waited: Waited[] = []
  const askedAt = new Map<ProcessModel, { readonly at: number; readonly turn: number }>()
  const busyUntil = new Map<ProcessModel, number>()
  let turn = 0
  for (const end = world.at + ms; world.at < end; world.advance(10)) {
    for (const process of processes) {
      const until = busyUntil.get(process) ?? 0
      const asked = askedAt.get(process)
      if (asked !== undefined && process.phase === "owning") {
        waited.push({ id: process.id, ms: world.at - asked.at, turns: turn - asked.turn })
        turn++
        askedAt.delete(process)
        busyUntil.set(process, world.at + habit.hold)
      } else if (process.phase === "owning" && until <= world.at) {
        world.send(process, { type: "release" })
        busyUntil.set(process, Infinity)
      } else if (process.phase === "idle" && asked === undefined) {
        if (until === Infinity) busyUntil.set(process, world.at + habit.pause)
        else if (until <= world.at) {
          askedAt.set(process, { at: world.at, turn })
          world.send(process, acquire({ budgetMs: undefined, contention: "retry" }))
        }
      }
    }
  }
  return waited
}

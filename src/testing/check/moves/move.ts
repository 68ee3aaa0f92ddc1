/**
 * A move of the model checker: one thing that may happen in a world, as data. Who makes which moves is not said here.
 */
import type { World } from "../world/world.ts"

/** One thing that may happen, and all that may come of it. */
export interface Move {
  /** What happens, in words. */
  readonly what: string
  readonly make: () => readonly World[]
}

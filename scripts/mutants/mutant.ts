/** What a mutant is, and how one is looked for: plain data. */
import type { Duration } from "../../src/runtime/duration.ts"
import type { FaultKind } from "../../src/testing/simulate/mod.ts"

/** One careless change of the sources. */
export interface Mutant {
  /** What it does, as the report says it. */
  readonly name: string
  readonly edits: readonly Edit[]
  /** How it is found, quickest first: the first that finds it ends the hunt. */
  readonly hunts: readonly Hunt[]
}

/** A change of one file. */
export interface Edit {
  /** From the project's root. */
  readonly file: string
  /** Stands there just once. */
  readonly find: string
  readonly replace: string
}

/** One search for a violation. */
export type Hunt =
  /** Seeds of the simulator, from the first to the last, with the ledger of `npm run sim`. */
  | {
      readonly by: "sim"
      readonly from: number
      readonly to: number
      /** Only these kinds of faults. */
      readonly faults?: readonly FaultKind[]
      readonly ttl?: Duration
    }
  /** A complete search, by the name of its configuration in `npm run checker`. */
  | { readonly by: "checker"; readonly config: string }
  /** Random walks of the lease reducer in a world of faults (tests/locks/protocol), twenty to a seed. */
  | { readonly by: "walk"; readonly from: number; readonly to: number }
  /** The same in a world without faults, in which nobody may lose a lease. */
  | { readonly by: "calm"; readonly from: number; readonly to: number }
  /** An owner at work and a crowd of impatient waiters, on a store that takes one write a second; one to a seed. */
  | { readonly by: "crowd"; readonly from: number; readonly to: number }
  /** Random walks of the head reducer (tests/actors/checkpoints), a hundred to a seed. */
  | { readonly by: "heads"; readonly from: number; readonly to: number }
  /** Interleavings of the file store's operations on one directory, one to a seed. */
  | { readonly by: "directory"; readonly from: number; readonly to: number }

/** What came of a hunt. */
export interface Catch {
  readonly by: Hunt["by"]
  /** How many it took. */
  readonly count: number
  readonly unit: "seeds" | "states"
  readonly ms: number
  /** Empty where nothing was found. */
  readonly violation: string
}

/** What a mutant is, and how one is looked for: plain data. */
import type { Duration } from "../../src/runtime/input/duration.ts"
import type { CheckOptions } from "../../src/testing/check/mod.ts"
import type { Violation } from "../../src/testing/invariants/mod.ts"
import type { Crowd } from "../../src/testing/simulate/crowd.ts"
import type { FaultKind, PlannedWorker, TimedFault } from "../../src/testing/simulate/mod.ts"
import type { StoreProfileName } from "../../src/testing/simulated-store/profile.ts"

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

/** When a worker of a scripted fleet uses the key, again and again. In milliseconds since the run began. */
export interface Turn {
  readonly worker: string
  readonly from: number
  readonly to: number
  /** What a use does where another owns the key. Default: it asks for it. */
  readonly whenOwned?: "report"
  /** How long a use goes on, whatever its signal says. Default: no time. */
  readonly lasts?: number
  /**
   * Instead: it adds a row to the ledger, sets its flag, or looks for so long whether all that is acknowledged is
   * there.
   */
  readonly does?: "adds" | { readonly sets: number } | { readonly looks: number }
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
      /** Only this kind of store. */
      readonly store?: StoreProfileName
      readonly ttl?: Duration
      /** So many workers that want one key. */
      readonly contenders?: number
      /** Judged by this invariant alone, by its name: to show that it notices, where others would first. */
      readonly judge?: string
    }
  /**
   * One fleet with right clocks, but where they are told, under exact faults, and no seed that could draw otherwise.
   */
  | {
      readonly by: "script"
      readonly faults: readonly TimedFault[]
      readonly turns: readonly Turn[]
      /** Default: with an exact clock. */
      readonly store?: StoreProfileName
      /** By name, what is not usual of a worker: a wrong clock, none of the boot, a ttl other than 30 s. */
      readonly workers?: Readonly<Record<string, Partial<PlannedWorker>>>
    }
  /** One process with many sandboxes on a store that serves so many requests a second. */
  | { readonly by: "crowd"; readonly crowd: Crowd }
  /** A complete search, by the name of its configuration in `npm run checker`. */
  | { readonly by: "checker"; readonly config: string }
  /** A search that is too large to be made to the end: nearest first, as far as so many worlds. */
  | { readonly by: "search"; readonly options: CheckOptions; readonly limit: number }
  /** Interleavings of the file store's operations on one directory, one to a seed. */
  | { readonly by: "directory"; readonly from: number; readonly to: number }

/** A seed that once found something: it saves a search, and may find nothing any more. */
export const isHint = (hunt: Hunt): boolean => "from" in hunt && hunt.from === hunt.to

/** Of what went wrong in a run the first, as a report says it; undefined where nothing did. */
export const firstOf = ([first]: readonly Pick<Violation, "invariant" | "message">[]): string | undefined =>
  first && `${first.invariant}: ${first.message}`

/** What came of a hunt. */
export interface Catch {
  readonly by: Hunt["by"]
  /** How many it took. */
  readonly count: number
  readonly unit: "seeds" | "states" | "script"
  readonly ms: number
  /** Empty where nothing was found. */
  readonly violation: string
}

/** What befalls one request: all the faults that strike it, taken together. */
import type { StoreFault } from "./faults.ts"

/** From its sending to its answer. */
export interface Fate {
  /** It arrives. */
  readonly arrives: boolean
  /** Its answer comes back. */
  readonly answers: boolean
  /** How much longer it takes there, and back, in milliseconds. */
  readonly there: number
  readonly back: number
  /** It arrives once more, so much later; its sender hears of this copy. */
  readonly again: { readonly ms: number; readonly hears: "first" | "second" } | undefined
  /** What is answered instead: after it took effect, or before. */
  readonly instead: { readonly status: number; readonly applied: boolean } | undefined
  /** The object took another write just now. */
  readonly isLimited: boolean
  /** A cache on the way answers. */
  readonly isCached: boolean
  /** By how much the answer's time is off; undefined where it has none. */
  readonly timeError: number | undefined
}

/** Nothing goes wrong. */
export const calm: Fate = {
  arrives: true,
  answers: true,
  there: 0,
  back: 0,
  again: undefined,
  instead: undefined,
  isLimited: false,
  isCached: false,
  timeError: 0,
}

/** What these faults do to a request, each kind at most once. */
export function fateOf(faults: readonly StoreFault[]): Fate {
  return faults.length === 0 ? calm : faults.reduce(worse, calm)
}

function worse(fate: Fate, fault: StoreFault): Fate {
  switch (fault.kind) {
    case "loseRequest":
    case "outage":
    case "partition":
      return { ...fate, arrives: false }
    case "loseAnswer":
    case "mutePartition":
      return { ...fate, answers: false }
    case "late":
      return { ...fate, there: fate.there + fault.ms }
    case "slow":
      return { ...fate, there: fate.there + fault.ms, back: fate.back + fault.ms }
    case "duplicate":
      return { ...fate, again: { ms: fault.ms, hears: fault.hears } }
    case "status":
      return { ...fate, instead: { status: fault.status, applied: fault.applied } }
    case "tooMany":
      return { ...fate, instead: { status: 429, applied: false } }
    case "throttle":
      return { ...fate, isLimited: true }
    case "noDate":
      return { ...fate, timeError: undefined }
    case "cachedAnswer":
      return { ...fate, isCached: true, timeError: undefined }
    case "skewDate":
      return off(fate, fault.ms)
    case "staleDate":
      return off(fate, -fault.ms)
    case "capacity":
      return fate // what it does depends on all the others that are there
  }
}

/**
 * Of two that disagree the one that is further behind counts: errors that added up would leave what is assumed of
 * stores.
 */
function off(fate: Fate, ms: number): Fate {
  const { timeError } = fate
  if (timeError === undefined) return fate
  return { ...fate, timeError: timeError === 0 ? ms : Math.min(timeError, ms) }
}

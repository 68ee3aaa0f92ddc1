/** What the sandboxes of a manager have done so far, counted. */

/** Counts that only grow. Times are milliseconds; `told` makes them whole. */
export interface SandboxTally {
  /** Checkpoints that are known to be stored: the last ones, and those that were asked for. */
  checkpoints: number
  /** Checkpoints that were begun, and aren't known to be stored. */
  checkpointsFailed: number
  /** The bytes of those that were stored. */
  checkpointBytes: number
  /** How long those that were stored took, from the beginning of the hook on. */
  checkpointMs: number
  /** Restores that gave a state. */
  restores: number
  /** Restores that gave none. */
  restoresFailed: number
  /** Uses whose function has ended. */
  uses: number
  /** Uses whose function threw. */
  usesFailed: number
  /** Calls that the owner in another process answered. */
  callsForwarded: number
}

/** Nothing done. */
export const newTally = (): SandboxTally => ({
  checkpoints: 0,
  checkpointsFailed: 0,
  checkpointBytes: 0,
  checkpointMs: 0,
  restores: 0,
  restoresFailed: 0,
  uses: 0,
  usesFailed: 0,
  callsForwarded: 0,
})

/** As whole numbers. */
export const told = (tally: SandboxTally): Readonly<Record<keyof SandboxTally, number>> => ({
  ...tally,
  checkpointMs: Math.round(tally.checkpointMs),
})

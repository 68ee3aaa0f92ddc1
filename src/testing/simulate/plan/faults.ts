/**
 * What can befall a simulated fleet beside what its store does: each a line of plain JSON, so that it can be drawn,
 * listed, shrunk, and written down in a script. Owns the words and their drawing; `fleet.ts` makes them come true.
 */
import { type Damage, damages } from "../../simulated-store/operator.ts"
import { type StrangerMove, strangerMoves } from "../../simulated-store/stranger.ts"
import type { Draw } from "./draw.ts"

/**
 * What befalls one process. Of several `pause`, `suspend` and `stall` that last at once none shortens another: the
 * worker goes on when the last of them is over, and its machine sleeps while one of them is a sleep.
 */
export type ProcessFault =
  /** Killed as by SIGKILL; another incarnation starts after `ms`. */
  | { readonly kind: "crash"; readonly worker: string; readonly ms: number }
  /** Stopped as by SIGSTOP for `ms`: its clocks go on. */
  | { readonly kind: "pause"; readonly worker: string; readonly ms: number }
  /** Its machine sleeps for `ms`: the monotonic clock stands still too. */
  | { readonly kind: "suspend"; readonly worker: string; readonly ms: number }
  /** Its machine starts anew, `ms` later, and its wall clock is off by `wall` more: all that ran there is killed. */
  | { readonly kind: "reboot"; readonly worker: string; readonly ms: number; readonly wall: number }
  /** Its event loop is blocked for `ms`. */
  | { readonly kind: "stall"; readonly worker: string; readonly ms: number }
  /** Its wall clock jumps by `ms`, in either direction. */
  | { readonly kind: "stepWall"; readonly worker: string; readonly ms: number }
  /** It drains, ends, and starts again `ms` later. */
  | { readonly kind: "drain"; readonly worker: string; readonly ms: number }

/** What the user's own code does wrong, the next time that a hook of this worker runs. */
export type HookFault =
  /** It takes `ms` longer; `obeys`: but no longer than until its signal aborts. */
  | {
      readonly kind: "slowHook"
      readonly worker: string
      readonly hook: Hook
      readonly ms: number
      readonly obeys?: boolean
    }
  /** It throws. */
  | { readonly kind: "failingHook"; readonly worker: string; readonly hook: Hook }

/** A process that knows only the published fields of a record does what it can of a move. */
export interface StrangerFault {
  /** Which fault. */
  readonly kind: "stranger"
  /** It befalls nobody in particular. */
  readonly worker: null
  /** Of which of the run's keys. */
  readonly key: string
  /** What the stranger does. */
  readonly move: StrangerMove
  /** It carries over what it doesn't know. */
  readonly keeps: boolean
}

/** An operator's hand on a record. */
export type OperatorFault =
  /** The record is deleted, also under an owner. */
  | { readonly kind: "deleteRecord"; readonly worker: null; readonly key: string }
  /** Something that is no record stands in its place for `ms`; then an operator deletes that. */
  | {
      readonly kind: "damageRecord"
      readonly worker: null
      readonly key: string
      readonly leaves: Damage
      readonly ms: number
    }

/** The hooks that can go wrong. `schema` is the codec too. */
export type Hook = "restore" | "run" | "use" | "checkpoint" | "close" | "migrate" | "schema"

/** What waits for a moment: the fault comes with the next line of its worker's trace that is of this kind. */
export type Moment =
  | "request"
  | "answer"
  | "Acquired"
  | "Renewed"
  | "ReleaseRequested"
  | "Waiting"
  | "Granted"
  | "restoring"
  | "settling"
  | "checkpointing"
  | "releasing"

/** The moments at which a fault hurts most. */
export const moments: readonly Moment[] = [
  "request",
  "answer",
  "Acquired",
  "Renewed",
  "ReleaseRequested",
  "Waiting",
  "Granted",
  "restoring",
  "settling",
  "checkpointing",
  "releasing",
]

/** The kinds of faults of processes and of their users' code. */
export const processKinds: readonly (ProcessFault | HookFault)["kind"][] = [
  "crash",
  "pause",
  "suspend",
  "reboot",
  "stall",
  "stepWall",
  "drain",
  "slowHook",
  "failingHook",
]

/** Draws a fault of this kind for a worker. `corners` are the times at which something changes, in milliseconds. */
export function drawProcessFault(
  kind: (ProcessFault | HookFault)["kind"],
  worker: string,
  draw: Draw,
  corners: readonly number[],
): ProcessFault | HookFault {
  switch (kind) {
    case "crash":
    case "drain":
      return { kind, worker, ms: draw.near([1, 500, ...corners], 60_000) }
    case "pause":
    case "suspend":
      return { kind, worker, ms: draw.near(corners, 90_000) }
    case "reboot":
      return { kind, worker, ms: draw.near([1, 5000, ...corners], 60_000), wall: draw.pick([0, 0, ...walls]) }
    case "stall":
      return { kind, worker, ms: draw.near([200, 1000, 3000], 5000) }
    case "stepWall":
      return { kind, worker, ms: draw.near([900, 1100, ...corners], 3_600_000) * draw.pick([1, -1]) }
    case "slowHook":
      return {
        ...{ kind, worker, hook: draw.pick(hooks) },
        ms: draw.chance(1 / 8) ? hanging : draw.near([9000, 10_000, 30_000], 45_000),
        ...(draw.chance(1 / 4) && { obeys: true }),
      }
    case "failingHook":
      return { kind, worker, hook: draw.pick(hooks) }
  }
}

/** How far a machine's clock is off whose battery is empty, or that was set by hand. */
const walls = [-3_600_000, -20_000, 20_000, 3_600_000]

const hooks: readonly Hook[] = ["restore", "run", "use", "checkpoint", "close", "migrate", "schema"]

/** A hook that hangs, in milliseconds: until all faults are over. */
const hanging = 3_600_000

/** Draws a stranger's move. */
export function drawStranger(keys: readonly string[], draw: Draw): StrangerFault {
  return {
    kind: "stranger",
    worker: null,
    key: draw.pick(keys),
    move: draw.pick(strangerMoves),
    keeps: draw.chance(0.5),
  }
}

/** The kinds of what an operator does. */
export const operatorKinds: readonly OperatorFault["kind"][] = ["deleteRecord", "damageRecord"]

/** Draws what an operator does. */
export function drawOperator(kind: OperatorFault["kind"], keys: readonly string[], draw: Draw): OperatorFault {
  const of = { worker: null, key: draw.pick(keys) }
  if (kind === "deleteRecord") return { kind, ...of }
  return { kind, ...of, leaves: draw.pick(damages), ms: draw.near([1, 5000, 15_000], 45_000) }
}

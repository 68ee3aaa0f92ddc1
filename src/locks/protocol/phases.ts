/**
 * What is to be said of every phase of a key. Each phase has one such object beside its functions: `seeking` in
 * acquire.ts, `owning` in own.ts, `leaving` in leave.ts, `clearing` in cleanup.ts, `idle` in idle.ts. The reducer joins
 * them in a table.
 */
import type { LockError } from "../api/errors.ts"
import type { Pen, Written } from "./record-writes.ts"
import type { Draft, Due, LockState, Phase, PhaseActs, Phases, SentWrite, Told, View } from "./rules/state.ts"
import type { Instant, Now } from "./rules/time.ts"

/** The rules of one phase. Whatever happens comes to the next phase, which may be the same. */
export interface PhaseRules<N extends keyof Phases> {
  /** Time has passed. `jumped`: the clocks diverged since the step before. */
  readonly expire: (draft: Draft, phase: Phases[N], jumped: boolean) => Phase
  /** The caller, the holder or a watch tells something. What a phase has no use for changes nothing. */
  readonly told: (draft: Draft, phase: Phases[N], input: Told) => Phase
  /** A read showed a version. `landed` is the open write of mine that it shows, if it does. */
  readonly saw: (draft: Draft, phase: Phases[N], view: View, landed: SentWrite | undefined) => Phase
  /** A write of mine was applied. */
  readonly wrote: (draft: Draft, phase: Phases[N], sent: SentWrite, view: View) => Phase
  /** A read brought nothing. */
  readonly failed: (draft: Draft, phase: Phases[N], error: LockError) => Phase
  /** The fate of a write is open. `throttled`: the object took another's within its spacing. */
  readonly unsure: (draft: Draft, phase: Phases[N], error: LockError | undefined, throttled: boolean) => Phase
  /** The last word of a step, before what is due is sent. */
  readonly conclude: (draft: Draft, phase: Phases[N]) => Phase
  /** What comes next, and when. */
  readonly due: (draft: Draft, phase: Phases[N]) => Due<"read" | PhaseActs[N]> | undefined
  /** When `expire` or `conclude` has something to do. */
  readonly expiries: (state: LockState, phase: Phases[N], now: Now) => readonly (Instant | undefined)[]
  /** What a write for this purpose says. */
  readonly compose: (draft: Draft, phase: Phases[N], act: PhaseActs[N], view: View, pen: Pen) => Written
  /** A request has left; `opId` names the write, if it is one. */
  readonly sent: (draft: Draft, phase: Phases[N], opId: string | undefined) => Phase
}

/** For what a phase has no use for. */
export const unchanged = <P extends Phase>(_: unknown, phase: P): P => phase

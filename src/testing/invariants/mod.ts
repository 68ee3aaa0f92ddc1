/** The invariants of leasehold, each to be had alone, and all of them. */
import { acknowledgedIsStored } from "./acknowledged.ts"
import { oneRequest, waitersAreServed, withinBudget } from "./budgets.ts"
import { drainsSave } from "./drains.ts"
import { claimsKeepState, fencedBeforeRestore, noOldTokens, noStepBack } from "./heads.ts"
import { noNeedlessLoss, noOrphans, nothingLeft } from "./losses.ts"
import { aloneAtWork, growingTokens, oneOwner, savesUnderLease, strangersKeep, workUnderLease } from "./owners.ts"
import type { Invariant } from "./reading/invariant.ts"
import { unreadableStands } from "./records.ts"
import { turnsAreUsed } from "./served.ts"
import { everybodysTurn } from "./turns.ts"
import { oneAtATime, oneClose, settledBeforeRelease } from "./work.ts"

export { checkTrace, type Found, type Invariant, TraceWatch, type Violation, type Watch } from "./reading/invariant.ts"

/** Every invariant by what it is about. */
export const invariants: {
  readonly oneOwner: Invariant
  readonly aloneAtWork: Invariant
  readonly growingTokens: Invariant
  readonly workUnderLease: Invariant
  readonly savesUnderLease: Invariant
  readonly strangersKeep: Invariant
  readonly noOldTokens: Invariant
  readonly noStepBack: Invariant
  readonly claimsKeepState: Invariant
  readonly fencedBeforeRestore: Invariant
  readonly acknowledgedIsStored: Invariant
  readonly settledBeforeRelease: Invariant
  readonly oneAtATime: Invariant
  readonly oneClose: Invariant
  readonly withinBudget: Invariant
  readonly waitersAreServed: Invariant
  readonly everybodysTurn: Invariant
  readonly turnsAreUsed: Invariant
  readonly oneRequest: Invariant
  readonly unreadableStands: Invariant
  readonly noNeedlessLoss: Invariant
  readonly noOrphans: Invariant
  readonly nothingLeft: Invariant
  readonly drainsSave: Invariant
} = {
  oneOwner,
  aloneAtWork,
  growingTokens,
  workUnderLease,
  savesUnderLease,
  strangersKeep,
  noOldTokens,
  noStepBack,
  claimsKeepState,
  fencedBeforeRestore,
  acknowledgedIsStored,
  settledBeforeRelease,
  oneAtATime,
  oneClose,
  withinBudget,
  waitersAreServed,
  everybodysTurn,
  turnsAreUsed,
  oneRequest,
  unreadableStands,
  noNeedlessLoss,
  noOrphans,
  nothingLeft,
  drainsSave,
}

/** All of them. */
export const allInvariants: readonly Invariant[] = Object.values(invariants)

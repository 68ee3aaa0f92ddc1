/**
 * The heads that an owner writes, each built from the very version it replaces. Owns what a claim, the end of a wait, a
 * commit and a removal change; everything else, fields of later releases included, is carried over.
 */
import type { Digest } from "../objects/digest.ts"
import {
  CALLS,
  emptyHead,
  type Head,
  type KeptContent,
  type RemovedCalls,
  type Saved,
  type SavedCalls,
} from "./head.ts"
import type { HeadSettings, HeadState, HeadTask } from "./types.ts"

/** The same content under my token and nonce. A removed sandbox begins anew, as one with nothing saved. */
export function claimHead(state: HeadState, opId: string): Head {
  const base = baseOf(state)
  const saved: Saved = base.saved.state === "removed" ? { ...base.saved, state: "none" } : base.saved
  const version = saved.state === "none" ? 0 : base.version
  const replaced = state.base?.head ?? null
  const waitOutMs = state.nonce === replaced?.nonce ? replaced.waitOutMs : waitOutFor(state.settings, replaced)
  return { ...mine(state, base, opId), ...holding(base, saved), version, waitOutMs }
}

/**
 * How long a former owner of this head may still be at work, at most, in milliseconds. 0 where the record proves that
 * the activation that the head names has ended, otherwise its ttl. Where that activation had still to wait for another
 * one, that wait counts too.
 */
export function waitOutFor({ past }: HeadSettings, found: Head | null): number {
  if (found === null) return 0
  return Math.max(found.waitOutMs, past.includes(found.nonce) ? 0 : found.ttlMs)
}

/** The state as it was claimed, after the wait: no former owner is waited for any more. */
export function waitedHead(state: HeadState, opId: string): Head {
  return mine(state, baseOf(state), opId)
}

/** New state; the one it replaces is kept, if it is an object of its own. */
export function commitHead(state: HeadState, saved: Saved, opId: string): Head {
  const base = baseOf(state)
  const { version, keep } = state.settings
  return { ...mine(state, base, opId), ...holding(base, saved), version, kept: older(base).slice(0, keep) }
}

/** Nothing is left, and that is written down. */
export function removeHead(state: HeadState, calls: RemovedCalls, opId: string): Head {
  const base = baseOf(state)
  return { ...mine(state, base, opId), ...holding(base, { state: "removed", ...calls }), kept: [] }
}

/** Whether a head of mine says already what the task is to write, so that nothing needs to be written. */
export function saysAlready(head: Head | null, task: HeadTask, version: number): boolean {
  switch (task.kind) {
    case "claim":
      return false
    case "settle":
      return true
    case "waitOut":
      return head?.waitOutMs === 0
    case "remove":
      return head?.saved.state === "removed"
    case "commit":
      return hasBytes(task.saved) && holdsBytes(head, task.saved, version)
  }
}

const hasBytes = (saved: Saved): saved is Saved & Digest & SavedCalls => "sha256" in saved

/**
 * Whether a head holds just these bytes, saved by this version, and says nothing that is over by the time of a commit.
 */
export function holdsBytes(head: Head | null, { sha256, bytes, calls }: Digest & SavedCalls, version: number): boolean {
  if (head === null || head.version !== version || !hasBytes(head.saved) || head.waitOutMs > 0) return false
  return head.saved.sha256 === sha256 && head.saved.bytes === bytes && head.saved.calls === calls
}

type Base = Omit<Head, "token" | "nonce" | "opId" | "predecessorOpId">

const baseOf = (state: HeadState): Base => state.base?.head ?? emptyHead(state.settings)

/** My next head on that base. Until this activation may run, each of its heads says how long is still to be waited. */
const mine = (state: HeadState, base: Base, opId: string): Head => {
  const { token, nonce, settings, waitOutMs } = state
  const { type, leases, leasesId, leasesBoot, ttlMs } = settings
  const origin = { leases, leasesId, leasesBoot }
  return {
    ...base,
    type,
    ...origin,
    ttlMs,
    token,
    nonce,
    seq: base.seq + 1,
    waitOutMs,
    opId,
    predecessorOpId: predecessorOf(state),
  }
}

/**
 * The write that my activation began on. My first write names it, be that a claim or not, and the later ones carry it
 * on.
 */
const predecessorOf = ({ base, nonce }: HeadState): string | null => {
  const head = base?.head ?? null
  return head?.nonce === nonce ? head.predecessorOpId : (head?.opId ?? null)
}

/** What is saved, and what a reader of it must understand. */
const holding = ({ needs }: Base, saved: Saved): Pick<Head, "needs" | "saved"> => {
  const others = needs.filter((need) => need !== CALLS)
  return { saved, needs: "calls" in saved || "callsUntil" in saved ? [...others, CALLS] : others }
}

const older = (base: Base): readonly KeptContent[] => {
  if (base.saved.state !== "content") return base.kept
  const { state: _state, ...content } = base.saved
  return [{ ...content, version: base.version }, ...base.kept]
}

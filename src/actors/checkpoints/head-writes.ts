/**
 * The three heads that an owner writes, each built from the very version it replaces. Owns what a claim, a commit and a
 * removal change; everything else, fields of later releases included, is carried over.
 */
import type { AcquiredHow } from "../../locks/lock.ts"
import { type Digest, emptyHead, type Head, type KeptContent, type Saved } from "./head.ts"
import type { Settings, State, Wish } from "./protocol-types.ts"

/** The same content under my token and nonce; a removed sandbox begins anew, as one with nothing saved. */
export function claimHead(state: State, opId: string): Head {
  const base = baseOf(state)
  const saved: Saved = base.saved.state === "removed" ? { state: "none" } : base.saved
  const version = saved.state === "none" ? 0 : base.version
  const quietMs = state.nonce === state.base?.head?.nonce ? base.quietMs : quietFor(state.settings, state.base?.head)
  return { ...mine(state, base, opId), saved, version, quietMs }
}

/**
 * How long a former owner of this head may still be running, at most, in milliseconds, though the key was to be had: its
 * record was deleted by hand. That may be older than this lease: whoever found no record may have left before it had
 * claimed the head, and whoever had claimed it may have crashed while it waited. And it may be mine that was deleted, and its
 * successor's head that I find, or a record of the past that was brought back: then the record knows nothing of the head's owner.
 */
export function quietFor({ created, began, after }: Settings, found: Head | undefined | null): number {
  if (found === undefined || found === null) return 0
  const isStrange = created || found.token < began || (after !== undefined && found.token > after)
  const hasNoRecord = found.saved.state !== "removed" && isStrange
  return Math.max(found.quietMs, hasNoRecord ? found.ttlMs : 0)
}

/**
 * What the record tells a tenancy of those before, as its lease comes. Where a stranger made it, or stripped it, it tells of
 * nobody, as one that was created: whoever the head names may have lost his by a deletion.
 */
export function recordTells(
  how: AcquiredHow,
  token: number,
  began: number | undefined,
  after: number | undefined,
): Pick<Settings, "created" | "began" | "after"> {
  return { created: how === "created" || (began === token && after === undefined), began: began ?? 0, after }
}

/** New state; the one it replaces is kept, if it is an object of its own. */
export function commitHead(state: State, saved: Saved, opId: string): Head {
  const base = baseOf(state)
  const { version, keep } = state.settings
  return { ...mine(state, base, opId), saved, version, kept: older(base).slice(0, keep) }
}

/** Nothing is left, and that is written down. */
export function removeHead(state: State, opId: string): Head {
  return { ...mine(state, baseOf(state), opId), saved: { state: "removed" }, kept: [] }
}

/** Whether a head of mine says already what is wished for, so that nothing needs to be written. */
export function saysAlready(head: Head | null, wish: Wish, version: number): boolean {
  switch (wish.kind) {
    case "claim":
      return false
    case "settle":
      return true
    case "remove":
      return head?.saved.state === "removed"
    case "commit":
      return hasBytes(wish.saved) && holdsBytes(head, wish.saved, version)
  }
}

const hasBytes = (saved: Saved): saved is Saved & Digest => "sha256" in saved

/** Whether a head holds just these bytes, saved by this version, and says nothing that is over by the time of a commit. */
export function holdsBytes(head: Head | null, { sha256, bytes }: Digest, version: number): boolean {
  if (head === null || head.version !== version || !hasBytes(head.saved) || head.quietMs > 0) return false
  return head.saved.sha256 === sha256 && head.saved.bytes === bytes
}

type Base = Omit<Head, "token" | "nonce" | "opId" | "over">

const baseOf = (state: State): Base => state.base?.head ?? emptyHead(state.settings)

/** Who writes after its claim has waited, so that nobody is hidden any more. */
const mine = (state: State, base: Base, opId: string): Head => {
  const { token, nonce, settings } = state
  const { type, leases, ttlMs } = settings
  return { ...base, type, leases, ttlMs, token, nonce, seq: base.seq + 1, quietMs: 0, opId, over: overOf(state) }
}

/** The write that my tenancy began on: my first one names it, be that a claim or not, and the later ones carry it on. */
const overOf = ({ base, nonce }: State): string | null => {
  const head = base?.head ?? null
  return head?.nonce === nonce ? head.over : (head?.opId ?? null)
}

const older = (base: Base): readonly KeptContent[] => {
  if (base.saved.state !== "content") return base.kept
  const { content, sha256, bytes } = base.saved
  return [{ content, sha256, bytes, version: base.version }, ...base.kept]
}

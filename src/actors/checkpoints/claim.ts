/** Restoring, up to the bytes (rule 15): claim the head, and fetch its content beside the claim. */
import type { Lease } from "../../locks/api/lock.ts"
import type { CheckpointStore } from "../../locks/stores/port.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { type Fetched, fetchContent } from "./content/content.ts"
import type { Head } from "./head/head.ts"
import type { HeadWriter } from "./head/writer.ts"
import { lossOf, type StatePlace, rejected } from "./objects/problems.ts"
import { failureOf } from "./outcomes.ts"
import { savedParts } from "./read.ts"

/** How to claim. */
export interface ClaimOptions {
  readonly lease: Lease
  /** For the claim and the bytes, in milliseconds. */
  readonly budget: number
  readonly signal?: AbortSignal | undefined
}

/** The state to restore. */
export interface Claimed {
  /** Undefined where nothing was saved, or the sandbox was removed. */
  readonly checkpoint: Uint8Array | undefined
  /** What was remembered of calls; undefined where nothing was. */
  readonly calls: Uint8Array | undefined
  /** Where the state was removed: calls sent by then may have been applied before. In Unix milliseconds; 0: none. */
  readonly callsUntil: number
  /** The version of the definition that saved it; 0 where nothing was. */
  readonly version: number
  /**
   * Above 0: the sandbox may run only after `CheckpointWriter.waitOut`, which takes this long at least. In
   * milliseconds.
   */
  readonly waitOutMs: number
}

/** What a claim runs on. */
export interface ClaimParts extends ClaimOptions {
  readonly store: CheckpointStore
  readonly clock: Clock
  readonly place: StatePlace
  readonly headWriter: HeadWriter
}

/** What was claimed, and the head that the claim replaced. */
export interface Replaced {
  readonly claimed: Claimed
  readonly before: Head | null
}

/** Claims. Rejects as `CheckpointWriter.claim` says. */
export async function claimState(parts: ClaimParts): Promise<Replaced> {
  const { store, clock, place, headWriter, lease, budget, signal } = parts
  const until = clock.read().mono + budget
  const download = new AbortController()
  const giveUp = (): void => download.abort(signal?.reason)
  for (const source of [signal, lease.signal]) source?.addEventListener("abort", giveUp)
  const patience = { clock, store, until, signal: download.signal }
  const fetches = new Map<string, Promise<Fetched>>()
  const onSend = ({ saved }: Head): void => {
    if (saved.state !== "content" || fetches.has(saved.content)) return
    const fetched = fetchContent(store, place, saved, patience)
    fetched.catch(() => {}) // whoever needs it awaits it; a claim that fails doesn't
    fetches.set(saved.content, fetched)
  }
  try {
    const outcome = await headWriter.perform({ kind: "claim" }, until, { signal, onSend })
    if (outcome.kind !== "done") throw failureOf(outcome, { ...parts, what: "Claiming the head" })
    const seen = headWriter.state.base!
    const { saved: named, version } = seen.head!
    const fetched = named.state === "content" ? fetches.get(named.content) : undefined
    const saved = await savedParts(store, place, seen, patience, fetched)
    if (saved === "moved") throw rejected(place)
    const { state: checkpoint, calls } = saved ?? {}
    const { waitOutMs } = headWriter.state
    const { callsUntil = 0 } = "callsUntil" in named ? named : {}
    return { claimed: { checkpoint, calls, callsUntil, version, waitOutMs }, before: outcome.before }
  } catch (error) {
    throw lease.signal.aborted ? lossOf(lease, clock.read().wall) : error
  } finally {
    for (const source of [signal, lease.signal]) source?.removeEventListener("abort", giveUp)
    download.abort()
  }
}

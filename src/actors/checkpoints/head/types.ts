/**
 * The types of the head protocol: its state, its inputs, its commands. All of it is plain data that survives JSON, so
 * that a checker can hold, compare and print it. Times are milliseconds of one monotonic clock.
 */
import type { LeaseOrigin } from "../../../locks/stores/identity.ts"
import type { Generation } from "../../../locks/stores/port.ts"
import type { Head, RemovedCalls, Saved } from "./head.ts"

/** Fixed for one activation. */
export interface HeadSettings extends LeaseOrigin {
  /** The lock key. */
  readonly key: string
  /** The definition's name. */
  readonly type: string
  /** The definition's version: of what is saved from now on. */
  readonly version: number
  readonly ttlMs: number
  /** The nonces of activations that have ended, as far as the lease record proves it. */
  readonly past: readonly string[]
  /**
   * The head's generation as the granter of this activation left it: no write of the granter was under way, and none
   * was to come. Undefined where the granter couldn't say that.
   */
  readonly left?: Generation | undefined
  /** How many older contents a head goes on naming. */
  readonly keep: number
  /** The least time between two writes of one head. */
  readonly spacingMs: number
  /** The longest that one request may take. */
  readonly requestMs: number
}

/** What the function may know of the moment. */
export interface HeadNow {
  readonly at: number
  /** In [0,1). */
  readonly draw: number
  /** Fresh in each call; names the write that this call may build. */
  readonly fresh: string
  /** What `lease.isHeld()` says. Nothing is written while it is false. */
  readonly held: boolean
  /** A request may be sent now. Where not, it waits for its `turn`. */
  readonly admitted: boolean
}

/** One version of the head's object; `head` is null and the generation ABSENT where there is none. */
export interface Seen {
  readonly generation: Generation
  readonly head: Head | null
}

/** Writes sent on the generation of `base` whose fate nobody knows. At most one of them can land. */
export interface Unresolved {
  readonly opIds: readonly string[]
  /** The last one sent. */
  readonly last: Head
}

/** What the protocol is asked to achieve. One at a time. */
export type HeadTask =
  | { readonly kind: "claim" }
  | { readonly kind: "commit"; readonly saved: Saved }
  | { readonly kind: "remove"; readonly calls: RemovedCalls }
  /** Learn the fate of what is unresolved. */
  | { readonly kind: "settle" }
  /** After the claim: wait until the owner that the claimed head names has ended for sure. */
  | { readonly kind: "waitOut" }

/** What a job waits for. Answers to any other request are discarded. */
export type HeadWaiting =
  | { readonly for: "read" | "put"; readonly request: number; readonly deadline: number }
  | { readonly for: "raise"; readonly request: number; readonly above: number }
  | { readonly for: "renewal"; readonly request: number }
  | { readonly for: "time"; readonly at: number; readonly next: "read" | "write" | "renewal" }
  /** Room at the store. The request is made when there is some, and its deadline counts from then. */
  | { readonly for: "turn"; readonly next: "read" | "write" }

/** A task under way. */
export interface HeadJob {
  readonly task: HeadTask
  /** It ends by then, whatever it has learned. */
  readonly until: number
  readonly failures: number
  /** Its write on the generation of `base`: the same bytes each time it is sent. Null until it is built. */
  readonly write: Head | null
  readonly waiting: HeadWaiting
}

/** One activation of one sandbox's head. */
export interface HeadState {
  readonly settings: HeadSettings
  readonly token: number
  readonly nonce: string
  /** `fenced`: a later owner's head was seen; nothing is written any more. */
  readonly phase: "unclaimed" | "owner" | "fenced"
  /** The lease is gone for good. */
  readonly lost: boolean
  /**
   * How long the lease record has to stand before the activation may run, counted from a renewal after the claim; 0
   * once it has.
   */
  readonly waitOutMs: number
  /** Until when that is, once such a renewal is known applied. */
  readonly waitOutUntil: number | null
  /** The version that the next write replaces; null until one was read. */
  readonly base: Seen | null
  readonly unresolved: Unresolved | null
  /** When the head was last known, or last suspected, to be written. */
  readonly lastWriteAt: number | null
  readonly job: HeadJob | null
  /** The number of the last request. */
  readonly requests: number
}

/** What came of a request. */
export type HeadAnswer =
  | { readonly kind: "found"; readonly generation: Generation; readonly head: Head }
  | { readonly kind: "unchanged" }
  | { readonly kind: "absent" }
  /** There is a head that can't be read, or that may not be claimed. Trying again doesn't help. */
  | { readonly kind: "unusable" }
  /** A read or a raise that came to nothing. */
  | { readonly kind: "failed"; readonly fatal: boolean }
  | { readonly kind: "applied"; readonly generation: Generation }
  | { readonly kind: "refused" }
  | { readonly kind: "unknown"; readonly fatal: boolean }
  | { readonly kind: "raised"; readonly token: number }
  /** A renewal that was sent after it was asked for is applied. */
  | { readonly kind: "renewed" }

/** What happened. */
export type HeadInput =
  | { readonly type: "begin"; readonly task: HeadTask; readonly until: number }
  | { readonly type: "answer"; readonly request: number; readonly answer: HeadAnswer }
  /** Time has passed; due at `dueAt(state)`. */
  | { readonly type: "tick" }
  /** The store has room for one request. */
  | { readonly type: "turn" }
  | { readonly type: "lost" }
  /** The caller no longer wants the claim. */
  | { readonly type: "cancel" }

/** How a task ended. */
export type HeadOutcome =
  /** The head is known to say what the task was to write. `before` is what stood there first. */
  | { readonly kind: "done"; readonly written: boolean; readonly before: Head | null }
  /** Fenced, and surely not landed. */
  | { readonly kind: "rejected" }
  /** Sent, and nobody can tell. */
  | { readonly kind: "unknown" }
  /** Not sent; for `unusable`, `failed` and `lost` the head writer knows the error. */
  | { readonly kind: "timeout" | "unusable" | "failed" | "lost" | "cancelled" }

/** What the head writer has to do. */
export type HeadCommand =
  | { readonly type: "read"; readonly request: number; readonly known: Generation | null; readonly deadline: number }
  | {
      readonly type: "put"
      readonly request: number
      readonly expected: Generation
      readonly head: Head
      readonly deadline: number
    }
  /** Raise the lease's token above this, and answer once the raise is known applied. */
  | { readonly type: "raise"; readonly request: number; readonly above: number }
  /** Renew the lease, and answer once a renewal that was sent after this is known applied. */
  | { readonly type: "renew"; readonly request: number }
  | { readonly type: "ended"; readonly outcome: HeadOutcome }

/** One step. */
export interface HeadTransition {
  readonly state: HeadState
  readonly commands: readonly HeadCommand[]
}

/**
 * What the head protocol is made of: its state, what it is told, what it asks for. All of it is plain data that survives
 * JSON, so that a checker can hold, compare and print it. Times are milliseconds of one monotonic clock.
 */
import type { LeaseOrigin } from "../../../locks/stores/identity.ts"
import type { Generation } from "../../../locks/stores/port.ts"
import type { Head, Saved } from "./head.ts"

/** Fixed for one activation. */
export interface Settings extends LeaseOrigin {
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
   * The head's generation as whoever granted this activation left it: with no write of its own under way, and none to come.
   * Undefined where it couldn't say that.
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
export interface Now {
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

/** What the head writer asks for. One at a time. */
export type Wish =
  | { readonly kind: "claim" }
  | { readonly kind: "commit"; readonly saved: Saved }
  | { readonly kind: "remove" }
  /** Learn the fate of what is unresolved. */
  | { readonly kind: "settle" }
  /** After the claim: wait until whoever the claimed head names has ended for sure. */
  | { readonly kind: "waitOut" }

/** What a job waits for. Answers to any other request are discarded. */
export type Waiting =
  | { readonly for: "read" | "put"; readonly request: number; readonly deadline: number }
  | { readonly for: "raise"; readonly request: number; readonly above: number }
  | { readonly for: "renewal"; readonly request: number }
  | { readonly for: "time"; readonly at: number; readonly next: "read" | "write" | "renewal" }
  /** Room at the store. The request is made when there is some, and its deadline counts from then. */
  | { readonly for: "turn"; readonly next: "read" | "write" }

/** A wish under way. */
export interface Job {
  readonly wish: Wish
  /** It ends by then, whatever it has learned. */
  readonly until: number
  readonly failures: number
  /** Its write on the generation of `base`: the same bytes each time it is sent. Null until it is built. */
  readonly write: Head | null
  readonly waiting: Waiting
}

/** One activation of one sandbox's head. */
export interface State {
  readonly settings: Settings
  readonly token: number
  readonly nonce: string
  /** `fenced`: a later owner's head was seen; nothing is written any more. */
  readonly phase: "unclaimed" | "owner" | "fenced"
  /** The lease is gone for good. */
  readonly lost: boolean
  /** How long the lease record has to stand, from a renewal after the claim on, before the activation may run; 0 once it has. */
  readonly quietMs: number
  /** Until when that is, once such a renewal is known applied. */
  readonly quietUntil: number | null
  /** The version that the next write replaces; null until one was read. */
  readonly base: Seen | null
  readonly unresolved: Unresolved | null
  /** When the head was last known, or last suspected, to be written. */
  readonly lastWriteAt: number | null
  readonly job: Job | null
  /** The number of the last request. */
  readonly requests: number
}

/** What came of a request. */
export type Answer =
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
export type Input =
  | { readonly type: "wish"; readonly wish: Wish; readonly until: number }
  | { readonly type: "answer"; readonly request: number; readonly answer: Answer }
  /** Time has passed; due at `dueAt(state)`. */
  | { readonly type: "tick" }
  /** The store has room for one request. */
  | { readonly type: "turn" }
  | { readonly type: "lost" }
  /** Whoever wished for the claim no longer wants it. */
  | { readonly type: "cancel" }

/** How a wish ended. */
export type Outcome =
  /** The head is known to say what was wished, and `before` is what stood there first. */
  | { readonly kind: "done"; readonly written: boolean; readonly before: Head | null }
  /** Fenced, and surely not landed. */
  | { readonly kind: "rejected" }
  /** Sent, and nobody can tell. */
  | { readonly kind: "unknown" }
  /** Not sent; for `unusable`, `failed` and `lost` the head writer knows the error. */
  | { readonly kind: "timeout" | "unusable" | "failed" | "lost" | "cancelled" }

/** What the head writer has to do. */
export type Command =
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
  | { readonly type: "ended"; readonly outcome: Outcome }

/** One step. */
export interface Transition {
  readonly state: State
  readonly commands: readonly Command[]
}

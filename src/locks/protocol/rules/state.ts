/**
 * The vocabulary of the protocol: the state of one key in one incarnation, what can happen to it (inputs), what it asks
 * for (commands) and what it tells (events). Plain data only, so that a checker can compare and hash it.
 */
import type { LockError } from "../../api/errors.ts"
import type { AcquiredHow, LockEvent, TimeoutSource } from "../../api/lock.ts"
import type { HostHalf, LeaseRecord } from "../../record.ts"
import type { Generation, Liveness } from "../../stores/port.ts"
import type { Instant, Now, Sense } from "./time.ts"

/** What doesn't change in the life of a lock. Times in milliseconds. */
export interface LockConfig {
  readonly key: string
  /** The incarnation. */
  readonly id: string
  /** Tells this process, and its store object, from any other under that id. */
  readonly life: string
  readonly ttl: number
  /** How much earlier authority ends than the lease: half for the store's clocks, half for drift. */
  readonly guard: number
  readonly waiterTtl: number
  /** The longest ttl of strangers in the fleet. */
  readonly strangerTtl: number
  readonly clock: "none" | "coarse" | "exact"
  /** The boot of this host that the store's time belongs to; null where it belongs to none. */
  readonly bootId: string | null
  readonly cheapReads: boolean
  readonly spacing: number
  /** How often an owner looks for a waiter that nobody tells it of. */
  readonly watchEvery: number
  /** Renewals come at multiples of it, in milliseconds; 0: each at its own time. */
  readonly beat: number
  /** A release deletes the record; true only where the store honours the precondition of a delete. */
  readonly deletes: boolean
  /** Any failed renewal is a loss. */
  readonly strict: boolean
  readonly address: string | null
  readonly host: HostHalf | null
}

/** The last version known of the record. */
export interface View {
  readonly generation: Generation
  /** Undefined where the record is absent. */
  readonly record: LeaseRecord | undefined
  /** When the request was sent whose answer showed or confirmed it. */
  readonly sentAt: Instant
  /** The store's time in that answer; undefined where it had none. */
  readonly storeTime: number | undefined
  /** When this object was last written, as far as its stamp tells. */
  readonly lastWrite: Instant
  /** From the last request that showed another version to the first that showed this one, in milliseconds. */
  readonly unseen: number
  /** By how much the writer's stamp may be early, in milliseconds. */
  readonly vague: number
  /** A write of mine on it met another's within the spacing: its owner may be held up by the same. */
  readonly crowded: boolean
  /** It is my own release, so that the next acquire need not read. */
  readonly warm: boolean
  /** What was known of the processes in the record when it was read. */
  readonly evidence?: Evidence
}

/** What the machine says of the processes that a record's halves name; undefined where it knows nothing. */
export interface Evidence {
  readonly owner: Liveness | undefined
  readonly waiter: Liveness | undefined
}

/** How long a published pair and its half stand unchanged. Belongs to the process: attempts come and go. */
export interface Observation {
  readonly id: string
  /** In milliseconds; undefined where a stranger that knows three fields wrote none. */
  readonly expiresAt: number | undefined
  /** The write of its half, likewise. */
  readonly opId: string | undefined
  /** Of its half; undefined where a stranger wrote it. */
  readonly nonce: string | undefined
  /** Receipt of the first answer that showed it, by clocks that were never set back. */
  readonly since: Instant
  /** Receipt of the last one. */
  readonly seen: Instant
  /** How often an attempt of another life under my id was seen to write it anew, as far as that matters; else 0. */
  readonly rewrites: number
  /** The longest time that the same process was seen to change nothing before it did. */
  readonly longestGap: number
  /** The shortest time, by receipt, between two changes by the same stranger; undefined before there were two. */
  readonly shortestGap: number | undefined
  /** Receipt since which it is known to have stood there all the time: no version in between is unknown here. */
  readonly stood: Instant
}

/** A live owner half of ours that was seen: if the record vanishes, it is not free before this. */
export interface Remembered {
  readonly expiresAt: number
  readonly ttlMs: number
  readonly bootId: string | null
  readonly deletes: boolean
  /** How long it stands, seen or vanished, as its observation tells: since, and when the clocks were compared last. */
  readonly since: Instant
  readonly seen: Instant
}

/** What a write is for. `erase` takes a mark off, or burns what may still land, by moving the generation. */
export type WriteAct = "claim" | "mark" | "renew" | "erase" | "leave" | "delete"
/** What a request is for. */
export type Act = "read" | WriteAct

/** A write whose fate is open, or that has just been sent. */
export interface SentWrite {
  readonly opId: string
  readonly act: WriteAct
  readonly expected: Generation
  readonly body: string
  /** What `body` says, as it would be parsed. Its texts are those of the state that it came from, not copies. */
  readonly says: Readonly<Record<string, unknown>>
  readonly firstSend: Instant
  readonly epoch: number
  /** How long its bytes make sense, in milliseconds. */
  readonly life: number
  /** Of a claim or renewal: the token it writes. */
  readonly token?: number
  /** Of a claim: how it came by the key. */
  readonly came?: AcquiredHow
  /** Of a claim or renewal: the process groups that it names. */
  readonly groups?: readonly number[]
  /** Of a renewal: it was written after somebody last asked for one. */
  readonly isAsked?: boolean
  /** Of a mark: it stands in the line, so that my id names nobody by it. */
  readonly joins?: boolean
  /** Of a leave: how it hands off. */
  readonly how?: LeaveHow
}

/** How an ownership is ended. */
export type LeaveHow = "release" | "grant" | "reserve"

/** The one request under way. */
export interface Flight {
  readonly id: number
  readonly act: Act
  readonly sentAt: Instant
  readonly epoch: number
  readonly opId: string | undefined
}

/** Something to do, no earlier than a moment. */
export interface Due<A extends Act = Act> {
  readonly act: A
  readonly at: Instant
}

/** One try to own the key. */
export interface Attempt {
  readonly nonce: string
  readonly startedAt: Instant
  /** Undefined: without limit. */
  readonly budgetMs: number | undefined
  readonly budgetSource: TimeoutSource
  /**
   * What of the budget was spent before its turn came: by the store's start, by other keys, in this process's queue.
   */
  readonly spentMs: number
  /** What of that was spent in the queue, behind other calls of this process. */
  readonly queuedMs: number
  readonly whenOwned: "request" | "wait" | "report"
  readonly contention: "fail" | "retry"
  /** Undefined: until `stay` says one. */
  readonly minTenure: number | undefined
  readonly stateVersion: number | null
  /** Process groups that stand ready to work under the ownership: its first write names them. */
  readonly groups?: readonly number[]
}

/** An ownership. */
export interface Hold {
  readonly nonce: string
  readonly token: number
  /** The token that a renewal under way raises to. */
  readonly raising: number | undefined
  readonly how: AcquiredHow
  /** Until when this process may act, by its lease. `deadlineOf` tells it. */
  readonly deadline: Instant
  readonly renewAt: Instant
  readonly watchAt: Instant
  /** The fate of a renewal is open: read before anything else, at this time. */
  readonly readBackAt: Instant | undefined
  readonly failures: number
  readonly degraded: boolean
  readonly suspect: boolean
  /** No waiter is passed on before this. Undefined: until `stay` says when. */
  readonly tenureUntil: Instant | undefined
  /**
   * Where writes are spaced, and I had to wait for the key: an ownership that ends before this lets others ask first.
   */
  readonly brieflyUntil: Instant | undefined
  /** Waiters that were passed on already. */
  readonly signalled: readonly string[]
  /** How the ownership before this one ended, as its record tells. */
  readonly lastRelease: LeaseRecord["lastRelease"]
  /** The ownerships that had ended when this one began, as its record tells. */
  readonly past: readonly string[]
  /** Whether a head names this ownership. Once one does for sure, none names an earlier one any more. */
  readonly trace: "none" | "possible" | "sure"
  /** The write that made my half, as last known. */
  readonly opId: string | undefined
  /** Somebody asked for a renewal, and none that was written since is known to be applied. */
  readonly isAsked: boolean
  /** What the owner before left for this ownership, by granting it. */
  readonly note: string | undefined
  readonly stateVersion: number | null
  /** In seconds of the store's time. */
  readonly since: number | undefined
  /** Process groups that work under this ownership. */
  readonly groups: readonly number[]
  /** Those that the record is known to name. */
  readonly named: readonly number[]
  /** No more renewals: the lease is left to run out. */
  readonly expiring: boolean
}

/** A leave whose time was over before anybody could tell what became of it: another release goes on with it. */
export interface Left {
  readonly hold: Hold
  readonly note: string | undefined
  readonly opIds: readonly string[]
}

/** Nothing is under way. */
export interface Idle {
  readonly name: "idle"
  readonly left?: Left
}

/** An attempt looks, waits, and claims. */
export interface Seeking {
  readonly name: "seeking"
  readonly attempt: Attempt
  readonly next: Due<"read" | PhaseActs["seeking"]>
  /** My mark stands, or I wait without one. */
  readonly waiting: boolean
  readonly polls: number
  /** The last token that was known when it first looked. */
  readonly asked: number | undefined
  /**
   * How many are to have the key before me, as far as the record tells; more than a line is long: I am outside of a
   * full one.
   */
  readonly ahead: number
  /** So many new versions can't concern me: those ahead have their turns first. */
  readonly unheard: number
  /** It has met another owner. */
  readonly met: boolean
  /** Another wrote before my mark came. */
  readonly overtaken: boolean
  readonly failures: number
  /** Of the last failure, where there are any. */
  readonly lastError: LockError | undefined
  /** An answer showed the record: the store isn't silent. */
  readonly heard: boolean
}

/** The key is mine. */
export interface Owning {
  readonly name: "owning"
  readonly hold: Hold
}

/** The ownership is over here, and the store is yet to be told. */
export interface Leaving {
  readonly name: "leaving"
  readonly hold: Hold
  /** For the next owner, if this one grants. */
  readonly note: string | undefined
  readonly next: Due<"read" | "leave">
  /** That others may ask has been waited for so often. */
  readonly windows: number
  readonly until: Instant
  /** A request was sent since: `until` counts from it. */
  readonly begun: boolean
  /** Every leave that was sent. */
  readonly opIds: readonly string[]
  readonly failures: number
}

/** The attempt is over, and what it left in the store is taken back. */
export interface Clearing {
  readonly name: "clearing"
  readonly attempt: Attempt
  readonly next: Due<"read" | PhaseActs["clearing"]>
  /** What the caller is still to be told. */
  readonly error: LockError | undefined
  readonly settleBy: Instant
  readonly until: Instant
  readonly failures: number
}

/** The phases by name. */
export interface Phases {
  readonly idle: Idle
  readonly seeking: Seeking
  readonly owning: Owning
  readonly leaving: Leaving
  readonly clearing: Clearing
}

/** What each phase writes. */
export interface PhaseActs {
  readonly idle: never
  readonly seeking: "claim" | "mark"
  readonly owning: "renew"
  readonly leaving: "leave" | "delete"
  readonly clearing: "leave" | "erase"
}

/** What this incarnation is doing about the key. */
export type Phase = Phases[keyof Phases]

/** One key in one incarnation. */
export interface LockState {
  readonly config: LockConfig
  readonly sense: Sense
  readonly view: View | undefined
  readonly observedOwner: Observation | undefined
  readonly observedWaiter: Observation | undefined
  /** One for each entry of the line. */
  readonly observedLine: readonly Observation[]
  readonly remembered: Remembered | undefined
  /** My id in the record, where it stands there without its half, is known to mean me, and no other under that id. */
  readonly named: boolean
  /** The greatest token seen in any version of the record: what I write as a new owner is greater. */
  readonly topToken: number
  /** Writes sent on the generation of `view` that may still land. */
  readonly sent: readonly SentWrite[]
  readonly flight: Flight | undefined
  /**
   * The runtime is told of all that this key waits for: looks may be seldom. To an owner that is the record's next
   * change. To one that wants the key it is the end of its owner's process, too.
   */
  readonly watched: boolean
  /** Ids of requests so far. */
  readonly requests: number
  readonly phase: Phase
}

/** The answer to a read, its body as text. */
export type ReadResult = { readonly storeTime?: number; readonly evidence?: Evidence } &
  /** `record`: what the text says, where it was parsed already. */
  (
    | { readonly kind: "found"; readonly generation: Generation; readonly text: string; readonly record?: LeaseRecord }
    | { readonly kind: "unchanged"; readonly generation: Generation }
    | { readonly kind: "absent" }
    | { readonly kind: "tooLarge"; readonly generation: Generation }
    | { readonly kind: "failed"; readonly error: LockError }
  )

/** The answer to a write. */
export type WriteResult = { readonly storeTime?: number } & (
  | { readonly kind: "applied"; readonly generation: Generation }
  | { readonly kind: "refused" }
  | { readonly kind: "unknown"; readonly error: LockError; readonly throttled?: boolean; readonly overtaken?: boolean }
)

/** What can happen to a key. */
export type Input =
  | ({ readonly type: "acquire" } & Partial<Pick<Attempt, "spentMs" | "queuedMs">> &
      Omit<Attempt, "nonce" | "startedAt" | "spentMs" | "queuedMs">)
  | { readonly type: "cancel" }
  | { readonly type: "renew"; readonly tokenAbove?: number | undefined }
  | { readonly type: "stay"; readonly ms: number }
  /** Names process groups that are to work under the ownership, by a renewal. */
  | { readonly type: "nameGroups"; readonly groups: readonly number[] }
  | { readonly type: "release"; readonly note?: string | undefined }
  | { readonly type: "leaveToExpire" }
  | { readonly type: "read"; readonly id: number; readonly answer: ReadResult }
  | { readonly type: "wrote"; readonly id: number; readonly answer: WriteResult }
  /** The record may have changed, or a process that it names has ended. */
  | { readonly type: "ring" }
  | { readonly type: "tick" }

/** What the runtime is asked to do. `abandon`: the answer to that request will be discarded. */
export type Command =
  | { readonly type: "read"; readonly id: number; readonly known: Generation | undefined }
  | { readonly type: "put"; readonly id: number; readonly expected: Generation; readonly body: string }
  | { readonly type: "remove"; readonly id: number; readonly expected: Generation }
  | { readonly type: "abandon"; readonly id: number }

/** An input that is neither an answer nor the time. */
export type Told = Exclude<Input, { readonly type: "read" | "wrote" | "tick" }>

type WithoutAt<E> = E extends unknown ? Omit<E, "at" | "key" | "ownerId"> : never
/** What the protocol tells: lock events before the runtime stamps them. */
export type ProtocolEvent = WithoutAt<LockEvent>

/** One step's working copy of all but the phase, and what came of it so far. The phase is passed on and returned. */
export type Draft = { -readonly [K in keyof Omit<LockState, "phase">]: LockState[K] } & {
  readonly now: Now
  readonly commands: Command[]
  readonly events: ProtocolEvent[]
}

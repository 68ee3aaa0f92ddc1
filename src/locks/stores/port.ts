/**
 * The port to whatever keeps leases and checkpoints: small objects in named areas, each version with a generation, every
 * write conditioned on the generation it replaces. The comments are the contract, and `conformance` in
 * `leasehold/testing` checks it. A store decides nothing about leases: it tells what it saw, and says "unknown" whenever
 * it can't tell.
 */
import type { LockError } from "../api/errors.ts"
import type { HostHalf } from "../record.ts"

/** The identity of one version of an object. Opaque: compared for equality only, never for order. */
export type Generation = string

/** The expected generation of an object that must not exist yet. */
export const ABSENT: Generation = "0"

/** Keys can't reach from one area into another. `store` is about the store itself. `processes`, `rings` and `bells` are reserved. */
export type Area = "leases" | "state" | "probe" | "store"

/** Addresses an object. `name` is an encoded name, in `state` with `/` between its parts. */
export interface ObjectRef {
  /** Which part of the store. */
  readonly area: Area
  /** Unique in its area. */
  readonly name: string
}

/** What a store can do. Fixed for the life of the store object, once `start` has settled. */
export interface StoreCapabilities {
  /** Whether answers carry the store's time: not at all, in whole seconds rounded down, or exactly. */
  readonly clock: "none" | "coarse" | "exact"
  /** Where set, the store's time means something only to records that name the same clock, by its boot. */
  readonly bootId?: string
  /** The store stamps with the very clock that `isHeld()` reads, so that the guard may be small. */
  readonly sameClock: boolean
  /** Deletes honour their precondition. Where false no record is ever deleted. */
  readonly deletes: boolean
  /** A read costs about as much as a system call. */
  readonly cheapReads: boolean
  /** The least time between two writes of one object, in milliseconds; 0 for none. */
  readonly writeSpacing: number
}

/** Each request ends by its deadline, whatever the network does; a store may end it sooner. */
export interface RequestOptions {
  /** The whole request, its body included, in milliseconds from the call. */
  readonly deadline: number
  /** Gives up: settle soon, with `failed` or `unknown`. */
  readonly signal?: AbortSignal
}

/** How long after a deadline a store that is still silent is given up on, in milliseconds: its own timer may be late. */
export const DEADLINE_GRACE_MS = 250

/** How a store is started. */
export interface StartOptions extends RequestOptions {
  /**
   * Whether the store is probed. `once`, the default: unless it remembers that it was. `again`: whatever it remembers. `never`: for
   * who only reads and lists; writes are answered by `unknown` then, until a later start. A store may do more than it is asked to.
   */
  readonly probe?: "once" | "again" | "never"
}

/** Reading takes care of its own limits. */
export interface ReadOptions extends RequestOptions {
  /** Bodies larger than this come back as `tooLarge`, unread. In bytes. */
  readonly limit: number
  /** If the object still has this generation, answer `unchanged` (a store may answer `found` all the same). */
  readonly known?: Generation
}

/** The store's time in an answer, in Unix milliseconds; absent on stores without a clock and on cached answers. */
interface Stamped {
  readonly storeTime?: number
}

/** What a read saw. Body and generation belong to one version. Never rejects. */
export type ReadAnswer = Stamped &
  (
    | { readonly kind: "found"; readonly generation: Generation; readonly body: Uint8Array }
    | { readonly kind: "unchanged"; readonly generation: Generation }
    | { readonly kind: "absent" }
    | { readonly kind: "tooLarge"; readonly generation: Generation }
    /** Nothing was learned. `error` is retryable or not. */
    | { readonly kind: "failed"; readonly error: LockError }
  )

/** What became of a write or a delete. Never rejects. */
export type WriteAnswer = Stamped &
  (
    | { readonly kind: "applied"; readonly generation: Generation }
    /** The precondition didn't hold when the store looked: this request changed nothing. An earlier copy may have. */
    | { readonly kind: "refused" }
    /**
     * It may have been applied, or be applied later. `throttled`: the object took another write within its spacing.
     * `overtaken`: another write came between, and no failure; a read tells at once what there is to know. An error that says
     * by its `status` that there is no room (ENOSPC, EDQUOT, EFBIG) is for a write of which nothing was made.
     */
    | {
        readonly kind: "unknown"
        readonly error: LockError
        readonly throttled?: boolean
        readonly overtaken?: boolean
      }
  )

/** One page of names, in the store's order. `next` continues after it. */
export interface Page {
  /** Each object once. */
  readonly items: readonly { readonly name: string; readonly generation: Generation }[]
  /** Where the next page goes on; absent after the last. */
  readonly next?: string
}

/** How to list. */
export interface ListOptions extends RequestOptions {
  /** Only names that begin with this. */
  readonly prefix: string
  /** `next` of the page before. */
  readonly after?: string
}

/** A compare-and-swap store of small objects. */
export interface ObjectStore {
  /** Names the store for people and in heads, the same in every process: `gs://bucket/prefix`, `file:/var/leases`. */
  readonly name: string
  /** What it can do, as known so far; final once `start` has settled. */
  readonly capabilities: StoreCapabilities
  /**
   * Makes ready and probes, once: create twice, stale put, stale delete on a scratch object. It may leave
   * among its objects, in none of the areas, that it was probed, and trust that later. Rejects with StoreMisconfiguredError (what is wrong and how to mend it) or
   * StoreUnavailableError.
   */
  start(options: StartOptions): Promise<void>
  /** Reads one object. Never answers a version older than one that this process was already shown. */
  read(ref: ObjectRef, options: ReadOptions): Promise<ReadAnswer>
  /** Writes if the object's generation is `expected` (ABSENT: if there is none). Sent at most once per call. */
  put(ref: ObjectRef, expected: Generation, body: Uint8Array, options: RequestOptions): Promise<WriteAnswer>
  /** Deletes if the object's generation is `expected`. `applied` carries `expected`. */
  remove(ref: ObjectRef, expected: Generation, options: RequestOptions): Promise<WriteAnswer>
  /** Rejects with StoreUnavailableError or StoreMisconfiguredError. */
  list(area: Area, options: ListOptions): Promise<Page>
  /** Closes what the store itself opened. Idempotent. */
  close(): Promise<void>
}

/**
 * What can be known of a process that a record names: that it has ended for sure, and every process group that it named with
 * it; or that it is at work, as one of those groups lives or can't be shown not to; or else that the process itself lives for
 * sure, which says nothing of its lease. Once `gone` always `gone`.
 */
export type Liveness = "gone" | "working" | "alive"

/** Knows processes of this machine. What it can't tell for sure it doesn't say. */
export interface ProcessOracle {
  /** What records say of this process; absent: no more than in which boot it is. */
  readonly self?: HostHalf
  /**
   * About the process of a half; undefined where nothing is known. `host` is another's writing and may be anything. `stands`:
   * its lease isn't over by time, so that of a process which lives its groups need not be looked for, which may take long.
   */
  livenessOf(host: HostHalf, stands?: boolean): Liveness | undefined
  /** Calls `wake` soon after that process has ended. It may miss the end, and may call for nothing. */
  watch(host: HostHalf, wake: () => void): Watching
}

/** A watch, until it is disposed. */
export interface Watching extends Disposable {
  /** The system is known to tell of what happens: while it is, a lock that waits looks seldom by itself. Default: false. */
  readonly hears?: boolean
}

/** The same requests for lease records, answered when the call returns. They take about as long as a system call. */
export interface PromptRequests {
  /** As `read`. Never throws. */
  read(ref: ObjectRef, options: ReadOptions): ReadAnswer
  /** As `put`. Never throws. */
  put(ref: ObjectRef, expected: Generation, body: Uint8Array, options: RequestOptions): WriteAnswer
  /** As `remove`. Never throws. */
  remove(ref: ObjectRef, expected: Generation, options: RequestOptions): WriteAnswer
}

/** A store fit for leases. */
export interface LeaseStore extends ObjectStore {
  /** Compare-and-swap holds under crashes of clients; an acknowledged lease may be lost with the machine. */
  readonly leases: true
  /** Where records name processes: who knows about those. */
  readonly oracle?: ProcessOracle
  /** Where a request needs no event loop: locks ask this way, and release what is owned when the process ends. */
  readonly prompt?: PromptRequests
  /**
   * Calls `wake` soon after the object may have changed, and never keeps the process alive. It may miss changes, and may
   * call for nothing: who watches looks for himself now and then. `wake` is told of which generation it is called, where that
   * is known.
   */
  watch?(ref: ObjectRef, wake: (generation?: Generation) => void): Watching
}

/** A store fit for checkpoints. */
export interface CheckpointStore extends ObjectStore {
  /** What is acknowledged under `state` survives the crash of this process and of its machine. */
  readonly checkpoints: true
}

/**
 * The port to stores of leases and checkpoints: small objects in named areas. Each version of an object has a
 * generation, and every write names the generation that it replaces. These comments are the contract, and `conformance`
 * in `leasehold/testing` checks it.
 *
 * A store decides nothing about leases. It tells what it saw, and says "unknown" where it can't tell.
 */
import type { LockError } from "../api/errors.ts"
import type { HostHalf } from "../record.ts"

/** The identity of one version of an object. Opaque: compared for equality only, never for order. */
export type Generation = string

/** The expected generation of an object that must not exist yet. */
export const ABSENT: Generation = "0"

/**
 * A part of a store. No key leads from one area into another. `store` describes the store itself. `processes`, `rings`
 * and `bells` are reserved.
 */
export type Area = "leases" | "state" | "probe" | "store"

/** The address of an object. `name` is an encoded name, in `state` two of them with `/` in between. */
export interface ObjectRef {
  /** Which part of the store. */
  readonly area: Area
  /** Unique in its area. */
  readonly name: string
}

/** What a store can do. Fixed for the life of the store object, once `start` has settled. */
export interface StoreCapabilities {
  /** How answers carry the store's time: not at all (`none`), in whole seconds rounded down (`coarse`), or exactly. */
  readonly clock: "none" | "coarse" | "exact"
  /** Names the clock of the store's time. Where set, that time counts only for records that name the same clock. */
  readonly bootId?: string
  /** The store stamps with the same clock that `isHeld()` reads: the guard may be small. */
  readonly sameClock: boolean
  /** Deletes honour their precondition. Where they don't, no record is ever deleted. */
  readonly deletes: boolean
  /** A read costs about as much as a system call. */
  readonly cheapReads: boolean
  /** Its objects are in this process's memory: no request waits for anything, or is in anybody's way. */
  readonly inMemory?: boolean
  /** The least time between two writes of one object, in milliseconds; 0 for none. */
  readonly writeSpacing: number
}

/** The limits of a request. It ends by its deadline, whatever the network does; a store may end it sooner. */
export interface RequestOptions {
  /** Milliseconds from the call, for the whole request with its body. */
  readonly deadline: number
  /** Aborts the request: it settles soon, with `failed` or `unknown`. */
  readonly signal?: AbortSignal
}

/**
 * How long after a deadline a store that is still silent is given up on, in milliseconds: its own timer may be late.
 */
export const DEADLINE_GRACE_MS = 250

/** How a store is started. */
export interface StartOptions extends RequestOptions {
  /**
   * When the store is probed:
   *
   *     once       unless it remembers that it was; the default
   *     again      in any case
   *     never      for callers that only read and list; writes are answered by `unknown` until a later start
   *
   * A store may do more than it is asked to.
   */
  readonly probe?: "once" | "again" | "never"
}

/** The limits of a read. */
export interface ReadOptions extends RequestOptions {
  /** In bytes. A larger body is answered by `tooLarge`, unread. */
  readonly limit: number
  /** Where the object still has this generation the answer is `unchanged`; a store may answer `found` all the same. */
  readonly known?: Generation
}

/** The store's time in an answer, in Unix milliseconds. Absent on stores without a clock, and in cached answers. */
interface Stamped {
  readonly storeTime?: number
}

/** The answer to a read. Body and generation belong to one version. A read never rejects. */
export type ReadAnswer = Stamped &
  (
    | { readonly kind: "found"; readonly generation: Generation; readonly body: Uint8Array }
    | { readonly kind: "unchanged"; readonly generation: Generation }
    | { readonly kind: "absent" }
    | { readonly kind: "tooLarge"; readonly generation: Generation }
    /** Nothing was learned. */
    | { readonly kind: "failed"; readonly error: LockError }
  )

/** The answer to a write or a delete. Neither rejects. */
export type WriteAnswer = Stamped &
  (
    | { readonly kind: "applied"; readonly generation: Generation }
    /** The precondition didn't hold: this request changed nothing. An earlier copy of it may have. */
    | { readonly kind: "refused" }
    /**
     * It may have been applied, or be applied later.
     *
     *     throttled     the object took another write within its spacing
     *     overtaken     another write came after it, and nothing failed: a read shows at once what became of it
     *
     * Where the error's `status` says that there is no room (ENOSPC, EDQUOT, EFBIG), nothing was written.
     */
    | {
        readonly kind: "unknown"
        readonly error: LockError
        readonly throttled?: boolean
        readonly overtaken?: boolean
      }
  )

/** One page of names, in the store's order. */
export interface Page {
  /** Each object once. */
  readonly items: readonly { readonly name: string; readonly generation: Generation }[]
  /** Where the next page begins; absent after the last. */
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
  /** Names the store for people and in heads. The same in every process: `gs://bucket/prefix`, `file:/var/leases`. */
  readonly name: string
  /** As known so far; final once `start` has settled. */
  readonly capabilities: StoreCapabilities
  /**
   * Makes the store ready and probes it, once: on a scratch object it creates twice, puts on a stale generation and
   * deletes on one. It may remember a probe in an object that is in none of the areas, and trust that later. Rejects
   * with StoreMisconfiguredError, which says what is wrong and how to mend it, or StoreUnavailableError.
   */
  start(options: StartOptions): Promise<void>
  /** Reads one object. Never answers a version that is older than one shown to this process before. */
  read(ref: ObjectRef, options: ReadOptions): Promise<ReadAnswer>
  /** Writes if the object's generation is `expected` (ABSENT: there is no object). Sent at most once per call. */
  put(ref: ObjectRef, expected: Generation, body: Uint8Array, options: RequestOptions): Promise<WriteAnswer>
  /** Deletes if the object's generation is `expected`. `applied` carries `expected`. */
  remove(ref: ObjectRef, expected: Generation, options: RequestOptions): Promise<WriteAnswer>
  /** Rejects with StoreUnavailableError or StoreMisconfiguredError. */
  list(area: Area, options: ListOptions): Promise<Page>
  /** Closes what the store itself opened. Idempotent. */
  close(): Promise<void>
}

/**
 * What is known of a process that a record names:
 *
 *     gone        it has surely ended, with every process group that it named; once `gone`, always `gone`
 *     working     one of those groups lives, or can't be shown to have ended
 *     alive       the process itself surely lives, which says nothing of its lease
 */
export type Liveness = "gone" | "working" | "alive"

/** Knows processes of this machine. Says only what is sure. */
export interface ProcessOracle {
  /** What records say of this process. Absent: only in which boot it runs. */
  readonly self?: HostHalf
  /**
   * About the process that a record names; undefined where nothing is known. `host` was written by another process, and
   * may be anything. `stands`: its lease isn't over by time. Then the groups of a living process needn't be looked for,
   * which takes long.
   */
  livenessOf(host: HostHalf, stands?: boolean): Liveness | undefined
  /** Calls `wake` soon after that process has ended. May miss that, and may call it for nothing. */
  watch(host: HostHalf, wake: () => void): Watching
}

/** A watch, until it is disposed. */
export interface Watching extends Disposable {
  /** Whether the watch may be relied on. While it may, a lock that waits looks less often by itself. Default: false. */
  readonly hears?: boolean
  /**
   * The same for the writes of every process, on whatever machine, from the call of `watch` on. While it may, an owner
   * looks for a waiter less often. Default: false.
   */
  readonly hearsAll?: boolean
}

/** Requests for lease records that are answered when the call returns. They take about as long as a system call. */
export interface PromptRequests {
  /** As `read`. Never throws. */
  read(ref: ObjectRef, options: ReadOptions): ReadAnswer
  /** As `put`. Never throws. The store may keep the body: nobody changes it any more. */
  put(ref: ObjectRef, expected: Generation, body: Uint8Array, options: RequestOptions): WriteAnswer
  /** As `remove`. Never throws. */
  remove(ref: ObjectRef, expected: Generation, options: RequestOptions): WriteAnswer
}

/** A store for leases. */
export interface LeaseStore extends ObjectStore {
  /** Compare-and-swap holds when clients crash. An acknowledged lease may be lost with the machine. */
  readonly leases: true
  /** What is known of the processes that records name, where they name any. */
  readonly oracle?: ProcessOracle
  /**
   * Requests that need no event loop, where the store has them. Locks use them, also to release when the process ends.
   */
  readonly prompt?: PromptRequests
  /**
   * Calls `wake` soon after the object may have changed, with its generation where that is known. Never keeps the
   * process alive. May miss changes, and may call it for nothing: the caller goes on looking by itself.
   */
  watch?(ref: ObjectRef, wake: (generation?: Generation) => void): Watching
}

/** A store for checkpoints. */
export interface CheckpointStore extends ObjectStore {
  /** An acknowledged write under `state` survives the crash of this process and of its machine. */
  readonly checkpoints: true
}

/**
 * What a trace is made of: one header, then one line for each thing that happened, in the order in which it was
 * recorded. Simulated and live workers write the same lines. `docs/trace.md` shows each of them, `trace-text.ts` writes
 * and reads them. Lines are plain JSON values: what is read is what was written, also lines of kinds that this release
 * doesn't know.
 *
 * Not promised: that a trace is whole. A worker that was killed has no line for what it did last, a request whose
 * answer never came has no answer. Never in a trace: the body of an object.
 */
import type { Owner } from "../locks/api/errors.ts"
import type { AcquiredHow, LockEvent, ReleaseResult } from "../locks/api/lock.ts"
import type { Area, Generation } from "../locks/stores/port.ts"
import type { SandboxStateValue } from "./state-value.ts"

/** The version of the format that this release writes. Adding kinds of lines, or fields, doesn't raise it. */
export const TRACE_VERSION = 1

/** The first line. */
export interface TraceHeader {
  /** Which kind of line. */
  readonly kind: "trace"
  /** The format's version; a greater one than TRACE_VERSION is refused. */
  readonly version: number
  /** Where the workers ran: in real time, or in a simulated world. */
  readonly source: "live" | "simulated"
  /** The seed that runs it again; null for a live trace. */
  readonly seed: number | null
  /** The commit that was run, where known. */
  readonly commit: string | null
}

interface TimedLine {
  /** Unix milliseconds by the recorder's wall clock: in a simulation true time, whatever the workers' clocks say. */
  readonly at: number
}

interface LineOfWorker extends TimedLine {
  /** Whose line it is: the name that the worker was given when recording began. */
  readonly worker: string
}

/** An error in a trace: enough to tell what went wrong, and no more. */
export interface TraceError {
  /** The `_tag` of a LockError; the name of any other error, `unknown` for what is none. */
  readonly tag: string
  /** The `code` of a LockError; null for any other. */
  readonly code: string | null
  /** What it says. */
  readonly message: string
  /** The HTTP status or errno name, where there was one. */
  readonly status?: number | string
}

/** A lock's event. */
export interface LockLine extends LineOfWorker {
  /** Which kind of line. */
  readonly kind: "lock"
  /** The lock key. */
  readonly key: string
  /** Which of the lock's events. */
  readonly type: LockEvent["type"]
  /** The worker's incarnation. */
  readonly ownerId: string
  /** When, in Unix milliseconds of the worker's own wall clock, which may be wrong; `deadline` is of that clock too. */
  readonly wall: number
  /** The fencing token that it is about. */
  readonly token?: number
  /** When the lease ends: `deadline - wall` milliseconds after `at`. */
  readonly deadline?: number
  /** How the key came (Acquired), or how it was handed over (Granted). */
  readonly how?: AcquiredHow | "grant" | "reserve"
  /** Who is waited for. */
  readonly owner?: Owner
  /** Who waits, or was given the key. */
  readonly waiterId?: string
  /** How a release ended. */
  readonly result?: ReleaseResult
  /** Why. */
  readonly error?: TraceError
}

/** A state of a sandbox's chart, written when it differs from the one before. */
export interface StateLine extends LineOfWorker {
  /** Which kind of line. */
  readonly kind: "state"
  /** The lock key of the sandbox. */
  readonly key: string
  /** The state as XState has it. */
  readonly value: SandboxStateValue
  /** The fencing token, from acquisition on. */
  readonly token: number | null
  /** Why it leaves, once it was asked to. */
  readonly leaving?: string
  /** Why it was lost, refused, or failed. */
  readonly error?: TraceError
}

/** What is asked of a store. */
export type TraceOp = "start" | "read" | "put" | "remove" | "list"

/** A request to a store, as it is sent. */
export interface RequestLine extends LineOfWorker {
  /** Which kind of line. */
  readonly kind: "request"
  /** Joins it with its answer; unique in the trace of one recorder. */
  readonly id: number
  /** The store's name. */
  readonly store: string
  /** What is asked. */
  readonly op: TraceOp
  /** The object's area; absent for `start`. */
  readonly area?: Area
  /** The object's name; for `list` the prefix. */
  readonly name?: string
  /** The generation that a write is conditioned on; for a read the one that the reader knows. */
  readonly generation?: Generation
  /** The size of the body that a put sends. */
  readonly bytes?: number
  /** What the request may take, in milliseconds. */
  readonly deadline: number
}

/** What came of a request: the kind of the store's answer, or `done` (a start, a list), or `rejected`. */
export type TraceOutcome =
  | "found"
  | "unchanged"
  | "absent"
  | "tooLarge"
  | "failed"
  | "applied"
  | "refused"
  | "unknown"
  | "done"
  | "rejected"

/** The answer to a request, as its sender gets it. */
export interface AnswerLine extends LineOfWorker {
  /** Which kind of line. */
  readonly kind: "answer"
  /** The request's. */
  readonly id: number
  /** What came of it. */
  readonly outcome: TraceOutcome
  /** Milliseconds since the request, by the recorder's monotonic clock, to the microsecond. */
  readonly ms: number
  /** The generation that was read or written. */
  readonly generation?: Generation
  /** The store's time in the answer, in Unix milliseconds. */
  readonly storeTime?: number
  /** The size of the body that was read. */
  readonly bytes?: number
  /** How many names a page of a list has. */
  readonly items?: number
  /** The object took another write within its spacing. */
  readonly throttled?: boolean
  /** Another write came between, and nothing failed: a read tells what became of it. */
  readonly overtaken?: boolean
  /** Why it failed; its `status` is the HTTP status or errno name. */
  readonly error?: TraceError
}

/** A change of owner, as the trace tells it: written beside the `Acquired` that completes it. */
export interface HandoffLine extends LineOfWorker {
  /** Which kind of line. */
  readonly kind: "handoff"
  /** The lock key. */
  readonly key: string
  /** Graceful (granted, reserved), or after expiry. */
  readonly how: "granted" | "reserved" | "takeover"
  /** The former owner's incarnation, where this trace has seen it. */
  readonly from: string | null
  /** Its fencing token, where this trace has seen it. */
  readonly fromToken: number | null
  /** The new owner's incarnation. */
  readonly to: string
  /** Its fencing token. */
  readonly token: number
  /** Milliseconds since the former owner gave the key up, or lost it; null where this trace hasn't seen that. */
  readonly ms: number | null
}

/** Which of a sandbox's hooks a section of work is in, or that it is a use. */
export type TraceWork = "restore" | "run" | "turn" | "use" | "checkpoint" | "close" | "migrate" | "schema"

/** A section of the user's own code under a lease: its beginning, or its end. One that was killed has no end. */
export interface WorkLine extends LineOfWorker {
  /** Which kind of line. */
  readonly kind: "work"
  /** Joins its beginning with its end; unique in the trace of one recorder. */
  readonly id: number
  /** The lock key of the sandbox. */
  readonly key: string
  /** The fencing token under which it runs. */
  readonly token: number
  /** Which section. */
  readonly work: TraceWork
  /** Whether it begins, has ended, or has ended by throwing. */
  readonly edge: "began" | "ended" | "failed"
  /** Why: of a checkpoint what asked for it, of a close how the sandbox ended. */
  readonly reason?: string
  /** What it threw. */
  readonly error?: TraceError
}

/** What is asked of a manager or a lock, from outside. */
export type TraceCall =
  | "start"
  | "use"
  | "call"
  | "restore"
  | "checkpoint"
  | "release"
  | "remove"
  | "drain"
  | "close"
  | "acquire"

/** A call on the library, and how it settled. One that never settles has no second line. */
export interface CallLine extends LineOfWorker {
  /** Which kind of line. */
  readonly kind: "call"
  /** Joins a call with its end; unique in the trace of one recorder. */
  readonly id: number
  /** What is asked. */
  readonly call: TraceCall
  /** Whether it begins, has given a result, or has rejected. */
  readonly edge: "began" | "ended" | "failed"
  /** The key that it is about, where it is about one. */
  readonly key?: string
  /** By when it has to settle, or the function of a use to begin, in milliseconds from its beginning; absent: never. */
  readonly budget?: number
  /** Its effect is to be stored before it settles. */
  readonly durable?: boolean
  /** Of a call of the definition: its name. */
  readonly name?: string
  /** Of a durable call of the definition: its id, which each repetition of it has too. */
  readonly callId?: string
  /** What it rejected with. */
  readonly error?: TraceError
}

/** What a lease record says, as far as a trace tells it. */
export interface TraceLease {
  /** The owner's incarnation. */
  readonly ownerId: string | null
  /** The owner's fencing token; null where the record has none. */
  readonly token: number | null
  /** When its lease ends, in Unix milliseconds of the store's time; 0 where nobody owns. */
  readonly expiresAt: number
  /** The waiter's incarnation. */
  readonly waiterId: string | null
  /** Which of the marks of that incarnation it is; absent where the record has none, as a stranger's. */
  readonly waiterNonce?: string
  /** The incarnations that ask behind the waiter, in order; absent where there are none. */
  readonly line?: readonly string[]
  /** Those behind them that only wait, and ask nobody to leave, in order; absent where there are none. */
  readonly quiet?: readonly string[]
}

/** What the head of a sandbox says, as far as a trace tells it. */
export interface TraceHead {
  /** The fencing token that it was written under. */
  readonly token: number
  /** Of the activation that wrote it. */
  readonly nonce: string
  /** Its number. */
  readonly seq: number
  /** Where the state is, or that there is none. */
  readonly state: string
  /** The state's checksum, where there is state. */
  readonly sha256: string | null
}

/**
 * A write that took effect, told by whoever is the store and not by who sent it: what is true, whatever its sender
 * hears. Only simulated stores, and oracles that watch a real one, can write it.
 */
export interface AppliedLine extends TimedLine {
  /** Which kind of line. */
  readonly kind: "applied"
  /** Whose write it was; null for a stranger's, or an operator's. */
  readonly worker: string | null
  /** What was done. */
  readonly op: "put" | "remove"
  /** The object's area. */
  readonly area: Area
  /** The object's name. */
  readonly name: string
  /** The generation it replaced. */
  readonly before: Generation
  /** The generation it made. */
  readonly generation: Generation
  /** Of a lease record that can be read. */
  readonly lease?: TraceLease
  /** Of a head that can be read. */
  readonly head?: TraceHead
}

/** Something that a run came to: what a test asks for by `sometimes`. */
export interface NoteLine extends TimedLine {
  /** Which kind of line. */
  readonly kind: "note"
  /** Who came to it; null where nobody in particular. */
  readonly worker: string | null
  /** Its name. */
  readonly note: string
}

/** What was done to the world: a crash, a pause, a lost answer, a step of a clock. */
export interface FaultLine extends TimedLine {
  /** Which kind of line. */
  readonly kind: "fault"
  /** Whom it befell; null where all. */
  readonly worker: string | null
  /** Its name. */
  readonly fault: string
  /** What else there is to know. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>
}

/** A line of a kind that this release knows. */
export type TraceLine =
  | LockLine
  | StateLine
  | RequestLine
  | AnswerLine
  | HandoffLine
  | WorkLine
  | CallLine
  | AppliedLine
  | NoteLine
  | FaultLine

/** A line of a kind that this release doesn't know: kept as it is. */
export interface UnknownLine {
  /** None of those of TraceLine. */
  readonly kind: string
  /** Whatever else it has. */
  readonly [field: string]: unknown
}

/** A whole trace. */
export interface Trace {
  /** The first line. */
  readonly header: TraceHeader
  /** All other lines, in their order. */
  readonly lines: readonly (TraceLine | UnknownLine)[]
  /** The beginning of a last line whose writer was killed while it wrote. */
  readonly torn?: string
}

/**
 * What the live page, `leasehold top` and workers among each other are told of a fleet: the words on the wire, and
 * nothing else.
 *
 * | request, below the page's own address          | what it gives                                   |
 * | ---------------------------------------------- | ----------------------------------------------- |
 * | `GET ./?token=T`                               | the page                                        |
 * | `GET events`, `last-event-id: ID` to go on     | server-sent events, as `WireMessages`           |
 * | `GET sandbox?worker=W&key=K`                   | `SandboxDetail`                                 |
 * | `POST action`, an `ActionRequest` as its body  | `ActionAnswer`                                  |
 *
 * All but the page want `authorization: Bearer T`. What is refused has a status and an `{ "error": "…" }` in words.
 *
 * Server-sent events, in this order: `hello`, `workers`, `lines` of what happened before (their rows follow), `rows` as
 * often as there is more, `ready`; `lines`, `workers`, `rows` and `forget` as they come, ten times a second, also
 * before `ready`. From `ready` on each has an id: the stream's name, a dot, and a sequence number. A client that comes
 * back with an id that is kept no more, or without one, gets `hello` anew. A comment (`:`) comes every 10 s: a client
 * that hears nothing for 30 s connects anew. Every text may have been written by others: show it as text.
 */
import type { SandboxStateValue } from "../../../trace/state-value.ts"
import type { TraceError, TraceLine } from "../../../trace/trace.ts"

/** The version of these words. A client that knows another one says so, and shows nothing. */
export const WIRE_VERSION = 1

/** The first message of a stream: everything that a client knew before is void. */
export interface Hello {
  readonly version: typeof WIRE_VERSION
  /** Live workers, or a trace that was recorded: of a live or of a simulated fleet. */
  readonly source: "live" | "recorded"
  /** Of the server, in Unix milliseconds: the lines' `at` of its own worker is by this clock. */
  readonly now: number
  /** Whether `POST …/action` is allowed. */
  readonly actions: boolean
  /** How many rows will come. */
  readonly rows: number
  /** Of a recorded trace: its seed, its commit, and what its heading is. */
  readonly title: string | null
}

/** One sandbox at one worker, as far as that worker believes. Keys are worker and key. */
export interface SandboxRow {
  readonly worker: string
  /** The lock key: the definition's name, a slash, the sandbox's key. */
  readonly key: string
  /** The chart's state as XState has it. */
  readonly value: SandboxStateValue
  /** Since when it is in this top-level state, in Unix milliseconds. */
  readonly since: number
  /** The fencing token of its last activation, once it had one. */
  readonly token: number | null
  /** When its owner stops by itself, in Unix milliseconds: its lease ends a guard later; null where it has none. */
  readonly deadline: number | null
  /** Since when it is owned here; null where it isn't. */
  readonly ownedSince: number | null
  /** Who is waited for, as the record told. */
  readonly owner: { readonly ownerId: string; readonly address: string | null } | null
  /** Who waits for it here. */
  readonly waiterId: string | null
  /** Why it leaves, once it was asked to. */
  readonly leaving: string | null
  /** The hook that goes on past its limit. */
  readonly stuck: string | null
  /** Its last error. */
  readonly error: TraceError | null
  /** How often the key has changed hands here, either way, in the last five minutes. */
  readonly handoffs: number
}

/** One worker. */
export interface WorkerRow {
  /** Its name in traces. */
  readonly worker: string
  /** Its incarnation. */
  readonly ownerId: string
  /** Where it can be reached, as it publishes. */
  readonly address: string | null
  /** Null where it answers, else why nothing is known of it: no secret, no answer, an address that isn't allowed. */
  readonly problem: string | null
  /** The runtime and its version, `Node 24.21.0`; null where nothing is known. */
  readonly runtime: string | null
  /** By how much its wall clock is ahead of the store's, in milliseconds; null where that isn't known. */
  readonly clockOffset: number | null
  /** It takes no new sandbox in. */
  readonly closed: boolean
  /** Its leases' times in milliseconds; null where nothing is known. */
  readonly ttl: number | null
  readonly guard: number | null
  /** What `manager.stats()` tells. */
  readonly stats: Readonly<Record<string, number>>
}

/** What happened since the message before, in order. */
export interface Lines {
  readonly lines: readonly TraceLine[]
  /** How many lines were left out, as there were too many for one message. The rows that they changed follow. */
  readonly left: number
}

/** All that is known of the sandboxes of these workers is void: they are gone, or their rows follow anew. */
export interface Forget {
  readonly workers: readonly string[]
}

/** By the event's name. */
export interface WireMessages {
  readonly hello: Hello
  readonly rows: readonly SandboxRow[]
  readonly ready: Record<string, never>
  readonly lines: Lines
  /** All workers that are known. */
  readonly workers: readonly WorkerRow[]
  readonly forget: Forget
}

/** Of one sandbox: what the store says beside what its worker believes. `GET …/sandbox?worker=&key=`. */
export interface SandboxDetail {
  readonly row: SandboxRow
  /** What its lease record says now; null: there is none; or why it can't be told. */
  readonly store:
    | {
        readonly ownerId: string | null
        readonly address: string | null
        readonly token: number | null
        readonly expiresAt: number
        readonly waiterId: string | null
        readonly line: readonly string[]
        readonly generation: string
        readonly at: number
      }
    | { readonly error: string }
    | null
  /**
   * How often each step between its innermost states was taken, as `from>to`
   * (`owning.work.running>handingOff.work.settling`), and the last of them, as far as the worker that is asked has seen
   * it.
   */
  readonly edges: Readonly<Record<string, number>>
  readonly lastEdge: string | null
  /** Of the machine that lives in it, where its definition names one: its drawing, and its state. */
  readonly machine: { readonly svg: string; readonly value: unknown } | null
  /** Why it isn't shown, though there is one. */
  readonly machineProblem: string | null
}

/** What can be asked of a sandbox or its worker. `POST …/action`. */
export interface ActionRequest {
  readonly action: "checkpoint" | "handoff" | "cordon"
  readonly worker: string
  /** Of all but `cordon`. */
  readonly key?: string
}

/** What came of it. */
export interface ActionAnswer {
  readonly done: boolean
  /** In words. */
  readonly message: string
}

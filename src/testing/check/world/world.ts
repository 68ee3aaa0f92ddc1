/**
 * What a search goes through: a few processes, one key, its lease record and its head, and the network between them,
 * all of it plain values that never change. The processes are the production reducers of locks and heads; the rest is
 * the least that surrounds them.
 */
import type { Head } from "../../../actors/checkpoints/head/head.ts"
import type { HeadCommand, HeadState } from "../../../actors/checkpoints/head/types.ts"
import type { Command as LockCommand, LockState } from "../../../locks/protocol/rules/state.ts"
import type { Now } from "../../../locks/protocol/rules/time.ts"

/** The store's time at true time 0, in Unix milliseconds. */
export const EPOCH = 1_700_000_000_000

/** What may still happen, at most so often: each is used up by happening, and so is the sum. */
export interface LeftFaults {
  /** Of all of these together. */
  readonly sum: number
  /** A process is killed, and another starts in its place. */
  readonly crashes: number
  /** A request, or the answer to one, never arrives. */
  readonly losses: number
  /** A request arrives whenever it wants to, and so does its answer, also when nobody listens any more. */
  readonly delays: number
  /** A request arrives twice, the second time whenever it wants to. */
  readonly duplicates: number
  /** A process is stopped, for any time. */
  readonly pauses: number
  /** A machine is suspended, for any time. */
  readonly suspends: number
  /** An acquire is cancelled. */
  readonly cancels: number
  /** An owner leaves that nobody asked to. */
  readonly releases: number
  /** A stranger, who knows four fields, writes. */
  readonly strangers: number
  /** An operator deletes the record. */
  readonly deletions: number
}

/** A request to the lease record or the head. */
export type CheckedRequest =
  | { readonly of: "lease"; readonly command: Exclude<LockCommand, { type: "abandon" }> }
  | { readonly of: "head"; readonly command: Extract<HeadCommand, { type: "read" | "put" }> }

/** A request on its way, or its answer. */
export type Mail = CheckedRequest & {
  /** The place of its sender, and who that was: by now another may stand there. */
  readonly from: number
  readonly by: string
  /** What the store made of it; undefined while it is on its way there. */
  readonly answer?: unknown
  /** Its sender waits for it. */
  readonly awaited: boolean
}

/** An activation's part in the head. */
export interface CheckedActivation {
  readonly head: HeadState
  /** What it has restored and committed; undefined until it may run. */
  readonly log: readonly string[] | undefined
  /** The head is claimed. It may have to wait yet, for an owner of a record that was deleted. */
  readonly isClaimed: boolean
  /** The commit under way. */
  readonly commit: string | undefined
  readonly commits: number
  /** The waiter that it was told of. */
  readonly asked: string | undefined
  /** It has sent its leave. */
  readonly hasLeft: boolean
}

/** One process. */
export interface Process {
  readonly id: string
  readonly lock: LockState
  readonly steps: number
  readonly state: "up" | "stopped" | "suspended" | "gone"
  /** How long it was suspended so far, and since when it is. */
  readonly slept: number
  readonly since: number
  /** When it gives up the request under way, in true time. */
  readonly silence: number | undefined
  readonly attempts: number
  readonly activation: CheckedActivation | undefined
}

/** A process that knows four fields. */
export interface StrangerState {
  /** How long it may act, by its own clock. */
  readonly until: number
  /** Beside whom it came by the key: owners whose record was deleted by hand. */
  readonly beside: readonly string[]
}

/** It has nothing. */
export const noStranger: StrangerState = { until: 0, beside: [] }

/** One moment of a run. */
export interface World {
  /** True time, in milliseconds. */
  readonly at: number
  readonly lease: { readonly text: string | undefined; readonly writes: number; readonly generation: string }
  readonly head: { readonly head: Head | null; readonly writes: number; readonly generation: string }
  readonly processes: readonly Process[]
  readonly mail: readonly Mail[]
  readonly left: LeftFaults
  /** Commits that were acknowledged. */
  readonly acknowledged: readonly string[]
  /** The highest token that anybody acquired. */
  readonly topToken: number
  readonly stranger: StrangerState
  /** Of each that waits: who came to own the key meanwhile. */
  readonly passed: readonly Passed[]
  readonly born: number
}

/** One that waits, and who had the key since it does. */
export type Passed = readonly [waiter: string, owners: readonly string[]]

/** How processes and their clocks are made. */
export interface Rules {
  /** Of the first process, and of strangers. */
  readonly guard: number
  readonly ttl: number
  /** Whether it is the protocol's own: another may leave no time to renew. */
  readonly ownGuard: boolean
  /** Of each process. */
  readonly guards: readonly number[]
  readonly ttls: readonly number[]
  /** How fast each process's clocks go. */
  readonly rates: readonly number[]
  /** How far the store's time in the answers to each process is off, in milliseconds. */
  readonly skews: readonly number[]
  readonly clock: "exact" | "coarse" | "none"
  readonly spacing: number
  readonly whenOwned: "request" | "report"
  readonly contention: "fail" | "retry"
  /** Milliseconds; undefined: without limit. */
  readonly budget: number | undefined
  readonly commits: number
  /** How long a commit is tried, in milliseconds of its owner's clock. */
  readonly commitWithin: number
  /** Whether an owner claims the head after every grant, whatever its note says. */
  readonly claimsGranted: boolean
  /** Whether all processes have one incarnation. */
  readonly isOneIncarnation: boolean
  /** What could happen at first: what is left of it tells what did. */
  readonly start: LeftFaults
  /** What strangers do with what they don't know. */
  readonly strangersKeep: boolean
}

/** The incarnation of all processes where they have but one. */
export const SHARED = "i"

/** What tells a process from others under its incarnation. */
export const lifeOf = (id: string): string => `${id}#l0`

/** The clocks of a process: where it is suspended, as they would be if it went on now. */
export function nowOf({ steps, state, slept, since, id }: Process, at: number, rate: number): Now {
  const asleep = slept + (state === "suspended" ? at - since : 0)
  const mono = (at - asleep) * rate
  const boot = at * rate + 7_000_000
  return { wall: EPOCH + at, mono, boot, fresh: `${id}#${steps}`, draw: 0.5 }
}

/** True time of a moment of a process's monotonic clock. */
export const trueTime = ({ slept }: Process, mono: number, rate: number): number => mono / rate + slept

/** A world with another process in a place. */
export function withProcess(world: World, index: number, change: Partial<Process>): World {
  const processes = world.processes.map((process, at) => (at === index ? { ...process, ...change } : process))
  return { ...world, processes }
}

/** The same without one thing that may happen. */
export const without = (world: World, what: keyof LeftFaults): World => ({
  ...world,
  left: { ...world.left, [what]: world.left[what] - 1, sum: world.left.sum - 1 },
})

/** Whether its work runs, if it holds the key: the head is claimed, and no earlier owner can run any more. */
export const runs = ({ activation }: Process): boolean => activation?.log !== undefined

/** Whether the record was ever deleted by hand. */
export const wasDeleted = ({ left }: World, { start }: Rules): boolean => left.deletions < start.deletions

/** What befalls processes: neither what their users wish nor what bounds it all. */
export const misfortunes = ({ sum: _, cancels: _cancels, releases: _releases, ...left }: LeftFaults): number =>
  Object.values(left).reduce((sum, count) => sum + count, 0)

/** Whether it may still happen. */
export const may = ({ left }: World, what: keyof LeftFaults): boolean => left.sum > 0 && left[what] > 0

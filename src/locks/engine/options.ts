/**
 * The options of a lock and of an acquire, checked. Every bad value has its own message, and none becomes a default.
 */
import type { Duration } from "../../runtime/input/duration.ts"
import {
  aClock,
  aDuration,
  aFunction,
  aSignal,
  aWait,
  type OptionChecks,
  millis,
  one,
  refuseUnknown,
  shown,
} from "../../runtime/input/options.ts"
import type { OnError } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { InvalidConfigError } from "../api/errors.ts"
import type { AcquireOptions, Incarnation, ReleaseOptions, RenewOptions, TimeoutSource } from "../api/lock.ts"
import { LONGEST_TTL } from "../protocol/rules/expiry.ts"
import type { Attempt, LockConfig } from "../protocol/rules/state.ts"
import { type HostHalf, isToken } from "../record.ts"
import type { StoreCapabilities } from "../stores/port.ts"
import { anIncarnation, hostOf } from "./incarnation.ts"

/** How a lock behaves. */
export interface LockOptions {
  /** How long a lease lasts without renewal: 6 s to 24 h (from 500 ms on memory and file stores). Without one: 30 s. */
  readonly ttl?: Duration
  /**
   * `strict`: any failed renewal is a loss, and fires `onRenewalError`. Without one: `tolerant`, tries until the
   * deadline.
   */
  readonly renewal?: "tolerant" | "strict"
  /** `delete` the record on release (locks without checkpoints only) where the store can. Without one: `keep`. */
  readonly onRelease?: "keep" | "delete"
  /** Published to others in the record: where this process can be reached. */
  readonly address?: string
  /** The longest ttl of processes that know only the four published fields. Without one: 60 s. */
  readonly strangerTtl?: Duration
  /** Who contends. Without one: this process, on this store object. */
  readonly incarnation?: Incarnation
  /** Time and chance. Without one: those of this process. */
  readonly clock?: Clock
  /** Told what handlers and observers throw. Without one: standard error. */
  readonly onError?: OnError
}

/** The options of an acquire, checked, as the protocol takes them. */
export type AcquireSettings = Omit<Attempt, "nonce" | "startedAt" | "spentMs" | "queuedMs">

/** The budget of an acquire without a `timeout`, in milliseconds. */
const DEFAULT_TIMEOUT = 30_000
/** In milliseconds: three renewals, ten seconds apart. */
const DEFAULT_TTL = 30_000
/** In milliseconds: twice the default ttl. */
const DEFAULT_STRANGER_TTL = 60_000
/** The least guard on a store whose clocks aren't this process's, in milliseconds. */
const LEAST_GUARD = 2000
/** How long the mark of a waiter counts without a renewal, in milliseconds. */
const WAITER_TTL = 12_000
/**
 * How many beats a ttl has, where renewals come on one: none is later by more than a twentieth of the usual pause. Many
 * at once cost a process half as much as one by one. A store that others use too would get them in heaps.
 */
const BEATS = 60
/** In characters. Every record carries the address, and may have 64 KiB. */
const LONGEST_ADDRESS = 2000

/** The options of an acquire. The observer is checked by the watch that it is given to (waits/watch.ts). */
export const ACQUIRE_OPTIONS: OptionChecks<AcquireOptions> = {
  timeout: aWait,
  timeoutSource: aSource,
  signal: aSignal,
  observer: true,
  whenOwned: one("request", "wait", "report"),
  contention: one("fail", "retry"),
  minTenure: aWait,
  stateVersion: (_name, value) => void version(value as number),
}

/** The protocol's configuration of a key on a store that has started. `self`: what its oracle says of this process. */
export function configOf(
  key: string,
  { id, life }: Pick<LockConfig, "id" | "life">,
  options: LockOptions,
  can: StoreCapabilities,
  self?: HostHalf,
): LockConfig {
  const ttl = ttlOf(key, options, can)
  return {
    key,
    id,
    life,
    ttl,
    guard: guardOf(ttl, can),
    waiterTtl: WAITER_TTL,
    strangerTtl: strangerTtlOf(options.strangerTtl ?? DEFAULT_STRANGER_TTL),
    clock: can.clock,
    bootId: can.bootId ?? null,
    cheapReads: can.cheapReads,
    spacing: can.writeSpacing,
    watchEvery: can.cheapReads ? 500 : 2000,
    beat: can.inMemory === true ? ttl / BEATS : 0,
    deletes: options.onRelease === "delete" && can.deletes,
    strict: options.renewal === "strict",
    address: options.address ?? null,
    host: can.bootId === undefined ? null : (self ?? hostOf(can.bootId)),
  }
}

/** The options of a lock. */
export const LOCK_OPTIONS: OptionChecks<LockOptions> = {
  ttl: aDuration,
  renewal: one("tolerant", "strict"),
  onRelease: one("keep", "delete"),
  address: anAddress,
  strangerTtl: (_name, value) => void strangerTtlOf(value as Duration),
  incarnation: anIncarnation,
  clock: aClock,
  onError: aFunction,
}

/** Refuses an address that a record has no room for. */
export function anAddress(name: string, address: unknown): void {
  if (typeof address === "string" && address !== "" && address.length <= LONGEST_ADDRESS) return
  const given = typeof address === "string" ? `a text of ${address.length} characters` : shown(address)
  throw new InvalidConfigError({
    message: `${name} is ${given}`,
    next: `Give a text of 1 to ${LONGEST_ADDRESS} characters, such as "http://10.0.0.3:8080", or leave it out`,
  })
}

const RENEW_OPTIONS: OptionChecks<RenewOptions> = { tokenAbove: aTokenAbove }

/** Refuses options that a renewal doesn't have. */
export const checkRenewal = (options: RenewOptions): void => refuseUnknown("renew", options, RENEW_OPTIONS)

const RELEASE_OPTIONS: OptionChecks<ReleaseOptions> = { note: aNote }

/** Refuses options that a release doesn't have. */
export const checkRelease = (options: ReleaseOptions): void => refuseUnknown("release", options, RELEASE_OPTIONS)

/** Refuses a number above which no token could be raised. */
function aTokenAbove(name: string, tokenAbove: unknown): void {
  if (isToken(tokenAbove) && isToken(tokenAbove + 1)) return
  throw new InvalidConfigError({
    message: `${name} is ${shown(tokenAbove)}, which is no fencing token`,
    next: "Give the token that the new one has to exceed: a whole number, 0 or more",
  })
}

/** Refuses a note that would make a record large. */
function aNote(name: string, note: unknown): void {
  if (typeof note === "string" && note.length <= 256) return
  throw new InvalidConfigError({
    message: `${name} is ${typeof note === "string" ? `a text of ${note.length} characters` : shown(note)}`,
    next: "Leave the next owner at most 256 characters",
  })
}

/** How long one request may take, in milliseconds. Where it is lost, there is time left to renew again. */
export const requestDeadline = (ttl: number): number => Math.min(5000, Math.max(250, ttl / 4))

/** An acquire's options as the protocol takes them. */
export function acquireSettings(options: AcquireOptions): AcquireSettings {
  refuseUnknown("acquire", options, ACQUIRE_OPTIONS)
  const {
    timeout = DEFAULT_TIMEOUT,
    minTenure = 0,
    stateVersion,
    whenOwned = "request",
    contention = "retry",
  } = options
  return {
    budgetMs: timeout === "infinite" ? undefined : millis("timeout", timeout),
    budgetSource: sourceOf(options),
    whenOwned,
    contention,
    minTenure: minTenure === "infinite" ? undefined : millis("minTenure", minTenure),
    stateVersion: stateVersion ?? null,
  }
}

type Timed = { readonly [K in "timeout" | "timeoutSource"]?: AcquireOptions[K] | undefined }

/** Where a call's budget came from: its `timeoutSource`, or else the call itself. */
export function sourceOf({ timeout, timeoutSource }: Timed): TimeoutSource {
  if (typeof timeoutSource === "string") return { name: timeoutSource, change: `Raise ${timeoutSource}` }
  if (timeoutSource !== undefined) return timeoutSource
  if (timeout === undefined) return { name: "the default timeout of 30 s", change: "Pass a timeout to wait longer" }
  return { name: "the timeout option", change: "Pass a longer timeout" }
}

/** Refuses what doesn't name a source of a timeout. */
function aSource(name: string, source: unknown): void {
  const { name: from, change } = (typeof source === "object" && source !== null ? source : {}) as Partial<TimeoutSource>
  if (typeof source === "string" || (typeof from === "string" && typeof change === "string")) return
  throw new InvalidConfigError({
    message: `${name} is ${shown(source)}, which names no source`,
    next: "Give the name of where the timeout came from, or that of waitBudget, or leave it out",
  })
}

function ttlOf(key: string, options: LockOptions, can: StoreCapabilities): number {
  const ttl = millis("ttl", options.ttl ?? DEFAULT_TTL)
  const least = leastTtl(can)
  const guard = guardOf(ttl, can)
  if (ttl <= guard) {
    refuse(
      key,
      `ttl is ${ttl} ms, and an owner must stop ${guard} ms before its end (the guard)`,
      `at least ${least} ms`,
    )
  }
  if (ttl < least)
    refuse(key, `ttl is ${ttl} ms, too short to be renewed in time on this store`, `at least ${least} ms`)
  if (ttl > LONGEST_TTL)
    refuse(key, `ttl is ${ttl} ms, over 24 hours: others would take it for no time`, `at most 24 h`)
  return ttl
}

function refuse(key: string, message: string, ask: string): never {
  throw new InvalidConfigError({ key, message, next: `Give a ttl of ${ask}` })
}

/** The least ttl, in milliseconds: a shorter one couldn't be renewed in time. */
export const leastTtl = (can: Pick<StoreCapabilities, "sameClock">): number => (can.sameClock ? 500 : 3 * LEAST_GUARD)

/**
 * How long before the end of its lease an owner stops, in milliseconds. Half is for the store's clocks, half for drift.
 * Where one clock stamps and decides, only drift is left.
 */
export const guardOf = (ttl: number, can: Pick<StoreCapabilities, "sameClock">): number =>
  can.sameClock ? Math.max(50, ttl / 10) : Math.max(LEAST_GUARD, ttl / 10)

/**
 * Whether tokens only grow, even where the record was deleted by hand. That takes one exact clock that all processes
 * read. Elsewhere they know the time by answers, which are late by a request's length and a rounding.
 */
export const tokensOnlyGrow = ({
  clock,
  sameClock,
  bootId,
}: Pick<StoreCapabilities, "clock" | "sameClock" | "bootId">): boolean =>
  clock === "exact" && sameClock && bootId === undefined

function strangerTtlOf(strangerTtl: Duration): number {
  const ttl = millis("strangerTtl", strangerTtl)
  if (ttl >= 1000) return ttl
  throw new InvalidConfigError({
    message: `strangerTtl is ${ttl} ms`,
    next: "Set it to the longest ttl of any other process that shares these keys, at least 1 s",
  })
}

function version(stateVersion: number): number {
  if (Number.isSafeInteger(stateVersion) && stateVersion >= 0) return stateVersion
  throw new InvalidConfigError({
    message: `stateVersion is ${shown(stateVersion)}`,
    next: "Use a whole number, 0 or more, that grows with the format",
  })
}

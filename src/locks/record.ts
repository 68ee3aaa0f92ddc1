/**
 * The lease record: what the JSON object under a key says, and how its parts are read. Owns the format and which half
 * counts; decides nothing about who owns what (protocol/). The first four fields are a published format: a stranger,
 * a process that knows only them, may drop everything else, so a half counts only beside the pair it was written with.
 */
import { CorruptRecordError, FormatVersionError, type Owner } from "./api/errors.ts"
import { printable } from "./printable.ts"

/** Bodies larger than this are no lease records. In bytes. */
export const RECORD_LIMIT: number = 64 * 1024

/** The most nonces that a record carries of ownerships that have ended: as many owners in a row may leave no trace. */
const PAST_LIMIT = 8

/** Tokens are milliseconds at least: this one lies in the year 144,683. */
const MAX_TOKEN = 2 ** 52

/** The process of a half, on a store whose clock is that of its host. What another wrote here may be anything. */
export interface HostHalf {
  /** The machine's name; empty where it isn't known. */
  readonly name: string
  /** The process; 0 where it isn't known. */
  readonly pid: number
  /** Tells the process from later ones of that pid. Opaque. */
  readonly startedAt: string | null
  /**
   * The clock that stamps the half, by its boot; `~` and a number follow where that boot has more than one (`bootOf`).
   */
  readonly bootId: string | null
  /** In which namespace pid and groups mean something. */
  readonly pidNs: string | null
  /** Process groups that work under the lease: the key is not free while one of them lives. */
  readonly groups: readonly number[]
  /** A descriptor of that process which is open for as long as it lives. */
  readonly life?: number
}

/** What an owner of ours says beside the published pair. `expiresAt` is in seconds, equal to the published number. */
export interface OwnerHalf {
  readonly for: string
  readonly expiresAt: number
  readonly token: number
  readonly ttlMs: number
  readonly nonce: string
  readonly opId: string
  readonly address: string | null
  readonly stateVersion: number | null
  /** Reserved: a key under one heartbeat per process. Written null, ignored on reading. */
  readonly process: null
  readonly host: HostHalf | null
  /** Since when it owns the key, in seconds, where a host is known. */
  readonly since?: number
  /** The record is deleted on release: its absence then means "free" even to those who saw it owned. */
  readonly deletes?: boolean
}

/** What a waiter of ours says beside the published pair. */
export interface WaiterHalf {
  readonly for: string
  readonly expiresAt: number
  readonly nonce: string
  readonly accepts: readonly string[]
  readonly opId: string
  /** Of the lease that it wants, in milliseconds, for the owner that grants it the key. An older release says none. */
  readonly ttlMs?: number
  /** Where the store's time belongs to one boot of one host: that boot. */
  readonly bootId: string | null
  /** The process that waits, likewise. */
  readonly host?: HostHalf
  /** Of the state that it can read, for the owner that grants it the key. Absent where it said none. */
  readonly stateVersion?: number
  /**
   * The last token that the record told of when it first asked: a waiter that asked before it has a lower one, or came
   * first.
   */
  readonly asked?: number
  /** The last token when it came here: greater than `asked` where it had to stay outside for a turn. */
  readonly joined?: number
}

/**
 * An entry of the line behind the waiter: the half that it is to have in the waiter's place. Advisory: an entry that
 * makes no sense is left out.
 */
export interface InLine extends WaiterHalf {
  readonly asked: number
  readonly joined: number
  /** It asks nobody to leave: it is granted the key behind all that do, and never has the waiter's place. */
  readonly quiet?: true
}

/** The longest line: with the hosts of all it stays well below the limit of a record. */
export const LINE_LENGTH = 16

/**
 * Who ended the last ownership and how; in a record it is called `ended`. An unknown `how` means "ended, manner
 * unknown".
 */
export interface LastRelease {
  readonly token: number
  readonly by: string
  readonly how: string
  readonly note: unknown
}

/** What the sender of a grant leaves for the one it grants to. It is of no meaning to any other attempt. */
export interface Note {
  /** The nonce of the half that the grant made. */
  readonly to: string
  readonly says: string
}

/** A record as read. Times are milliseconds of the store's time. */
export interface LeaseRecord {
  readonly ownerId: string | null
  readonly expiresAt: number
  readonly waitingOwnerId: string | null
  /** Undefined where a stranger that knows three fields waits: it says no time. 0 where nobody waits. */
  readonly waiterExpiresAt: number | undefined
  /** Only where it counts. */
  readonly owner: OwnerHalf | undefined
  /** Only where it counts. */
  readonly waiter: WaiterHalf | undefined
  readonly lastRelease: LastRelease | undefined
  readonly line: readonly InLine[]
  readonly writtenAt: number | undefined
  /**
   * Nonces of ownerships that have ended, the last one last (rule 15). Each write of an owner leaves such a list but
   * one that creates the record: where there is none, nothing here is known to have ended.
   */
  readonly past: readonly string[] | undefined
  /** Entries of `needs`: none is known to this release. */
  readonly needs: readonly string[]
  /** The body itself, from which the next write is built: what isn't ours to change is carried over. */
  readonly body: Readonly<Record<string, unknown>>
}

/** Of all that is empty: one list for all, as there may be 10,000 idle keys. */
export const NONE: readonly never[] = []

/** The boot of a clock that a record names. */
export const bootOf = (clockId: string): string => clockId.replace(/~\d+$/, "")

/** Milliseconds to the seconds of a record. */
export const toSeconds = (ms: number): number => Math.round(ms) / 1000
const toMillis = (seconds: number): number => Math.round(seconds * 1000)

/** Reads a record's bytes. CorruptRecordError for whatever is not a record of this key: it is never "free". */
export function parseRecord(key: string, text: string): LeaseRecord {
  return recordOf(key, parseObject(key, text))
}

/** The same for a body that is parsed. */
export function recordOf(key: string, body: Readonly<Record<string, unknown>>): LeaseRecord {
  if (body["key"] !== undefined && body["key"] !== key) corrupt(key, "it is the record of another key")
  const ownerId = idOf(key, body, "ownerId")
  const waitingOwnerId = idOf(key, body, "waitingOwnerId")
  if (!("ownerId" in body) || !("expiresAt" in body)) corrupt(key, "it lacks ownerId and expiresAt")
  const needs = needsOf(key, body["needs"])
  return {
    ownerId,
    expiresAt: ownerId === null ? 0 : timeOf(key, body, "expiresAt"),
    waitingOwnerId,
    waiterExpiresAt: waitingOwnerId === null ? 0 : waiterTime(key, body),
    ...(needs.length === 0 ? halvesOf(key, body, ownerId, waitingOwnerId) : noHalves),
    writtenAt: isTime(body["writtenAt"]) ? toMillis(body["writtenAt"]) : undefined,
    needs,
    body,
  }
}

/** The owner as callers see it, or undefined where the record names none. */
export function ownerOf(record: LeaseRecord | undefined): Owner | undefined {
  if (record === undefined || record.ownerId === null) return undefined
  const { owner } = record
  return {
    ownerId: record.ownerId,
    token: owner?.token ?? 0,
    expiresAt: record.expiresAt,
    ...(owner?.address != null && { address: owner.address }),
    ...processOf(owner?.host),
    ...(isTime(owner?.since) && { since: toMillis(owner.since) }),
    ...(owner?.stateVersion != null && { checkpointVersion: owner.stateVersion }),
    ...(record.waitingOwnerId !== null && { waiterId: record.waitingOwnerId }),
  }
}

function processOf(host: HostHalf | null | undefined): Pick<Owner, "pid" | "host"> {
  const pid: unknown = host?.pid
  const name: unknown = host?.name
  return {
    ...(Number.isSafeInteger(pid) && (pid as number) > 0 && { pid: pid as number }),
    ...(isText(name) && { host: name }),
  }
}

/** The owner as a message names it, whatever it says of itself. */
export function named({ ownerId, host, pid }: Owner): string {
  const id = JSON.stringify(ownerId)
  return printable(pid === undefined ? id : `${id} (pid ${pid} on ${host ?? "its host"})`)
}

/** Whether two lists name the same process groups. */
export const sameGroups = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((group, index) => group === b[index])

/** The error for a record that needs what this release doesn't know. */
export function needsError(key: string, record: LeaseRecord): FormatVersionError {
  return new FormatVersionError({
    key,
    needs: record.needs,
    owner: ownerOf(record),
    message: `The record of ${JSON.stringify(key)} needs ${record.needs.map((n) => JSON.stringify(n)).join(", ")}`,
    next: "Upgrade leasehold in this process: it must not write a record it doesn't understand",
  })
}

/** The error for bytes that are not this key's record. */
export function corruptError(key: string, why: string): CorruptRecordError {
  return new CorruptRecordError({
    key,
    message: `What is stored under ${JSON.stringify(key)} is not its lease record: ${why}`,
    next: "Look at the object; if nothing uses it, delete it, otherwise give leasehold a prefix or directory of its own",
  })
}

/** Throws the error for bytes that are not this key's record. */
export function corrupt(key: string, why: string): never {
  throw corruptError(key, why)
}

function parseObject(key: string, text: string): Record<string, unknown> {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    corrupt(key, "it is not JSON")
  }
  if (!isObject(body)) corrupt(key, "it is not a JSON object")
  return body
}

function idOf(key: string, body: Readonly<Record<string, unknown>>, field: string): string | null {
  const id = body[field] ?? null
  if (id === null || id === "") return null
  if (typeof id !== "string" || id.length > 1000) corrupt(key, `${field} is not a name`)
  return id
}

function timeOf(key: string, body: Readonly<Record<string, unknown>>, field: string): number {
  const time = body[field]
  if (!isTime(time)) corrupt(key, `${field} is not a time in seconds`)
  return toMillis(time)
}

/** One published form of the lock has no `waiterExpiresAt`; another writes null. */
function waiterTime(key: string, body: Readonly<Record<string, unknown>>): number | undefined {
  return body["waiterExpiresAt"] == null ? undefined : timeOf(key, body, "waiterExpiresAt")
}

/** A record that needs what we don't know is read by its published fields alone. */
const noHalves = { owner: undefined, waiter: undefined, lastRelease: undefined, line: NONE, past: undefined }

function halvesOf(
  key: string,
  body: Readonly<Record<string, unknown>>,
  ownerId: string | null,
  waiterId: string | null,
): Pick<LeaseRecord, "owner" | "waiter" | "lastRelease" | "line" | "past"> {
  return {
    owner: ownerHalf(key, body, ownerId),
    waiter: waiterHalf(key, body, waiterId),
    lastRelease: lastReleaseOf(key, body["ended"]),
    past: pastOf(body["past"]),
    line: lineOf(body["line"]),
  }
}

function ownerHalf(
  key: string,
  body: Readonly<Record<string, unknown>>,
  ownerId: string | null,
): OwnerHalf | undefined {
  const half = body["owner"]
  if (ownerId === null || !counts(half, ownerId, body["expiresAt"])) return undefined
  const { token, ttlMs, nonce, opId, address, stateVersion, host, deletes } = half
  const identified = isToken(token) && isText(nonce) && isText(opId)
  const timed = isTtl(ttlMs)
  const described = (address == null || isText(address)) && (stateVersion == null || isTime(stateVersion))
  const housed = (host == null || isObject(host)) && (deletes === undefined || typeof deletes === "boolean")
  if (!identified || !timed || !described || !housed) corrupt(key, "its owner half has wrong types")
  return half as unknown as OwnerHalf
}

function waiterHalf(
  key: string,
  body: Readonly<Record<string, unknown>>,
  waiterId: string | null,
): WaiterHalf | undefined {
  const half = body["waiter"]
  if (waiterId === null || !counts(half, waiterId, body["waiterExpiresAt"])) return undefined
  const { nonce, opId, stateVersion, ttlMs } = half
  const described = (stateVersion === undefined || isTime(stateVersion)) && (ttlMs === undefined || isTtl(ttlMs))
  if (!isText(nonce) || !isText(opId) || !described) corrupt(key, "its waiter half has wrong types")
  const accepts = Array.isArray(half["accepts"]) ? half["accepts"] : []
  return { ...half, accepts } as unknown as WaiterHalf
}

function lineOf(line: unknown): readonly InLine[] {
  return Array.isArray(line) ? line.filter(isInLine).slice(0, LINE_LENGTH) : NONE
}

function isInLine(entry: unknown): entry is InLine {
  if (!isObject(entry)) return false
  const { for: id, nonce, opId, expiresAt, accepts, asked, joined, stateVersion, quiet } = entry
  const known = [id, nonce, opId].every((name) => isText(name) && name.length <= 200)
  const described = (stateVersion === undefined || isTime(stateVersion)) && isToken(asked) && isToken(joined)
  if (quiet !== undefined && quiet !== true) return false
  return known && described && isTime(expiresAt) && Array.isArray(accepts) && accepts.includes("grant")
}

function counts(half: unknown, id: string, expiresAt: unknown): half is Record<string, unknown> {
  return isObject(half) && half["for"] === id && half["expiresAt"] === expiresAt
}

function lastReleaseOf(key: string, ended: unknown): LastRelease | undefined {
  if (ended === undefined || ended === null) return undefined
  if (!isObject(ended) || !isToken(ended["token"]) || typeof ended["by"] !== "string") {
    corrupt(key, "its ended half has wrong types")
  }
  const how = typeof ended["how"] === "string" ? ended["how"] : "unknown"
  return { token: ended["token"], by: ended["by"], how, note: ended["note"] ?? null }
}

/** Whatever else may stand there proves nothing, and is no reason to refuse the record. */
const pastOf = (past: unknown): readonly string[] | undefined =>
  Array.isArray(past) && past.every((nonce) => isText(nonce)) ? past : undefined

/**
 * The list with one more ownership that has ended. The oldest are dropped: a process that misses one there waits, no
 * worse.
 */
export const withEnded = (past: readonly string[], nonce: string): readonly string[] =>
  [...past.filter((other) => other !== nonce), nonce].slice(-PAST_LIMIT)

/** The last release as a record has it, for a write that carries it over: with what this release doesn't know. */
export const storedLastRelease = (record: LeaseRecord | undefined): unknown => record?.body["ended"] ?? null

/** What the grant of this record says to the attempt that it was made for. A later owner carries it on, for nobody. */
export function noteTo(record: LeaseRecord | undefined, nonce: string): string | undefined {
  const { how, note } = record?.lastRelease ?? {}
  if (how !== "grant" || record?.owner?.nonce !== nonce || !isObject(note) || note["to"] !== nonce) return undefined
  return typeof note["says"] === "string" ? note["says"] : undefined
}

function needsOf(key: string, needs: unknown): readonly string[] {
  if (needs === undefined || needs === null) return NONE
  if (!Array.isArray(needs) || !needs.every((need) => typeof need === "string"))
    corrupt(key, "needs is not a list of names")
  return needs.length === 0 ? NONE : needs
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0
const isTtl = (value: unknown): value is number => isTime(value) && value > 0
const isText = (value: unknown): value is string => typeof value === "string" && value !== ""
/** A fencing token. There is always room for the next ones. */
export const isToken = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKEN

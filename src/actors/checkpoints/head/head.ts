/**
 * The head: one small object per sandbox. It holds or names the saved state, says who wrote it, and fences a former
 * owner. Owns the format: reading, checking, writing. When a head may be written is protocol.ts's business.
 *
 * Inline state is base64, not JSON: a codec made bytes of it, and they come back exactly as they went in. So one
 * checksum rule serves inline state and content alike.
 */
import { Buffer } from "node:buffer"
import { LONGEST_TTL } from "../../../locks/protocol/rules/expiry.ts"
import type { LeaseOrigin } from "../../../locks/stores/identity.ts"
import { type Digest, matches, type NamedContent } from "../objects/digest.ts"
import { contentToken } from "../objects/names.ts"
import {
  corruptHead,
  foreignLeases,
  invalidCheckpoint,
  newerVersion,
  type StatePlace,
  unknownNeeds,
} from "../objects/problems.ts"

/** Larger bodies are not heads. In bytes. */
export const HEAD_LIMIT: number = 64 * 1024
/** The longest that one request for a head may take, in milliseconds: heads are small. */
export const HEAD_REQUEST_MS = 5000
/** States up to this many bytes sit in the head itself. */
export const INLINE_LIMIT: number = 32 * 1024
/** The most older contents that a head can name beside its own; with an inline state it then stays below its limit. */
export const KEPT_LIMIT = 32

const FORMAT = 1
/** A release without calls would restore what is remembered of them as if it were state. */
export const CALLS = "calls"
const knownNeeds: readonly string[] = [CALLS]
/** What one write may add to a head beside its state, in bytes: a kept content, longer numbers and ids. */
const growth = 1024

/** An older content that isn't deleted yet, with the version of the definition that made it. */
export interface KeptContent extends NamedContent, SavedCalls {
  readonly version: number
}

/** How many of the saved bytes, at their end, are what is remembered of calls; absent: none. */
export interface SavedCalls {
  readonly calls?: number
}

/** A state that was removed had durable calls, sent by then, in Unix milliseconds; absent: none. */
export interface RemovedCalls {
  readonly callsUntil?: number
}

/** The saved state: nothing yet, in the head, in an object of its own, or removed by `remove`. */
export type Saved =
  | ({ readonly state: "none" } & RemovedCalls)
  | ({ readonly state: "inline"; readonly inline: string } & Digest & SavedCalls)
  | ({ readonly state: "content" } & NamedContent & SavedCalls)
  | ({ readonly state: "removed" } & RemovedCalls)

/** One head. Plain data. */
export interface Head extends LeaseOrigin {
  /** The format of who wrote it first; greater numbers refuse nothing. */
  readonly v: number
  /** What a writer must understand. */
  readonly needs: readonly string[]
  /** The lock key. */
  readonly key: string
  /** The definition's name. */
  readonly type: string
  /** The ttl of the lease under which it was written. */
  readonly ttlMs: number
  readonly token: number
  /**
   * The nonce of the activation's lease. A lease record that lists it among those that have ended proves that it has.
   */
  readonly nonce: string
  /** Grows by one with each write of the head, across owners. */
  readonly seq: number
  /** The definition's version that made the saved state; 0 where there is none. */
  readonly version: number
  /** The write that made this head; the same for each copy of that write. */
  readonly opId: string
  /**
   * The head write that this owner's activation began on; null where there was no head. Its later writes carry it on.
   */
  readonly predecessorOpId: string | null
  /**
   * Above 0: this owner had not run yet when it wrote this, as its record didn't prove that the one before it had
   * ended. That one's lease lasts so many milliseconds at most. Should this owner never run, the next one waits as
   * long.
   */
  readonly waitOutMs: number
  readonly saved: Saved
  readonly kept: readonly KeptContent[]
  /** Fields of later releases, carried over unchanged. */
  readonly extra: Readonly<Record<string, unknown>>
}

type HeadFields = Record<string, unknown>
type FieldTest = (value: unknown) => boolean

const text: FieldTest = (value) => typeof value === "string" && value !== ""
const count: FieldTest = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const hash: FieldTest = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value)
const content: FieldTest = (value) => typeof value === "string" && contentToken(value) !== undefined

const shape: Readonly<Record<string, FieldTest>> = {
  v: (value) => count(value) && value !== 0,
  needs: (value) => value === undefined || (Array.isArray(value) && value.every((entry) => typeof entry === "string")),
  key: text,
  type: text,
  leases: text,
  leasesId: (value) => value === undefined || text(value),
  leasesBoot: (value) => value === undefined || text(value),
  ttlMs: (value) => typeof value === "number" && value > 0 && value <= LONGEST_TTL,
  token: (value) => count(value) && value !== 0,
  nonce: text,
  seq: count,
  version: count,
  opId: text,
  over: (value) => value === null || text(value),
  quietMs: (value) => value === undefined || (typeof value === "number" && value >= 0 && value <= LONGEST_TTL),
  state: (value) => typeof value === "string" && Object.hasOwn(savedShapes, value),
  kept: (value) =>
    Array.isArray(value) && value.every((entry) => isFields(entry) && misfits(entry, keptShape).length === 0),
}
const contentShape = { content, sha256: hash, bytes: count }
const callsShape = { calls: (value: unknown) => value === undefined || (count(value) && value !== 0) }
const keptShape = { ...contentShape, ...callsShape, version: count }
const removedShape = { callsUntil: (value: unknown) => value === undefined || (Number.isFinite(value) && value !== 0) }
const savedShapes: Readonly<Record<Saved["state"], Readonly<Record<string, FieldTest>>>> = {
  none: removedShape,
  inline: { inline: (value) => typeof value === "string", sha256: hash, bytes: count, ...callsShape },
  content: { ...contentShape, ...callsShape },
  removed: removedShape,
}
const savedFields = ["inline", "content", "sha256", "bytes", "calls", "callsUntil"]

/**
 * The head in a body. Throws CorruptCheckpointError where it isn't a head, or is another sandbox's or another type's,
 * and FormatVersionError where it needs something unknown.
 */
export function parseHead(body: Uint8Array, place: StatePlace): Head {
  const fields = parseFields(body, place)
  if (shape.needs!(fields.needs)) {
    const unknown = ((fields.needs ?? []) as string[]).filter((need) => !knownNeeds.includes(need))
    if (unknown.length > 0) throw unknownNeeds(place, unknown)
  }
  const wrong = misfits(fields, shape)
  if (wrong.length === 0) wrong.push(...misfits(fields, savedShapes[fields.state as Saved["state"]]))
  if ((fields.calls as number) > (fields.bytes as number)) wrong.push("calls")
  if (wrong.length > 0) throw corruptHead(place, `is damaged: ${wrong.join(", ")} can't be what it says`)
  const head = fromFields(fields)
  if (head.key !== place.lockKey) throw corruptHead(place, `belongs to another sandbox, ${head.key}`)
  if (place.type !== undefined && head.type !== place.type)
    throw corruptHead(place, `holds a ${head.type}, not a ${place.type}`)
  return head
}

/** The lock key that a body claims to be the head of; undefined where it says none. */
export function keyOfHead(body: Uint8Array): string | undefined {
  try {
    const fields: unknown = JSON.parse(new TextDecoder().decode(body))
    return isFields(fields) && typeof fields.key === "string" ? fields.key : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether an owner may take this head over. Throws StoreMisconfiguredError where it was written under another lease
 * store's leases (unless `adoptHeads`) and CheckpointVersionError where newer code saved the state.
 */
export function checkClaimable(
  head: Head,
  place: StatePlace,
  by: LeaseOrigin & { readonly version: number; readonly adoptHeads: boolean },
): void {
  if (!by.adoptHeads && !isOneStore(head, by)) throw foreignLeases(place, head, by)
  if (holdsState(head) && head.version > by.version) throw newerVersion(head.key, head.version, by.version)
}

/**
 * Whether both are of one lease store. Heads of older releases have no identity, and are compared by the name alone.
 */
export const isOneStore = (a: LeaseOrigin, b: LeaseOrigin): boolean =>
  a.leases === b.leases && (a.leasesId === undefined || b.leasesId === undefined || a.leasesId === b.leasesId)

/** The body of a head. Throws CheckpointInvalidError where it would be too large to be read again. */
export function formatHead(head: Head): Uint8Array {
  const { quietMs, ...fields } = publishedFields(head)
  const body = new TextEncoder().encode(JSON.stringify({ ...fields, ...(quietMs > 0 && { quietMs }), ...head.saved }))
  if (body.length <= HEAD_LIMIT) return body
  throw invalidCheckpoint(
    head.key,
    `its head would have ${body.length} bytes, over the ${HEAD_LIMIT} that can be read again`,
    "Look at what other releases have added to the head",
  )
}

/** Whether there is state to restore. */
function holdsState(head: Head | null): boolean {
  return head !== null && (head.saved.state === "inline" || head.saved.state === "content")
}

/** State that sits in the head. */
export function inlined(bytes: Uint8Array, digest: Digest & SavedCalls): Saved {
  const inline = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")
  return { state: "inline", inline, ...digest }
}

/** Whether state of this size can sit in the head that follows `head`, next to all that the head carries on. */
export function fitsInline(head: Head | null, bytes: number): boolean {
  if (bytes > INLINE_LIMIT || head === null) return bytes <= INLINE_LIMIT
  const carried = Buffer.byteLength(JSON.stringify(publishedFields(head)))
  return carried + growth + Math.ceil(bytes / 3) * 4 <= HEAD_LIMIT
}

/** The bytes of state that sits in the head. Throws CorruptCheckpointError where they aren't what was saved. */
export function inlineBytes(saved: Saved & { state: "inline" }, place: StatePlace): Uint8Array {
  const bytes = Uint8Array.from(Buffer.from(saved.inline, "base64"))
  if (matches(saved, bytes)) return bytes
  throw corruptHead(place, "holds a state that doesn't match its checksum")
}

/** The content objects that a head names, its own first. */
export function namedContents(head: Head | null): readonly string[] {
  if (head === null) return []
  const own = head.saved.state === "content" ? [head.saved.content] : []
  return [...own, ...head.kept.map((kept) => kept.content)]
}

/** A head for a sandbox that has none, without what each write adds. */
export function emptyHead(
  settings: Pick<Head, "key" | "type" | "leases" | "ttlMs">,
): Omit<Head, "token" | "nonce" | "opId" | "predecessorOpId"> {
  const { key, type, leases, ttlMs } = settings
  const saved = { state: "none" } as const
  return {
    v: FORMAT,
    needs: [],
    key,
    type,
    leases,
    ttlMs,
    seq: 0,
    version: 0,
    waitOutMs: 0,
    saved,
    kept: [],
    extra: {},
  }
}

function parseFields(body: Uint8Array, place: StatePlace): HeadFields {
  if (body.length > HEAD_LIMIT) throw corruptHead(place, `is over ${HEAD_LIMIT} bytes`)
  let parsed: unknown
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
  } catch (cause) {
    throw corruptHead(place, "is not JSON", cause)
  }
  if (isFields(parsed)) return parsed
  throw corruptHead(place, "is not a JSON object")
}

const isFields = (value: unknown): value is HeadFields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const misfits = (fields: HeadFields, tests: Readonly<Record<string, FieldTest>>): string[] =>
  Object.keys(tests).filter((name) => !tests[name]!(fields[name]))

/** All but the state, under the names that heads have in the store: `over` and `quietMs` have clearer ones here. */
function publishedFields({ saved: _saved, extra, predecessorOpId, waitOutMs, ...fields }: Head) {
  return { ...extra, ...fields, over: predecessorOpId, quietMs: waitOutMs }
}

/** The head of fields that fit: the way back from `publishedFields`. */
function fromFields(fields: HeadFields): Head {
  const {
    v,
    needs = [],
    key,
    type,
    leases,
    leasesId,
    leasesBoot,
    ttlMs,
    token,
    nonce,
    seq,
    version,
    opId,
    over: predecessorOpId,
    quietMs: waitOutMs = 0,
    kept,
    state,
    ...rest
  } = fields
  const extra = Object.fromEntries(Object.entries(rest).filter(([name]) => !savedFields.includes(name)))
  const names = Object.keys(savedShapes[state as Saved["state"]]).filter((name) => fields[name] !== undefined)
  const saved = { state, ...Object.fromEntries(names.map((name) => [name, fields[name]])) }
  const origin = {
    leases,
    ...(leasesId !== undefined && { leasesId }),
    ...(leasesBoot !== undefined && { leasesBoot }),
  }
  const common = { v, needs, key, type, ...origin, ttlMs, token, nonce, seq, version, opId }
  return { ...common, predecessorOpId, waitOutMs, saved, kept, extra } as unknown as Head
}

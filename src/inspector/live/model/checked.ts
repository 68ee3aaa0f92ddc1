/**
 * What another process says, before it counts: each value has the shape that the wire has, texts are cut, and what
 * isn't sound is left out. Pure.
 */
import { isSoundLine } from "../../../trace/trace-text.ts"
import type { TraceError, TraceLine } from "../../../trace/trace.ts"
import { TOP_STATES } from "./states.ts"
import type { SandboxDetail, SandboxRow, WorkerRow } from "./wire.ts"

type WireFields = Readonly<Record<string, unknown>>

/**
 * The longest text that is taken over whole. In characters: an error with where it came from is one or two thousand.
 */
export const LONGEST_TEXT = 4000

/** A key has at most 512 bytes, and what else has a name should be no longer. In characters. */
const LONGEST_NAME = 600

/**
 * In characters of JSON, which has six for a control character: a worker caps a line's texts to a few times ten
 * thousand.
 */
const LONGEST_LINE = 256 * 1024

/** How many numbers of `stats()` are taken over: a manager has about 30. */
const MOST_STATS = 100

/** The rows of a message that are sound. */
export const checkedRows = (value: unknown): SandboxRow[] => listOf(value).flatMap((each) => checkedRow(each) ?? [])

/** A row, with the fields that it has and no others. */
export function checkedRow(value: unknown): SandboxRow | undefined {
  if (!isFields(value) || !isStateValue(value["value"])) return undefined
  const { worker, key, since, token, deadline, ownedSince, owner, waiterId, leaving, stuck, error, handoffs } = value
  if (typeof worker !== "string" || typeof key !== "string" || !isNumber(since) || !isNumber(handoffs)) return undefined
  return {
    ...{ worker: named(worker), key: named(key), value: value["value"], since, handoffs },
    ...{ token: numberOf(token), deadline: numberOf(deadline), ownedSince: numberOf(ownedSince) },
    ...{ waiterId: nameOf(waiterId), leaving: nameOf(leaving), stuck: nameOf(stuck) },
    owner: isFields(owner) && typeof owner["ownerId"] === "string" ? ownerOf(owner["ownerId"], owner["address"]) : null,
    error: errorOf(error),
  }
}

/** A worker, with the fields that it has and no others. */
export function checkedWorker(value: unknown): WorkerRow | undefined {
  if (!isFields(value)) return undefined
  const { worker, ownerId, address, problem, runtime, clockOffset, closed, ttl, guard, stats } = value
  if (typeof worker !== "string" || worker === "" || typeof ownerId !== "string" || ownerId === "") return undefined
  return {
    ...{ worker: named(worker), ownerId: named(ownerId), address: nameOf(address), problem: textOf(problem) },
    ...{ runtime: textOf(runtime), clockOffset: numberOf(clockOffset), closed: closed === true },
    ...{ ttl: numberOf(ttl), guard: numberOf(guard), stats: statsOf(stats) },
  }
}

/** The lines of a message that are sound. Who writes a line has capped its texts: one that is longer is left out. */
export function checkedLines(value: unknown): TraceLine[] {
  return listOf(isFields(value) ? value["lines"] : undefined)
    .filter((line): line is TraceLine => isSoundLine(line) && isSoundInside(line))
    .map(withSoundParts)
}

/** An error and an owner are shown part by part: they have the fields that they have, and no others. */
function withSoundParts(line: TraceLine): TraceLine {
  let sound = line
  if ("error" in sound && sound.error !== undefined) sound = { ...sound, error: errorOf(sound.error)! }
  if (sound.kind !== "lock" || sound.owner === undefined) return sound
  const { address, ...owner } = sound.owner
  return { ...sound, owner: typeof address === "string" ? { ...owner, address } : owner }
}

/** A detail; undefined for what is none. */
export function checkedDetail(value: unknown): SandboxDetail | undefined {
  const row = isFields(value) ? checkedRow(value["row"]) : undefined
  if (!isFields(value) || row === undefined) return undefined
  const { store, edges, lastEdge, machine, machineProblem } = value
  const svg = isFields(machine) ? machine["svg"] : undefined
  return {
    row,
    store: storeOf(store),
    edges: statsOf(edges),
    lastEdge: textOf(lastEdge),
    machine: isFields(machine) && isDrawing(svg) ? { svg, value: machine["value"] } : null,
    machineProblem: textOf(machineProblem),
  }
}

function storeOf(store: unknown): SandboxDetail["store"] {
  if (!isFields(store)) return null
  const { error, ownerId, address, token, expiresAt, waiterId, line, generation, at } = store
  if (typeof error === "string") return { error: cut(error) }
  return {
    ...{ ownerId: textOf(ownerId), address: textOf(address), token: numberOf(token), waiterId: textOf(waiterId) },
    ...{ expiresAt: numberOf(expiresAt) ?? 0, generation: textOf(generation) ?? "", at: numberOf(at) ?? 0 },
    line: listOf(line).flatMap((each) => textOf(each) ?? []),
  }
}

/**
 * A picture as `toSvg` draws it, and nothing that does something: only elements of drawing, no handlers, no addresses.
 * The page's own policy would run nothing of it either.
 */
export function isDrawing(svg: unknown): svg is string {
  if (typeof svg !== "string" || !svg.startsWith("<svg") || svg.length > LONGEST_DRAWING) return false
  const tags = svg.match(/<[^>]*>?/g) ?? []
  return tags.every((tag) => DRAWN.test(tag) && !/\son\w*\s*=|href|url\(\s*["']?[^#"']|javascript:/i.test(tag))
}

const DRAWN =
  /^<\/?(svg|g|path|rect|circle|ellipse|line|polyline|polygon|text|tspan|title|desc|defs|marker|style)\b[^<>]*>$/

/** In characters: a machine of hundreds of states. */
const LONGEST_DRAWING = 2_000_000

/** What the shape of a line leaves open, and what reads it relies on. */
function isSoundInside(line: TraceLine): boolean {
  if (!Number.isFinite(line.at) || JSON.stringify(line).length > LONGEST_LINE) return false
  if ("key" in line && line.key !== undefined && line.key.length > LONGEST_TEXT) return false
  if (line.kind === "state") return isStateValue(line.value)
  return line.kind !== "lock" || line.owner === undefined || typeof line.owner.ownerId === "string"
}

function isStateValue(value: unknown): value is SandboxRow["value"] {
  if (!isFields(value)) return false
  const [[top, inner] = [], ...more] = Object.entries(value)
  if (more.length > 0 || !TOP_STATES.some((state) => state === top)) return false
  if (typeof inner === "string") return inner.length < LONGEST_STATE
  return isFields(inner) && isStateName(inner["work"]) && isStateName(inner["lease"]) && Object.keys(inner).length === 2
}

/** The chart's longest is `checkpointing`. */
const LONGEST_STATE = 40

const isStateName = (value: unknown): boolean => typeof value === "string" && value.length < LONGEST_STATE

const ownerOf = (ownerId: string, address: unknown): SandboxRow["owner"] => ({
  ownerId: named(ownerId),
  address: nameOf(address),
})

function errorOf(error: unknown): TraceError | null {
  if (!isFields(error) || typeof error["tag"] !== "string" || typeof error["message"] !== "string") return null
  const { tag, code, message, status } = error
  const known = { tag: cut(String(tag)), code: textOf(code), message: cut(String(message)) }
  if (typeof status === "number") return { ...known, status }
  return typeof status === "string" ? { ...known, status: cut(status) } : known
}

function statsOf(stats: unknown): Readonly<Record<string, number>> {
  if (!isFields(stats)) return {}
  const sound = Object.entries(stats).filter((entry): entry is [string, number] => isNumber(entry[1]))
  return Object.fromEntries(sound.slice(0, MOST_STATS).map(([name, value]) => [cut(name), value]))
}

const isFields = (value: unknown): value is WireFields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value)
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const numberOf = (value: unknown): number | null => (isNumber(value) ? value : null)
const textOf = (value: unknown): string | null => (typeof value === "string" ? cut(value) : null)
const nameOf = (value: unknown): string | null => (typeof value === "string" ? named(value) : null)
const cut = (text: string, longest: number = LONGEST_TEXT): string =>
  text.length > longest ? `${text.slice(0, longest)}…` : text
const named = (text: string): string => cut(text, LONGEST_NAME)

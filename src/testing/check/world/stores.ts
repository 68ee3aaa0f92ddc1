/** The two objects of the world, without a network: every call takes effect at once, or not at all. */
import { type Head, inlined, type Saved } from "../../../actors/checkpoints/head/head.ts"
import type { HeadAnswer } from "../../../actors/checkpoints/head/types.ts"
import { StoreUnavailableError } from "../../../locks/api/errors.ts"
import type { ReadResult, WriteResult } from "../../../locks/protocol/rules/state.ts"
import { ABSENT } from "../../../locks/stores/port.ts"
import { type CheckedRequest, EPOCH, type Rules, type World } from "./world.ts"

/** A request has arrived: the world after it, and the answer. */
export function serve(world: World, request: CheckedRequest, skew: number, rules: Rules): readonly [World, unknown] {
  return request.of === "lease" ? serveLease(world, request.command, skew, rules) : serveHead(world, request.command)
}

/** What nobody hears of. One object: errors are no part of what states differ in. */
export const silence: StoreUnavailableError = new StoreUnavailableError({ message: "no answer", next: "try again" })

function stampOf(at: number, skew: number, clock: Rules["clock"]): { readonly storeTime?: number } {
  if (clock === "none") return {}
  const time = EPOCH + at + skew
  return { storeTime: clock === "exact" ? time : Math.floor(time / 1000) * 1000 }
}

function serveLease(
  world: World,
  command: Extract<CheckedRequest, { of: "lease" }>["command"],
  skew: number,
  { clock }: Rules,
): readonly [World, ReadResult | WriteResult] {
  const stamp = stampOf(world.at, skew, clock)
  const { text, generation, writes } = world.lease
  if (command.type === "read") {
    if (text === undefined) return [world, { kind: "absent", ...stamp }]
    if (command.known === generation) return [world, { kind: "unchanged", generation, ...stamp }]
    return [world, { kind: "found", generation, text, ...stamp }]
  }
  if (command.expected !== generation) return [world, { kind: "refused", ...stamp }]
  const next = written(world, command.type === "put" ? command.body : undefined)
  return [next, { kind: "applied", generation: command.type === "put" ? `l@${writes + 1}` : generation, ...stamp }]
}

/** The record as somebody has written it. */
export function written(world: World, text: string | undefined): World {
  const writes = world.lease.writes + 1
  return { ...world, lease: { text, writes, generation: text === undefined ? ABSENT : `l@${writes}` } }
}

function serveHead(
  world: World,
  command: Extract<CheckedRequest, { of: "head" }>["command"],
): readonly [World, HeadAnswer] {
  const { head, generation, writes } = world.head
  if (command.type === "read") {
    if (head === null) return [world, { kind: "absent" }]
    return [world, command.known === generation ? { kind: "unchanged" } : { kind: "found", generation, head }]
  }
  if (command.expected !== generation) return [world, { kind: "refused" }]
  const next = `h@${writes + 1}`
  return [
    { ...world, head: { head: command.head, writes: writes + 1, generation: next } },
    { kind: "applied", generation: next },
  ]
}

/**
 * Commits as a checkpoint: its checksum is their list, so that nobody has to decode it, and its length their number.
 */
export const savedLog = (log: readonly string[]): Saved =>
  inlined(new Uint8Array(0), { sha256: JSON.stringify(log), bytes: log.length })

/** The commits that a head holds. */
export function logOf(head: Head | null): readonly string[] {
  return head?.saved.state === "inline" ? (JSON.parse(head.saved.sha256) as string[]) : []
}

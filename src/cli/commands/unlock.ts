/**
 * `leasehold unlock <key> --generation …`: an operator ends another's ownership by force. It tells what that breaks. It
 * changes only the version that the operator looked at. It leaves a released record, so that tokens go on growing.
 *
 * Not promised: that the owner stops in time. It stops at its next look at the record.
 */
import { checkKey, encodeName } from "../../locks/api/keys.ts"
import { printable } from "../../locks/printable.ts"
import { isToken, type LeaseRecord, named, needsError, ownerOf, toSeconds } from "../../locks/record.ts"
import type { LeaseStore } from "../../locks/stores/port.ts"
import { EXIT } from "../errors/exit-codes.ts"
import type { Call, CommandAction } from "../frame/syntax.ts"
import { quoted } from "../process/quoted.ts"
import { described, groupsOf, type KeyReading, readKey, REQUEST_MS } from "../stores/records.ts"
import { readSession, startSession, textOption } from "../stores/session.ts"
import { shown } from "../stores/show.ts"

export const unlock: CommandAction = async (call) => {
  const [key = ""] = call.operands
  checkKey(key)
  const generation = textOption(call.options, "generation")
  await using session = await (generation === undefined ? readSession(call) : startSession(call))
  const reading = await readKey(session.store, key)
  if (reading.record === undefined || reading.record.ownerId === null) return nothingOwned(call, reading)
  if (reading.record.needs.length > 0) throw needsError(key, reading.record)
  if (generation === undefined) return onlyTold(call, reading)
  if (generation !== reading.generation) return moved(call, reading, generation)
  const opId = call.io.clock.id()
  const end = await release(session.store, reading, reading.record, opId, call.io.clock.read().wall)
  if (end === "moved") return moved(call, await readKey(session.store, key), generation)
  call.output.result({ unlocked: true, ...described(reading) }, () => `Unlocked. ${breaks(reading)}`)
  return EXIT.ok
}

/** Writes the released record. If the answer doesn't tell whether it was written, reads the record. */
async function release(
  store: LeaseStore,
  reading: KeyReading,
  record: LeaseRecord,
  opId: string,
  wall: number,
): Promise<"released" | "moved"> {
  const ref = { area: "leases", name: encodeName(reading.key) } as const
  const body = releasedBody(record, opId, reading.storeTime ?? wall)
  const answer = await store.put(ref, reading.generation, body, { deadline: REQUEST_MS })
  if (answer.kind === "applied") return "released"
  if (answer.kind === "refused") return "moved"
  const now = await readKey(store, reading.key)
  if (now.record?.lastRelease?.by === opId) return "released"
  if (now.generation !== reading.generation) return "moved"
  throw answer.error
}

/**
 * The record without its owner. The greatest token, the waiter's half and unknown fields stay.
 *
 * `past` stays empty, since the former owner may go on. A sandbox that comes next then waits for as long as that
 * owner's lease may last.
 */
function releasedBody(record: LeaseRecord, opId: string, at: number): Uint8Array {
  const ended = { token: lastToken(record), by: opId, how: "release", note: null }
  const body = { ...record.body, ownerId: null, expiresAt: 0, owner: null, ended, past: [], writtenAt: toSeconds(at) }
  return new TextEncoder().encode(`${JSON.stringify(body, null, 2)}\n`)
}

/**
 * The greatest token: of the owner, or of the one before. The owner's half counts also if a stranger changed its pair.
 */
function lastToken({ owner, lastRelease, body }: LeaseRecord): number {
  const half = body["owner"]
  const raw: unknown = typeof half === "object" && half !== null && "token" in half ? half.token : undefined
  return Math.max(owner?.token ?? 0, lastRelease?.token ?? 0, isToken(raw) ? raw : 0)
}

function nothingOwned({ output }: Call, reading: KeyReading): number {
  output.result(
    { unlocked: false, ...described(reading) },
    () => `Nobody owns ${JSON.stringify(reading.key)}: there is nothing to unlock.`,
  )
  return EXIT.ok
}

function onlyTold({ output, options }: Call, reading: KeyReading): number {
  const places = ["store", "config"].flatMap((name) => {
    const value = textOption(options, name)
    if (value === undefined) return []
    return value.startsWith("-") ? [`--${name}=${value}`] : [`--${name}`, value]
  })
  const { key } = reading
  const version = ["--generation", reading.generation]
  const which = key.startsWith("-") ? [...version, "--", key] : [key, ...version]
  const command = ["leasehold", "unlock", ...places, ...which].map(quoted).join(" ")
  output.result(
    { unlocked: false, ...described(reading) },
    (styles) => `${shown(reading, styles)}\n\n${breaks(reading)}\nTo do it all the same:\n  ${command}`,
  )
  return EXIT.refused
}

function moved({ output }: Call, reading: KeyReading, expected: string): number {
  output.result(
    { unlocked: false, expected, ...described(reading) },
    (styles) =>
      `${shown(reading, styles)}\n\nNothing was done: its generation is ${reading.generation}, not ${expected}.`,
  )
  return EXIT.refused
}

/** What an unlock breaks, in words. */
function breaks({ record, key }: KeyReading): string {
  const owner = ownerOf(record)!
  const groups = groupsOf(record)
  const work = groups.length === 0 ? "" : ` Process group ${printable(groups.join(", "))} may be at work under it.`
  return `It takes ${JSON.stringify(key)} from ${named(owner)}, which may go on until it finds out: two may be at work till then.${work}`
}

/**
 * A process that knows the four published fields alone. It keeps unknown fields, or drops them. It relies on its clock,
 * which may be slow by as much as the guard allows.
 */
import { owners } from "../world/laws.ts"
import { written } from "../world/stores.ts"
import { EPOCH, may, type Rules, type StrangerState, wasDeleted, without, type World } from "../world/world.ts"
import type { Move } from "./move.ts"

type RecordFields = Readonly<Record<string, unknown>>

/** What a stranger may do now. */
export function strangerMoves(world: World, rules: Rules): readonly Move[] {
  if (!may(world, "strangers")) return []
  const record = JSON.parse(world.lease.text ?? "{}") as RecordFields
  const seconds = (EPOCH + world.at) / 1000
  const move = (what: string, change: RecordFields, stranger: Partial<StrangerState>): Move => ({
    what: `a stranger ${what}`,
    make: () => {
      const rest = rules.strangersKeep ? record : {}
      const published = pick(record)
      const body = { ...rest, ...published, ...change }
      const after = written(without(world, "strangers"), JSON.stringify(body))
      return [{ ...after, stranger: { ...world.stranger, ...stranger } }]
    },
  })
  const { ownerId = null, expiresAt = 0, waitingOwnerId = null } = record
  const lease = { ownerId: "s", expiresAt: seconds + rules.ttl / 1000 }
  const until = world.at + rules.ttl + rules.guard
  const all: Move[] = []
  const isFree = ownerId === null || Number(expiresAt) + 1 < seconds
  const isReserved = waitingOwnerId !== null && waitingOwnerId !== "s"
  if (isFree && !isReserved)
    all.push(move("takes the key", { ...lease, ...nobodyWaits }, { until, beside: hidden(world, rules, ownerId) }))
  if (ownerId === "s") {
    all.push(move("renews", lease, { until }), move("releases", { ownerId: null, expiresAt: 0 }, { until: 0 }))
    if (isReserved) {
      const granted = { ownerId: waitingOwnerId, expiresAt: lease.expiresAt, ...nobodyWaits }
      all.push(move("hands the key over", granted, { until: 0 }))
    }
  } else if (ownerId !== null && waitingOwnerId === null) {
    all.push(move("waits", { waitingOwnerId: "s", waiterExpiresAt: seconds + 12 }, {}))
  }
  return all
}

/** Whose record was deleted by hand: they own the key as far as they know, and it names them no more. */
function hidden(world: World, rules: Rules, named: unknown): readonly string[] {
  if (!wasDeleted(world, rules)) return []
  return owners(world, rules).flatMap(({ id }) => (id === named ? [] : [id]))
}

const nobodyWaits = { waitingOwnerId: null, waiterExpiresAt: null }

const pick = ({
  ownerId = null,
  expiresAt = 0,
  waitingOwnerId = null,
  waiterExpiresAt = null,
}: RecordFields): RecordFields => ({
  ownerId,
  expiresAt,
  waitingOwnerId,
  waiterExpiresAt,
})

/** What must be true of every world. What isn't is thrown where it happens. */
import type { State as HeadState } from "../../actors/checkpoints/protocol-types.ts"
import { isHeld } from "../../locks/protocol/authority.ts"
import { logOf } from "./stores.ts"
import { misfortunes, nowOf, type Process, type Rules, runs, wasDeleted, type World } from "./world.ts"

/** A law that was broken. */
export class Broken extends Error {
  override readonly name = "Broken"
}

/**
 * Who may act now; of a process that stands still: if it went on just now. After a record was deleted by hand a head is what
 * keeps its owners apart, where there is one: then it is those that count whose work runs.
 */
export function holders(world: World, rules: Rules): readonly string[] {
  const byHead = rules.commits > 0 && wasDeleted(world, rules)
  const mine = world.processes.flatMap((process, index) => {
    if (process.state === "gone") return []
    const now = nowOf(process, world.at, rules.rates[index]!)
    return isHeld(process.lock, now) && (!byHead || runs(process, now)) ? [process.id] : []
  })
  return world.stranger.until > world.at ? [...mine, "the stranger"] : mine
}

/** At most one process may act. */
export function judge(world: World, rules: Rules): void {
  const all = holders(world, rules)
  if (all.length > 1) throw new Broken(`${all.join(" and ")} hold the key at once`)
}

/**
 * Tokens grow, and who has left is gone. After a record was deleted by hand a head is what makes its owner's token grow,
 * where there is one: then that is where it is judged.
 */
export function acquired(world: World, { id }: Process, token: number, rules: Rules): World {
  if (rules.commits > 0 && wasDeleted(world, rules)) return raised(world, token)
  if (token <= world.topToken) throw new Broken(`${id} acquires under token ${token}, after ${world.topToken}`)
  if (world.gone.includes(`${id} ${token}`)) throw new Broken(`${id} owns under token ${token} again`)
  return raised(world, token)
}

/** It has sent, or is about to send, its leave. */
export const left = (world: World, who: string): World => ({ ...world, gone: [...world.gone, who] })

/** An owner has raised its token. */
export const raised = (world: World, token: number): World => ({ ...world, topToken: Math.max(world.topToken, token) })

/** Only an owner is asked to leave, and once for a waiter. Tells for whom. */
export function asked({ id, lock, tenancy }: Process, waiterId: string): string {
  if (lock.phase.name !== "owning") throw new Broken(`${id} is asked to leave, and owns nothing`)
  const waiter = lock.view?.record?.waiter
  if (waiter !== undefined && tenancy?.asked === waiter.nonce) throw new Broken(`${id} is asked again for ${waiterId}`)
  return waiter?.nonce ?? waiterId
}

/** What befell nobody costs nobody a lease, unless an odd guard leaves no time to renew. */
export function losing({ left: rest }: World, { id }: Process, rules: Rules): void {
  if (rules.ownGuard && misfortunes(rest) === misfortunes(rules.start))
    throw new Broken(`${id} loses the key though nothing befell anybody`)
}

/** A record took the place of another: an owner's part in it is its own. */
export function wrote(before: World, after: World, id: string): void {
  const [old, now] = [publishedBy(before.lease.text), publishedBy(after.lease.text)]
  if (old.ownerId === null || old.ownerId === id || now.ownerId === id) return
  if (old.ownerId !== now.ownerId) throw new Broken(`${id} ends the lease of ${old.ownerId}`)
  if (old.expiresAt !== now.expiresAt) throw new Broken(`${id} changes when the lease of ${old.ownerId} ends`)
}

function publishedBy(text: string | undefined): { readonly ownerId: string | null; readonly expiresAt: number } {
  const { ownerId = null, expiresAt = 0 } = JSON.parse(text ?? "{}") as { ownerId?: string | null; expiresAt?: number }
  return { ownerId, expiresAt }
}

/** Its attempt is over: nothing of it waits there, nor can it come there any more. */
export function through({ lease, mail }: World, { id }: Process, nonce: string): void {
  const record = JSON.parse(lease.text ?? "{}") as { waitingOwnerId?: string | null }
  if (record.waitingOwnerId === id) throw new Broken(`${id} is through with the key, and still waits for it`)
  const mayLand = mail.some(
    ({ by, of, command, answer }) =>
      by === id &&
      of === "lease" &&
      answer === undefined &&
      command.type === "put" &&
      command.expected === lease.generation &&
      command.body.includes(nonce),
  )
  if (mayLand) throw new Broken(`${id} is through with the key, and what it wrote may still come there`)
}

/** A commit is acknowledged: it is there. */
export function acknowledged(world: World, { id }: Process, name: string): World {
  if (!logOf(world.head.head).includes(name)) throw new Broken(`${id} is told that ${name} is stored, and it isn't`)
  return { ...world, acknowledged: [...world.acknowledged, name] }
}

/** Nobody gives way to itself. */
export function fenced({ head }: World, { id }: Process, { phase, nonce }: HeadState): void {
  if (phase === "fenced" && head.head?.nonce === nonce) throw new Broken(`${id} is fenced by a write of its own`)
}

/** A head took the place of another. */
export function stored(before: World, after: World, index: number, rules: Rules): void {
  const { id } = after.processes[index]!
  const [old, head] = [before.head.head, after.head.head!]
  if (old !== null && head.token < old.token)
    throw new Broken(`${id} saves under token ${head.token}, after ${old.token}`)
  if (old !== null && head.token === old.token && head.nonce !== old.nonce)
    throw new Broken(`two tenancies save under token ${head.token}`)
  const lost = after.acknowledged.find((name) => !logOf(head).includes(name))
  if (lost !== undefined) throw new Broken(`${lost} was acknowledged, and ${id} overwrites it`)
  const later = after.processes.find((process, at) => {
    const { tenancy, state } = process
    if (state === "gone" || tenancy === undefined || tenancy.head.token <= head.token || tenancy.head.lost) return false
    return runs(process, nowOf(process, after.at, rules.rates[at]!))
  })
  if (later !== undefined)
    throw new Broken(`${id} saves under token ${head.token} while ${later.id} runs under ${later.tenancy!.head.token}`)
}

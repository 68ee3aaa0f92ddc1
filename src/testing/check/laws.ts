/** What must be true of every world. What isn't is thrown where it happens. */
import { isHeld } from "../../locks/protocol/authority.ts"
import { logOf } from "./stores.ts"
import { nowOf, type Process, type Rules, type World } from "./world.ts"

/** A law that was broken. */
export class Broken extends Error {
  override readonly name = "Broken"
}

/** Who may act now; of a process that stands still: if it went on just now. */
export function holders(world: World, rules: Rules): readonly string[] {
  const mine = world.processes.flatMap((process, index) => {
    if (process.state === "gone") return []
    return isHeld(process.lock, nowOf(process, world.at, rules.rates[index]!)) ? [process.id] : []
  })
  return world.stranger.until > world.at ? [...mine, "the stranger"] : mine
}

/** At most one process may act. */
export function judge(world: World, rules: Rules): void {
  const all = holders(world, rules)
  if (all.length > 1) throw new Broken(`${all.join(" and ")} hold the key at once`)
}

/** Tokens grow, and who has left is gone. */
export function acquired(world: World, { id }: Process, token: number): World {
  if (token <= world.topToken) throw new Broken(`${id} acquires under token ${token}, after ${world.topToken}`)
  if (world.gone.includes(`${id} ${token}`)) throw new Broken(`${id} owns under token ${token} again`)
  return { ...world, topToken: token }
}

/** It has sent, or is about to send, its leave. */
export const left = (world: World, who: string): World => ({ ...world, gone: [...world.gone, who] })

/** Nobody is asked who isn't an owner. */
export function asked({ id, lock }: Process): void {
  if (lock.phase.name !== "owning") throw new Broken(`${id} is asked to leave, and owns nothing`)
}

/** A commit is acknowledged: it is there. */
export function acknowledged(world: World, { id }: Process, name: string): World {
  if (!logOf(world.head.head).includes(name)) throw new Broken(`${id} is told that ${name} is stored, and it isn't`)
  return { ...world, acknowledged: [...world.acknowledged, name] }
}

/** A head took the place of another. */
export function stored(before: World, after: World, index: number): void {
  const { id } = after.processes[index]!
  const [old, head] = [before.head.head, after.head.head!]
  if (old !== null && head.token < old.token)
    throw new Broken(`${id} saves under token ${head.token}, after ${old.token}`)
  if (old !== null && head.token === old.token && head.nonce !== old.nonce)
    throw new Broken(`two tenancies save under token ${head.token}`)
  const lost = after.acknowledged.find((name) => !logOf(head).includes(name))
  if (lost !== undefined) throw new Broken(`${lost} was acknowledged, and ${id} overwrites it`)
  const runs = after.processes.find(
    ({ tenancy, state }) =>
      state !== "gone" && tenancy?.log !== undefined && tenancy.head.token > head.token && !tenancy.head.lost,
  )
  if (runs !== undefined)
    throw new Broken(`${id} saves under token ${head.token} while ${runs.id} runs under ${runs.tenancy!.head.token}`)
}

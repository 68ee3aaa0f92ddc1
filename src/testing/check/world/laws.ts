/** What must be true of every world. What isn't is thrown where it happens. */
import type { HeadState } from "../../../actors/checkpoints/head/types.ts"
import { LockError } from "../../../locks/api/errors.ts"
import type { Step } from "../../../locks/protocol/reducer.ts"
import { isHeld } from "../../../locks/protocol/rules/authority.ts"
import { assertSoundWrites } from "../../../locks/protocol/rules/invariant.ts"
import { logOf } from "./stores.ts"
import {
  lifeOf,
  misfortunes,
  nowOf,
  type Passed,
  type Process,
  type Rules,
  runs,
  SHARED,
  wasDeleted,
  type World,
} from "./world.ts"

/** A law that was broken. */
export class Broken extends Error {
  override readonly name = "Broken"
}

/** Who owns the key by its own clocks; of a process that stands still: if it went on just now. */
export function owners({ processes, at }: World, rules: Rules): readonly Process[] {
  return processes.filter(
    (process, index) => process.state !== "gone" && isHeld(process.lock, nowOf(process, at, rules.rates[index]!)),
  )
}

/** A step comes to a state that can be, and each write that may land says what it may. */
export function sound({ id, lock }: Process, step: () => Step): Step {
  try {
    const stepped = step()
    if (stepped.state.sent !== lock.sent) assertSoundWrites(stepped.state)
    return stepped
  } catch (error) {
    if (error instanceof LockError) throw new Broken(`${id}: ${error.message}`)
    throw error
  }
}

/**
 * At most one process may act, and none that has sent its leave. After a record was deleted by hand a head is what
 * keeps its owners apart, where there is one: then it is those that count whose work runs. A stranger has no head, and
 * nothing keeps it apart from an owner whose record was deleted.
 */
export function judge(world: World, rules: Rules): void {
  const all = owners(world, rules)
  const returned = all.find(({ activation }) => activation?.hasLeft === true)
  if (returned !== undefined) throw new Broken(`${returned.id} acts again after it sent its leave`)
  const byHead = rules.commits > 0 && wasDeleted(world, rules)
  const working = byHead ? all.filter(runs) : all
  if (working.length > 1) throw new Broken(`${working.map(({ id }) => id).join(" and ")} hold the key at once`)
  const { until, beside } = world.stranger
  const beset = all.find(({ id }) => !beside.includes(id))
  if (until > world.at && beset !== undefined) throw new Broken(`${beset.id} and the stranger hold the key at once`)
}

/**
 * Tokens grow. After a record was deleted by hand a head is what makes its owner's token grow, where there is one: then
 * that is where it is judged.
 */
export function acquired(world: World, { id }: Process, token: number, rules: Rules): World {
  const byHead = rules.commits > 0 && wasDeleted(world, rules)
  if (!byHead && token <= world.topToken)
    throw new Broken(`${id} acquires under token ${token}, after ${world.topToken}`)
  return raised(world, token)
}

/** An owner has raised its token. */
export const raised = (world: World, token: number): World => ({ ...world, topToken: Math.max(world.topToken, token) })

/** Only an owner is asked to leave, and once for a waiter. Tells for whom. */
export function asked({ id, lock, activation }: Process, waiterId: string): string {
  if (lock.phase.name !== "owning") throw new Broken(`${id} is asked to leave, and owns nothing`)
  const waiter = lock.view?.record?.waiter
  if (waiter !== undefined && activation?.asked === waiter.nonce)
    throw new Broken(`${id} is asked again for ${waiterId}`)
  return waiter?.nonce ?? waiterId
}

/** What befell nobody costs nobody a lease, unless an odd guard leaves no time to renew. */
export function losing({ left: rest }: World, { id }: Process, rules: Rules): void {
  if (rules.ownGuard && misfortunes(rest) === misfortunes(rules.start))
    throw new Broken(`${id} loses the key though nothing befell anybody`)
}

/** Where nothing befell anybody, the record proves who ended: nobody waits for anybody. */
export function claimed({ left: rest }: World, { id }: Process, waitOutMs: number, rules: Rules): void {
  if (waitOutMs > 0 && misfortunes(rest) === misfortunes(rules.start))
    throw new Broken(`${id} waits ${waitOutMs} ms for who has left, though nothing befell anybody`)
}

/** A record took the place of another: an owner's part in it is its own. */
export function wrote(before: World, after: World, id: string): void {
  const [old, now] = [publishedBy(before.lease.text), publishedBy(after.lease.text)]
  if (old.ownerId === null || old.ownerId === id || now.ownerId === id || old.ownerId === SHARED) return
  if (old.ownerId !== now.ownerId) throw new Broken(`${id} ends the lease of ${old.ownerId}`)
  if (old.expiresAt !== now.expiresAt) throw new Broken(`${id} changes when the lease of ${old.ownerId} ends`)
}

function publishedBy(text: string | undefined): { readonly ownerId: string | null; readonly expiresAt: number } {
  const { ownerId = null, expiresAt = 0, owner } = JSON.parse(text ?? "{}") as PublishedFields
  return { ownerId: processOf(ownerId, expiresAt, owner), expiresAt }
}

/**
 * A record took the place of another: nobody has the key twice while another waits for it, unless something befell
 * somebody, or somebody gave up, since the line is advisory. Notes who was passed by whom.
 */
export function passing(before: World, after: World, rules: Rules): World {
  if (rules.contention === "fail" || after.lease === before.lease) return after
  const { ownerId } = publishedBy(after.lease.text)
  const came = ownerId === publishedBy(before.lease.text).ownerId ? null : ownerId
  const passed = waiting(after).flatMap((id): readonly Passed[] => {
    if (id === ownerId) return []
    const [, seen = []] = before.passed.find(([waiter]) => waiter === id) ?? []
    if (came !== null && seen.includes(came) && isCalm(after, rules))
      throw new Broken(`${came} has the key twice while ${id} waits for it`)
    return [[id, came === null ? seen : [...seen, came]]]
  })
  return { ...after, passed }
}

/** Nothing befell anybody, and nobody gave up. */
const isCalm = ({ left: rest }: World, { start }: Rules): boolean =>
  misfortunes(rest) === misfortunes(start) && rest.cancels === start.cancels

/** Those that wait, as far as they know. */
const waiting = ({ processes }: World): readonly string[] =>
  processes.flatMap(({ id, state, lock: { phase } }) =>
    state !== "gone" && phase.name === "seeking" && phase.waiting ? [id] : [],
  )

interface Half {
  readonly for: string
  readonly expiresAt: number
  readonly nonce: string
}

interface PublishedFields {
  readonly ownerId?: string | null
  readonly expiresAt?: number
  readonly owner?: Half | null
  readonly waitingOwnerId?: string | null
  readonly waiterExpiresAt?: number | null
  readonly waiter?: Half | null
}

/** Which process a published pair means: the one whose life its half names, where that counts. */
function processOf(
  id: string | null,
  expiresAt: number | null | undefined,
  half: Half | null | undefined,
): string | null {
  if (id === null || half?.for !== id || half.expiresAt !== expiresAt) return id
  const [life = id] = half.nonce.split(".")
  return life.endsWith(lifeOf("")) ? life.slice(0, -lifeOf("").length) : id
}

/** Its attempt is over: nothing of it waits there, nor can it come there any more. */
export function through({ lease, mail }: World, { id }: Process, nonce: string): void {
  const { waitingOwnerId = null, waiterExpiresAt, waiter } = JSON.parse(lease.text ?? "{}") as PublishedFields
  if (processOf(waitingOwnerId, waiterExpiresAt, waiter) === id)
    throw new Broken(`${id} is through with the key, and still waits for it`)
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

/** A commit is refused: it isn't there, and nothing that is under way will bring it there. */
export function refused({ head, mail }: World, { id }: Process, name: string): void {
  const lands = mail.some(
    ({ of, command, answer }) =>
      of === "head" &&
      answer === undefined &&
      command.type === "put" &&
      command.expected === head.generation &&
      logOf(command.head).includes(name),
  )
  if (lands || logOf(head.head).includes(name))
    throw new Broken(`${id} is told that ${name} was refused, and it ${lands ? "may still be" : "is"} stored`)
}

/** Nobody gives way to itself. */
export function fenced({ head }: World, { id }: Process, { phase, nonce }: HeadState): void {
  if (phase === "fenced" && head.head?.nonce === nonce) throw new Broken(`${id} is fenced by a write of its own`)
}

/** A head took the place of another. */
export function stored(before: World, after: World, index: number): void {
  const { id } = after.processes[index]!
  const [old, head] = [before.head.head, after.head.head!]
  if (old !== null && head.token < old.token)
    throw new Broken(`${id} saves under token ${head.token}, after ${old.token}`)
  if (old !== null && head.token === old.token && head.nonce !== old.nonce)
    throw new Broken(`two activations save under token ${head.token}`)
  const lost = after.acknowledged.find((name) => !logOf(head).includes(name))
  if (lost !== undefined) throw new Broken(`${lost} was acknowledged, and ${id} overwrites it`)
  const later = after.processes.find((process) => {
    const { activation, state } = process
    if (state === "gone" || activation === undefined || activation.head.token <= head.token || activation.head.lost)
      return false
    return runs(process)
  })
  if (later !== undefined)
    throw new Broken(
      `${id} saves under token ${head.token} while ${later.id} runs under ${later.activation!.head.token}`,
    )
}

/**
 * The moments that matter although no process acts at them:
 *
 * - An owner's right to act ends, also that of a stopped one.
 * - A lease or a mark is first seen to be over.
 *
 * Between two such moments it makes no difference when exactly something is asked for.
 */
import { deadlineOf } from "../../../locks/protocol/rules/authority.ts"
import { isThrough } from "./shapes.ts"
import { EPOCH, nowOf, type Process, type Rules, trueTime, type World } from "./world.ts"

/** What others wait after a published time, in milliseconds, and what is surely past it. */
const slack = 1000.001

/** Those after now, in true time. */
export function momentsOf(world: World, rules: Rules): readonly number[] {
  const ends = world.processes.flatMap((process, index) => [
    ...endsOf(process, world.at, rules.rates[index]!),
    ...watchedOf(process, rules.rates[index]!),
  ])
  return [...ends, ...oversOf(world, rules)].filter((at) => at > world.at)
}

/** By whichever of its clocks comes first. */
function endsOf(process: Process, at: number, rate: number): readonly number[] {
  const { lock, state } = process
  if (state === "gone" || lock.phase.name !== "owning") return []
  const { mono, boot } = deadlineOf(lock.phase.hold)
  const byBoot = at + (boot - nowOf(process, at, rate).boot) / rate
  return [state === "suspended" ? byBoot : Math.min(byBoot, trueTime(process, mono, rate))]
}

/** Whether the owner of a record that tells of nobody before has ended is judged by how long it stood. */
function watchedOf(process: Process, rate: number): readonly number[] {
  const { observedOwner: observed, view } = process.lock
  const record = view?.record
  if (process.state === "gone" || isThrough(process) || observed === undefined) return []
  if (record?.owner === undefined || record.past !== undefined) return []
  return [trueTime(process, observed.stood.mono + record.owner.ttlMs, rate)]
}

/** As the answers to each process tell it: dates may differ, and may be whole seconds. */
function oversOf({ lease }: World, { skews, clock }: Rules): readonly number[] {
  if (lease.text === undefined || clock === "none") return []
  const { expiresAt, waiterExpiresAt } = JSON.parse(lease.text) as Readonly<Record<string, number | null>>
  const published = [expiresAt, waiterExpiresAt].flatMap((seconds) => (seconds ? [seconds * 1000 - EPOCH + slack] : []))
  const seen = (time: number): number => (clock === "exact" ? time : Math.ceil(time / 1000) * 1000)
  return published.flatMap((time) => [...new Set(skews)].map((skew) => seen(time) - skew))
}

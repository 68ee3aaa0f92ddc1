/**
 * What may happen next in a world: a process that is due acts, in any order; what is on its way arrives; and while
 * nobody is due, users ask for things, machines fail, strangers write, or time goes on to the next moment that matters
 * to anybody.
 */
import type { Input } from "../../../locks/protocol/rules/state.ts"
import { momentsOf } from "../world/moments.ts"
import { answered, arrived, commit, leave, lockInput, newProcess, wake, wakesAt } from "../world/processes.ts"
import {
  type LeftFaults,
  type Mail,
  may,
  type Process,
  type Rules,
  runs,
  without,
  withProcess,
  type World,
} from "../world/world.ts"
import type { Move } from "./move.ts"
import { operatorMoves } from "./operator.ts"
import { strangerMoves } from "./stranger.ts"

/** How far and how finely time is looked at. */
export interface CheckHorizon {
  /** Nothing is looked at after this, in milliseconds of true time. */
  readonly until: number
  /** With nobody waiting for anything, time goes on by this. */
  readonly idle: number
}

/** All moves of a world. */
export function moves(world: World, rules: Rules, bounds: CheckHorizon): readonly Move[] {
  const due = world.processes.flatMap((process, index) => {
    const at = wakesAt(process, world.at, rules.rates[index]!)
    return at === undefined ? [] : [{ index, at, id: process.id }]
  })
  const now = due.filter(({ at }) => at <= world.at)
  const acts = [
    ...now.map(({ index, id }): Move => ({ what: `${id} acts`, make: () => wake(world, index, rules) })),
    ...world.processes.flatMap((process, index) => saves(world, process, index, rules)),
  ]
  const letters = world.mail.flatMap((letter) => post(world, letter, rules))
  if (acts.length > 0) return [...acts, ...letters]
  const next = Math.min(...due.map(({ at }) => at), ...momentsOf(world, rules), world.at + bounds.idle)
  const wait: Move = { what: `time goes on to ${Math.round(next)}`, make: () => [{ ...world, at: next }] }
  return [
    ...letters,
    ...world.processes.flatMap((process, index) => [
      ...users(world, process, index, rules),
      ...fates(world, process, index, rules),
    ]),
    ...strangerMoves(world, rules),
    ...operatorMoves(world, rules),
    ...(next <= bounds.until ? [wait] : []),
  ]
}

/** A letter arrives, or the answer to it. */
function post(world: World, letter: Mail, rules: Rules): readonly Move[] {
  const { from, of, command, answer, awaited } = letter
  const process = world.processes[from]!
  const name = `the ${command.type} of the ${of} by ${process.id}`
  const rest = { ...world, mail: world.mail.filter((other) => other !== letter) }
  if (answer === undefined) {
    const arrive = (): readonly World[] => {
      const [next, result] = arrived(rest, from, letter, rules)
      return [awaited && isListening(process) ? { ...next, mail: [...next.mail, { ...letter, answer: result }] } : next]
    }
    return [{ what: `${name} arrives late`, make: arrive }]
  }
  if (process.state !== "up") return []
  return [{ what: `the answer to ${name} arrives late`, make: () => answered(rest, from, letter, answer, rules) }]
}

const isListening = ({ state }: Process): boolean => state !== "gone"

/** What its users ask of a process. */
function users(world: World, process: Process, index: number, rules: Rules): readonly Move[] {
  const { id, lock, attempts, activation, state } = process
  if (state !== "up") return []
  const { phase } = lock
  const { name } = phase
  const all: Move[] = []
  if (name === "idle" && attempts > 0) {
    const asked = withProcess(world, index, { attempts: attempts - 1, activation: undefined })
    all.push({ what: `${id} wants the key`, make: () => lockInput(asked, index, acquireOf(rules), rules) })
  }
  if (name === "idle" && phase.left !== undefined && may(world, "releases"))
    all.push({
      what: `${id} leaves again, as nobody could tell what became of it`,
      make: () => lockInput(without(world, "releases"), index, { type: "release" }, rules),
    })
  if (name === "seeking" && may(world, "cancels"))
    all.push({
      what: `${id} no longer wants the key`,
      make: () => lockInput(without(world, "cancels"), index, { type: "cancel" }, rules),
    })
  if (!isReady(process)) return all
  if (activation?.asked !== undefined)
    all.push({ what: `${id} leaves, as it was asked to`, make: () => leave(world, index, rules) })
  else if (may(world, "releases"))
    all.push({ what: `${id} leaves`, make: () => leave(without(world, "releases"), index, rules) })
  return all
}

/** An owner saves as soon as it may, as often as it wants to: what comes of it may take any time. */
function saves(world: World, process: Process, index: number, rules: Rules): readonly Move[] {
  const { id, activation, state } = process
  if (state !== "up" || activation?.commits === 0 || !isReady(process)) return []
  return [{ what: `${id} saves`, make: () => commit(world, index, rules) }]
}

const unasked = { name: "", change: "" }

/** Its work runs, and nothing of it is being saved. */
function isReady(process: Process): boolean {
  const isOwner = process.lock.phase.name === "owning" && process.activation?.head.job === null
  return isOwner && runs(process)
}

/** What a user asks for who wants the key. */
export const acquireOf = ({ budget, whenOwned, contention }: Rules): Input => ({
  ...{
    type: "acquire",
    budgetMs: budget,
    budgetSource: unasked,
    whenOwned,
    contention,
    minTenure: 0,
    stateVersion: null,
  },
})

/** What befalls a process. */
function fates(world: World, process: Process, index: number, rules: Rules): readonly Move[] {
  const { id, state } = process
  const { at } = world
  const befall = (what: keyof LeftFaults, how: string, make: (from: World) => World): readonly Move[] =>
    may(world, what) ? [{ what: `${id} ${how}`, make: () => [make(without(world, what))] }] : []
  if (state === "gone") return []
  const crash = befall("crashes", "is killed, and another starts", (from) => reborn(from, process, index, rules))
  if (state !== "up") {
    const slept = process.slept + (state === "suspended" ? at - process.since : 0)
    const wakes = { what: `${id} goes on`, make: () => [withProcess(world, index, { state: "up" as const, slept })] }
    return [wakes, ...crash]
  }
  return [
    ...crash,
    ...befall("pauses", "is stopped", (from) => withProcess(from, index, { state: "stopped" })),
    ...befall("suspends", "is suspended", (from) => withProcess(from, index, { state: "suspended", since: at })),
  ]
}

/** Its memory is lost, and nobody hears the answers to what it sent. */
function reborn(world: World, process: Process, index: number, rules: Rules): World {
  const name = `${String.fromCharCode(112 + index)}${world.born}`
  const next = newProcess(name, index, rules, world.at, Math.max(1, process.attempts))
  const mail = world.mail.flatMap((letter) => {
    if (letter.from !== index) return [letter]
    return letter.answer !== undefined || letter.command.type === "read" ? [] : [{ ...letter, awaited: false }]
  })
  return { ...withProcess({ ...world, mail }, index, next), born: world.born + 1 }
}

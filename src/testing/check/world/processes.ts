/**
 * What a process does with one input: a step of its reducers, and all that comes of it at once. A request may meet
 * several fates, so that one input may lead to several worlds.
 */
import {
  dueAt,
  initialState as initialHead,
  leftBy,
  step as stepHead,
  traceOf,
} from "../../../actors/checkpoints/head/protocol.ts"
import type { HeadAnswer, HeadCommand, HeadInput, HeadOutcome } from "../../../actors/checkpoints/head/types.ts"
import { requestDeadline } from "../../../locks/engine/options.ts"
import { initialState, nextWake, step, traced } from "../../../locks/protocol/reducer.ts"
import { isHeld } from "../../../locks/protocol/rules/authority.ts"
import type { Command, Input, LockConfig, ProtocolEvent } from "../../../locks/protocol/rules/state.ts"
import {
  acknowledged,
  acquired,
  asked,
  claimed,
  fenced,
  losing,
  passing,
  raised,
  refused,
  sound,
  stored,
  through,
  wrote,
} from "./laws.ts"
import { logOf, savedLog, serve, silence } from "./stores.ts"
import {
  type CheckedActivation,
  type CheckedRequest,
  lifeOf,
  type Mail,
  may,
  nowOf,
  type Process,
  type Rules,
  SHARED,
  trueTime,
  without,
  withProcess,
  type World,
} from "./world.ts"

/** How long an owner may take for its claim, in milliseconds of its clock. */
const claimWithin = 20_000

/** A process that has done nothing yet. */
export function newProcess(id: string, index: number, rules: Rules, at: number, attempts: number): Process {
  const config: LockConfig = {
    ...{
      key: "k",
      id: rules.isOneIncarnation ? SHARED : id,
      life: lifeOf(id),
      ttl: rules.ttls[index]!,
      guard: rules.guards[index]!,
    },
    ...{ waiterTtl: 12_000, strangerTtl: 2 * rules.ttl },
    ...{ clock: rules.clock, bootId: null, cheapReads: false, spacing: rules.spacing, watchEvery: 2000, beat: 0 },
    ...{ deletes: false, strict: false, address: null, host: null },
  }
  const clocks = { state: "up", slept: 0, since: 0, steps: 0, id } as const
  const now = nowOf(clocks as Process, at, rules.rates[index]!)
  const lock = initialState(config, now)
  return { ...clocks, lock, silence: undefined, attempts, activation: undefined }
}

/** When a process next wants to do something, in true time; undefined: never, or not while it stands still. */
export function wakesAt(process: Process, at: number, rate: number): number | undefined {
  if (process.state !== "up") return undefined
  const lock = nextWake(process.lock, nowOf(process, at, rate))
  const head = process.activation === undefined ? undefined : dueAt(process.activation.head)
  const wakes = [lock, head].flatMap((mono) => (mono === undefined ? [] : [trueTime(process, mono, rate) + 0.001]))
  if (process.silence !== undefined) wakes.push(process.silence)
  return wakes.length === 0 ? undefined : Math.max(at, Math.min(...wakes))
}

/** All that a process may come to that is due: the first thing that is. */
export function wake(world: World, index: number, rules: Rules): readonly World[] {
  const process = world.processes[index]!
  const { at } = world
  const rate = rules.rates[index]!
  if (process.silence !== undefined && process.silence <= at) return heardNothing(world, index, rules)
  const head = process.activation === undefined ? undefined : dueAt(process.activation.head)
  if (head !== undefined && trueTime(process, head, rate) <= at) return headInput(world, index, { type: "tick" }, rules)
  return lockInput(world, index, { type: "tick" }, rules)
}

function heardNothing(world: World, index: number, rules: Rules): readonly World[] {
  const { flight } = world.processes[index]!.lock
  const given = withProcess(ignoring(world, index, "lease"), index, { silence: undefined })
  if (flight === undefined) return [given]
  const { id, act } = flight
  const input: Input =
    act === "read"
      ? { type: "read", id, answer: { kind: "failed", error: silence } }
      : { type: "wrote", id, answer: { kind: "unknown", error: silence } }
  return lockInput(given, index, input, rules)
}

/** Nobody listens any more to what is under way; reads need not arrive then. */
function ignoring(world: World, index: number, of: CheckedRequest["of"]): World {
  const mail = world.mail.flatMap((letter) => {
    if (letter.from !== index || letter.of !== of || !letter.awaited) return [letter]
    const isOver = letter.command.type === "read" || letter.answer !== undefined
    return isOver ? [] : [{ ...letter, awaited: false }]
  })
  return { ...world, mail }
}

/** One input to a lock, with all that comes of it. */
export function lockInput(world: World, index: number, input: Input, rules: Rules): readonly World[] {
  const process = world.processes[index]!
  const now = nowOf(process, world.at, rules.rates[index]!)
  const { state, commands, events } = sound(process, () => step(process.lock, input, now))
  let worlds: readonly World[] = [withProcess(world, index, { lock: state, steps: process.steps + 1 })]
  const { phase } = process.lock
  if (state.phase.name === "idle" && "attempt" in phase) through(world, process, phase.attempt.nonce)
  for (const event of events) worlds = worlds.flatMap((next) => told(next, index, event, rules))
  for (const command of commands) worlds = worlds.flatMap((next) => lockCommand(next, index, command, rules))
  return worlds
}

function told(world: World, index: number, event: ProtocolEvent, rules: Rules): readonly World[] {
  const process = world.processes[index]!
  const { activation } = process
  if (event.type === "Acquired") return begin(acquired(world, process, event.token, rules), index, rules)
  if (event.type === "Lost") losing(world, process, rules)
  if (event.type === "Lost" && activation !== undefined) return headInput(world, index, { type: "lost" }, rules)
  if (event.type === "Renewed" || event.type === "Recovered") return renewed(world, index, event.token, rules)
  if (event.type !== "ReleaseRequested") return [world]
  const waiter = asked(process, event.waiterId)
  return [
    activation === undefined ? world : withProcess(world, index, { activation: { ...activation, asked: waiter } }),
  ]
}

/** A head may wait for a renewal, or for its owner's token to be raised. */
function renewed(world: World, index: number, token: number, rules: Rules): readonly World[] {
  const { activation, lock } = world.processes[index]!
  const waiting = activation?.head.job?.waiting
  if (waiting?.for === "renewal" && lock.phase.name === "owning" && !lock.phase.hold.isAsked)
    return headInput(world, index, { type: "answer", request: waiting.request, answer: { kind: "renewed" } }, rules)
  if (waiting?.for !== "raise" || token <= waiting.above) return [world]
  const answer: HeadInput = { type: "answer", request: waiting.request, answer: { kind: "raised", token } }
  return headInput(raised(world, token), index, answer, rules)
}

/** An activation begins with its claim. */
function begin(world: World, index: number, rules: Rules): readonly World[] {
  const process = world.processes[index]!
  const { phase } = process.lock
  if (phase.name !== "owning" || rules.commits === 0) {
    const blank = { isClaimed: true, log: [], commit: undefined, commits: 0, asked: undefined, hasLeft: false }
    const head = initialHead(settingsOf(process, rules), 1, "")
    return [withProcess(world, index, { activation: { head, ...blank } })]
  }
  const { hold } = phase
  const head = initialHead(settingsOf(process, rules), hold.token, hold.nonce)
  const blank = { isClaimed: false, log: undefined, commit: undefined, asked: undefined, hasLeft: false }
  const activation: CheckedActivation = { head, ...blank, commits: rules.commits }
  const begun = withProcess(ignoring(world, index, "head"), index, { activation })
  return wish(begun, index, { kind: "claim" }, claimWithin, rules)
}

function settingsOf({ lock }: Process, rules: Rules): Parameters<typeof initialHead>[0] {
  const { phase } = lock
  const hold = phase.name === "owning" ? phase.hold : undefined
  return {
    ...{ key: "k", type: "t", version: 1, leases: "s", ttlMs: lock.config.ttl, keep: 0, spacingMs: rules.spacing },
    ...{
      past: hold?.past ?? [],
      left: rules.claimsGranted ? undefined : hold?.note,
      requestMs: requestDeadline(lock.config.ttl),
    },
  }
}

/** A wish about the head. */
export function wish(
  world: World,
  index: number,
  what: Extract<HeadInput, { type: "begin" }>["task"],
  within: number,
  rules: Rules,
): readonly World[] {
  const { mono } = nowOf(world.processes[index]!, world.at, rules.rates[index]!)
  return headInput(world, index, { type: "begin", task: what, until: mono + within }, rules)
}

/** One more commit. */
export function commit(world: World, index: number, rules: Rules): readonly World[] {
  const { activation, id, steps } = world.processes[index]!
  const name = `${id}#c${steps}`
  const log = [...activation!.log!, name]
  const changed = withProcess(world, index, {
    activation: { ...activation!, log, commit: name, commits: activation!.commits - 1 },
  })
  return wish(changed, index, { kind: "commit", saved: savedLog(log) }, rules.commitWithin, rules)
}

/** It leaves: nothing of it is under way. */
export function leave(world: World, index: number, rules: Rules): readonly World[] {
  const activation = world.processes[index]!.activation!
  const note = rules.commits === 0 ? undefined : leftBy(activation.head)
  const leaving = withProcess(world, index, { activation: { ...activation, hasLeft: true } })
  return lockInput(leaving, index, { type: "release", note }, rules)
}

function headInput(world: World, index: number, input: HeadInput, rules: Rules): readonly World[] {
  const process = world.processes[index]!
  const { activation, steps } = process
  if (activation === undefined || rules.commits === 0) return [world]
  const now = nowOf(process, world.at, rules.rates[index]!)
  const { state, commands } = stepHead(activation.head, input, {
    ...{
      at: now.mono,
      draw: now.draw,
      fresh: `${process.id}#h${steps}`,
      held: isHeld(process.lock, now),
      admitted: true,
    },
  })
  fenced(world, process, state)
  const trace = traceOf(state)
  const lock = trace === "none" ? process.lock : traced(process.lock, trace)
  const changed = { activation: { ...activation, head: state }, lock, steps: steps + 1 }
  let worlds: readonly World[] = [withProcess(world, index, changed)]
  for (const command of commands) worlds = worlds.flatMap((next) => headCommand(next, index, command, rules))
  return worlds
}

function headCommand(world: World, index: number, command: HeadCommand, rules: Rules): readonly World[] {
  if (command.type === "ended") return ended(ignoring(world, index, "head"), index, command.outcome, rules)
  if (command.type === "renew") return lockInput(world, index, { type: "renew" }, rules)
  if (command.type === "raise") return lockInput(world, index, { type: "renew", tokenAbove: command.above }, rules)
  return send(ignoring(world, index, "head"), index, { of: "head", command }, rules)
}

function ended(world: World, index: number, outcome: HeadOutcome, rules: Rules): readonly World[] {
  const process = world.processes[index]!
  const activation = process.activation!
  const isDone = outcome.kind === "done"
  if (activation.log === undefined) {
    if (!isDone) return [world]
    const then = activation.isClaimed ? { log: logOf(outcome.before) } : { isClaimed: true }
    const next = withProcess(world, index, { activation: { ...activation, ...then } })
    if (activation.isClaimed) return [next]
    claimed(world, process, activation.head.waitOutMs, rules)
    return wish(next, index, { kind: "waitOut" }, Infinity, rules)
  }
  const { commit: name } = activation
  const settled = withProcess(world, index, { activation: { ...activation, commit: undefined } })
  if (name === undefined) return [settled]
  if (outcome.kind === "rejected") refused(settled, process, name)
  return [isDone ? acknowledged(settled, process, name) : settled]
}

function lockCommand(world: World, index: number, command: Command, rules: Rules): readonly World[] {
  const quiet = withProcess(ignoring(world, index, "lease"), index, { silence: undefined })
  return command.type === "abandon" ? [quiet] : send(quiet, index, { of: "lease", command }, rules)
}

/** A request leaves: each of its fates is a world of its own. */
function send(world: World, index: number, request: CheckedRequest, rules: Rules): readonly World[] {
  const silent = (from: World): World =>
    request.of === "head"
      ? from
      : withProcess(from, index, { silence: from.at + requestDeadline(rules.ttls[index]!) / rules.rates[index]! })
  const posted = (from: World, awaited: boolean): World => {
    const letter: Mail = { ...request, from: index, by: from.processes[index]!.id, awaited }
    return { ...from, mail: [...from.mail, letter] }
  }
  const arrive = (from: World): readonly [World, unknown] => arrived(from, index, request, rules)
  const prompt = (from: World): readonly World[] => {
    const [next, answer] = arrive(from)
    return answered(next, index, request, answer, rules)
  }
  const isWrite = request.command.type !== "read"
  return [
    ...prompt(world),
    ...(may(world, "losses") ? [silent(without(world, "losses"))] : []),
    ...(may(world, "losses") && isWrite ? [silent(arrive(without(world, "losses"))[0])] : []),
    ...(may(world, "delays") ? [silent(posted(without(world, "delays"), true))] : []),
    ...(may(world, "duplicates") && isWrite ? prompt(posted(without(world, "duplicates"), false)) : []),
  ]
}

/** A request takes effect. */
export function arrived(
  world: World,
  index: number,
  request: CheckedRequest | Mail,
  rules: Rules,
): readonly [World, unknown] {
  const [next, answer] = serve(world, request, rules.skews[index] ?? 0, rules)
  if (next === world) return [next, answer]
  if (request.of === "head") stored(world, next, index)
  else wrote(world, next, "by" in request ? request.by : world.processes[index]!.id)
  return [passing(world, next, rules), answer]
}

/** An answer arrives at a process that waits for it. */
export function answered(
  world: World,
  index: number,
  { of, command }: CheckedRequest,
  answer: unknown,
  rules: Rules,
): readonly World[] {
  if (of === "head") {
    const input: HeadInput = { type: "answer", request: command.request, answer: answer as HeadAnswer }
    return headInput(world, index, input, rules)
  }
  const heard = withProcess(world, index, { silence: undefined })
  const type = command.type === "read" ? "read" : "wrote"
  return lockInput(heard, index, { type, id: command.id, answer } as Input, rules)
}

// Walks the whole chart with XState's pure `transition()`, beside a model of the runtime: which commands are under way,
// and so which events can come. What the rules forbid is looked for on every step that can be reached.
import { initialTransition, transition } from "xstate"
import { sandboxChart } from "../../src/actors/chart/chart.ts"
import type { ChartEvent, ChartInput, Refusal, SandboxSnapshot } from "../../src/actors/chart/types.ts"

/** Commands that wait, and so end in an event. */
export type Effect = "backOff" | "acquire" | "restore" | "run" | "settle" | "checkpoint" | "close" | "release"

/** What a runtime that does what it is told would know. */
export interface SandboxRuntime {
  readonly effects: readonly Effect[]
  /** Commands that a limit has ended, though their hooks go on. */
  readonly goesOn: readonly Effect[]
  /** A state was built and not closed. */
  readonly open: boolean
  readonly reported: boolean
  readonly lost: boolean
  readonly aborted: boolean
}

export interface Place {
  readonly snapshot: SandboxSnapshot
  readonly runtime: SandboxRuntime
}

export interface Step {
  readonly from: Place
  readonly event: ChartEvent
  readonly to: Place
  readonly commands: readonly string[]
}

export const leafOf = (snapshot: SandboxSnapshot): string => {
  const [[state, inner]] = Object.entries(snapshot.value) as [[string, string | { work: string }]]
  return `${state}.${typeof inner === "string" ? inner : inner.work}`
}

export const healthOf = ({ value }: SandboxSnapshot): string | undefined => {
  if ("owning" in value) return value.owning.lease
  return "handingOff" in value ? value.handingOff.lease : undefined
}

/** What comes by time alone: a pause is over, or a limit. Those that lead somewhere. */
export const limitsOf = (snapshot: SandboxSnapshot): readonly ChartEvent[] =>
  byTime.filter((event) => sandboxChart.getTransitionData(snapshot, event).length > 0)

const effects: readonly string[] = ["backOff", "acquire", "restore", "run", "settle", "checkpoint", "close", "release"]
const nothing: SandboxRuntime = { effects: [], goesOn: [], open: false, reported: false, lost: false, aborted: false }
const error = new Error("as scripted")
const byTime: readonly ChartEvent[] = [
  { type: "backOff.over" },
  { type: "lock.overran" },
  { type: "work.overran", error },
]
const refusals: readonly Refusal[] = ["contended", "timedOut", "cancelled", "failed"]

/** One of every event there is, and of every variant that the chart tells apart. */
export const allEvents: readonly ChartEvent[] = [
  { type: "backOff.over" },
  { type: "lock.waiting" },
  { type: "lock.overran" },
  { type: "lock.acquired", token: 7 },
  ...refusals.map((how) => ({ type: "lock.refused", how, error }) as const),
  { type: "lock.degraded" },
  { type: "lock.suspect" },
  { type: "lock.recovered" },
  { type: "lock.releaseRequested" },
  { type: "lock.granted" },
  { type: "lock.lost", error },
  ...(["released", "alreadyLost", "unknown"] as const).map((result) => ({ type: "lock.released", result }) as const),
  { type: "leave", reason: "drain" },
  { type: "work.restored", token: 8 },
  { type: "work.failed", error },
  { type: "work.overran", error },
  { type: "work.queued" },
  { type: "work.settled" },
  { type: "work.closed" },
  { type: "checkpoint.stored" },
  { type: "checkpoint.failed", error },
]

/** Which event ends which command. */
const endedBy: Readonly<Record<string, Effect>> = {
  "backOff.over": "backOff",
  "lock.acquired": "acquire",
  "lock.refused": "acquire",
  "work.restored": "restore",
  "work.settled": "settle",
  "work.closed": "close",
  "checkpoint.stored": "checkpoint",
  "checkpoint.failed": "checkpoint",
  "lock.released": "release",
}

const failing = (runtime: SandboxRuntime): Effect | undefined =>
  (["restore", "run"] as const).find((effect) => runtime.effects.includes(effect))

const canCome = ({ runtime, snapshot }: Place, event: ChartEvent): boolean => {
  if (event.type === "leave") return true
  if (event.type === "work.failed") return failing(runtime) !== undefined
  if (event.type === "work.overran") return runtime.effects.some((effect) => limited.includes(effect))
  if (event.type === "lock.overran")
    return runtime.effects.some((effect) => effect === "acquire" || effect === "release")
  if (event.type === "work.queued") return runtime.effects.includes("settle")
  if (event.type === "lock.waiting") return runtime.effects.includes("acquire")
  const ends = endedBy[event.type]
  if (ends !== undefined) return runtime.effects.includes(ends)
  return snapshot.context.token !== undefined // what the lock says of a lease
}

/** Commands that are under way while hooks are which have a limit, or get one when they are asked to end. */
const limited: readonly Effect[] = ["restore", "run", "settle", "checkpoint", "close"]

/** What a limit has ended: its hook goes on, and only `work.settled` says that it does no more. */
const givenUp: readonly Effect[] = ["restore", "checkpoint"]

/**
 * `work.settled`, or `work.queued` before it, also ends what it waited for; a removal builds no state. A restore past
 * its limit may still give one.
 */
const after = (runtime: SandboxRuntime, event: ChartEvent, removal: boolean): SandboxRuntime => {
  const overran = event.type === "work.overran" ? runtime.effects.filter((effect) => givenUp.includes(effect)) : []
  const ended = event.type === "work.failed" ? failing(runtime) : endedBy[event.type]
  const isSettled = event.type === "work.settled" || event.type === "work.queued"
  const left = runtime.effects.filter(
    (effect) =>
      effect !== ended && !overran.includes(effect) && (!isSettled || (effect !== "run" && effect !== "restore")),
  )
  return {
    ...runtime,
    effects: left,
    goesOn: isSettled || event.type === "work.closed" ? [] : [...runtime.goesOn, ...overran],
    reported: runtime.reported || event.type === "work.overran", // the runtime tells of each
    lost: runtime.lost || event.type === "lock.lost",
    open:
      (runtime.open || (event.type === "work.restored" && !removal) || overran.includes("restore")) &&
      event.type !== "work.closed",
  }
}

const obey = (runtime: SandboxRuntime, commands: readonly string[]): SandboxRuntime => ({
  ...runtime,
  effects: [...runtime.effects, ...commands.filter((command): command is Effect => effects.includes(command))],
  reported: runtime.reported || commands.includes("reportFailure"),
  aborted: runtime.aborted || commands.includes("abortWork"),
})

const commandsOf = (actions: readonly { readonly type: string }[]): readonly string[] =>
  actions.map(({ type }) => type).filter((type) => !type.startsWith("xstate."))

const start = (input: ChartInput): Place => {
  const [snapshot, actions] = initialTransition(sandboxChart, input)
  return { snapshot, runtime: obey(nothing, commandsOf(actions)) }
}

const take = (from: Place, event: ChartEvent): Step => {
  const [snapshot, actions] = transition(sandboxChart, from.snapshot, event)
  const commands = commandsOf(actions)
  const runtime = obey(after(from.runtime, event, from.snapshot.context.purpose === "remove"), commands)
  return { from, event, to: { snapshot, runtime }, commands }
}

/** All that can make a difference to what the chart does next. */
export const chartKeyOf = (snapshot: SandboxSnapshot): string => {
  const { leaving, failure, saved, closed, granted, purpose } = snapshot.context
  return JSON.stringify([snapshot.value, leaving, failure?.during, saved, closed, granted, purpose])
}

export const keyOf = ({ snapshot, runtime }: Place): string => `${chartKeyOf(snapshot)} ${JSON.stringify(runtime)}`

/** Every step that can be reached from an input. */
export const walk = (input: ChartInput): readonly Step[] => {
  const queue = [start(input)]
  const seen = new Set(queue.map(keyOf))
  const steps: Step[] = []
  for (const place of queue) {
    if (leafOf(place.snapshot).startsWith("released.")) continue
    for (const event of allEvents.filter((each) => canCome(place, each))) {
      const step = take(place, event)
      steps.push(step)
      if (seen.has(keyOf(step.to))) continue
      seen.add(keyOf(step.to))
      queue.push(step.to)
    }
  }
  return steps
}

/** Where a sandbox ends when nothing is ever heard and only deadlines pass. */
export const silence = (place: Place): string => {
  const leaf = leafOf(place.snapshot)
  const next = limitsOf(place.snapshot)
    .map((deadline) => take(place, deadline).to)
    .find(({ snapshot }) => leafOf(snapshot) !== leaf)
  return next === undefined ? leaf : silence(next)
}

/** A step in one line, for the message of a test that fails. */
export const told = ({ from, event, to, commands }: Step): string =>
  `${leafOf(from.snapshot)} -${event.type}-> ${leafOf(to.snapshot)} [${commands.join()}] under way: [${to.runtime.effects.join()}]`

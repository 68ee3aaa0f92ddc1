/**
 * What it costs to keep 100,000 leases due for renewal, the store left out: CPU per tick (one entry comes due and is
 * armed again) of the shared schedule, against one `setTimeout` each and one XState actor with an `after` each.
 */
import { createActor, setup } from "xstate"
import { liveClock } from "../src/runtime/time/clock.ts"
import { scheduleOf } from "../src/runtime/time/schedule.ts"
import { cpuOf, detail, inTurns, ratio } from "./ratio.ts"

const LEASES = 100_000
/** A third of a ttl, jittered: when a lease is renewed. */
const PERIOD = 2000
const WINDOW = 2000

const due = (): number => PERIOD * (0.9 + Math.random() / 5)

interface Running {
  ticks(): number
  stop(): void
}

function onSchedule(): Running {
  const schedule = scheduleOf(liveClock)
  let ticks = 0
  const wakes = Array.from({ length: LEASES }, () => {
    const wake = schedule.wake((now) => {
      ticks++
      wake.set(now + due())
    })
    wake.set(liveClock.mono() + Math.random() * PERIOD)
    return wake
  })
  return { ticks: () => ticks, stop: () => wakes.forEach((wake) => wake.clear()) }
}

function onTimeouts(): Running {
  let ticks = 0
  const timers: NodeJS.Timeout[] = []
  const arm = (index: number, ms: number): void => {
    timers[index] = setTimeout(() => {
      ticks++
      arm(index, due())
    }, ms)
  }
  for (let index = 0; index < LEASES; index++) arm(index, Math.random() * PERIOD)
  return { ticks: () => ticks, stop: () => timers.forEach((timer) => clearTimeout(timer)) }
}

function onXState(): Running {
  let ticks = 0
  const machine = setup({
    delays: { first: () => Math.random() * PERIOD, due },
    actions: { tick: () => void ticks++ },
  }).createMachine({
    initial: "fresh",
    states: {
      fresh: { after: { first: { target: "renewing", actions: "tick" } } },
      renewing: { after: { due: { target: "renewing", reenter: true, actions: "tick" } } },
    },
  })
  const actors = Array.from({ length: LEASES }, () => createActor(machine).start())
  return { ticks: () => ticks, stop: () => actors.forEach((actor) => actor.stop()) }
}

/** Microseconds of CPU per tick, once all entries have been armed and have come due at least once. */
async function costOf(start: () => Running): Promise<number> {
  const running = start()
  await sleep(PERIOD * 1.2)
  const before = running.ticks()
  const cpu = await cpuOf(() => sleep(WINDOW))
  const ticks = running.ticks() - before
  running.stop()
  await sleep(100)
  return cpu / ticks
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

/** Prints the figures. */
export async function benchSchedule(): Promise<void> {
  const cost = await inTurns(3, {
    schedule: () => costOf(onSchedule),
    timeouts: () => costOf(onTimeouts),
    xstate: () => costOf(onXState),
  })
  detail("schedule", cost.schedule, "µs of CPU per tick")
  detail("setTimeout each", cost.timeouts, "µs of CPU per tick")
  detail("XState after each", cost.xstate, "µs of CPU per tick")
  ratio("schedule-tick/setTimeout", cost.schedule / cost.timeouts, "<=", 0.35)
  ratio("schedule-tick/xstate-after", cost.schedule / cost.xstate, "<=", 0.1)
}

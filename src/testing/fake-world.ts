/**
 * A world of processes that exists in a test only. It has one clock that stands still until it is told to move, one
 * store in memory, and as many processes as the test wants. Each can be made to fail by itself. Nothing in it takes
 * real time.
 *
 * Not promised: that a paused process's promises stand still. Only timers of its clock do.
 */
import type { Incarnation } from "../locks/api/lock.ts"
import { anIncarnation } from "../locks/engine/incarnation.ts"
import { memoryStore } from "../locks/stores/memory-store.ts"
import type { CheckpointStore, LeaseStore } from "../locks/stores/port.ts"
import type { Duration } from "../runtime/input/duration.ts"
import { aNumber, millis, type OptionChecks, refuseUnknown } from "../runtime/input/options.ts"
import type { Clock } from "../runtime/time/clock.ts"
import { VirtualHost } from "../runtime/time/virtual-host.ts"
import { VirtualTime } from "../runtime/time/virtual-time.ts"

/** A process of a `FakeWorld`: an incarnation that contends with the others, on a clock of its own. */
export interface FakeProcess extends Incarnation {
  /** This process's time: pass it to whatever runs in this process and takes a clock. */
  readonly clock: Clock
  /** Stops it as SIGSTOP does: time goes on, nothing of it runs until `resume`. */
  pause(): void
  /** Suspends its machine: as `pause`, but its monotonic clock stands still too. */
  sleep(): void
  /** Ends `pause` or `sleep`: what came due meanwhile runs now. */
  resume(): void
  /** Ends it as SIGKILL does: nothing of it ever runs again. A successor needs an id of its own. */
  kill(): void
  /** Sets its wall clock, by `ms` in either direction. */
  stepWall(ms: number): void
}

/** Made by `fakeWorld`. */
export interface FakeWorld {
  /** The world's time. A stalled event loop of all processes is `clock.stall(ms)`. */
  readonly clock: VirtualTime
  /** What all processes share. */
  readonly store: LeaseStore & CheckpointStore
  /** Lets time pass, and settles all that comes of it. Rejects with what a timer's callback throws. */
  advance(time: Duration): Promise<void>
  /**
   * Lets time pass until the promise settles, and settles as it does. Rejects where nothing is left that could settle
   * it.
   */
  until<A>(promise: PromiseLike<A>): Promise<A>
  /** The process of that id; made at its first mention. Without an id: a new one. */
  process(id?: string): FakeProcess
}

/** How a world is made. */
export interface FakeWorldOptions {
  /** Of all chance in the world: the same seed gives the same run. Default 1. */
  readonly seed?: number
}

const OPTIONS: OptionChecks<FakeWorldOptions> = { seed: aNumber }

/** A new world, without processes and with an empty store. Throws InvalidConfigError. */
export function fakeWorld(options: FakeWorldOptions = {}): FakeWorld {
  refuseUnknown("fakeWorld", options, OPTIONS)
  const { seed = 1 } = options
  return new ProcessWorld(seed)
}

class ProcessWorld implements FakeWorld {
  readonly clock: VirtualTime
  readonly store: LeaseStore & CheckpointStore
  readonly #processes = new Map<string, FakeProcess>()

  constructor(seed: number) {
    this.clock = new VirtualTime({ seed, bootClock: false }) // so that the store's time is what passes for everybody
    this.store = memoryStore({ clock: this.clock })
  }

  async advance(time: Duration): Promise<void> {
    return this.clock.advance(millis("the time to advance by", time))
  }

  until<A>(promise: PromiseLike<A>): Promise<A> {
    return this.clock.runUntil(promise)
  }

  process(id = `process-${this.#processes.size + 1}`): FakeProcess {
    anIncarnation("the process", { id })
    let process = this.#processes.get(id)
    if (process === undefined) {
      process = processOn(id, new VirtualHost(this.clock, { name: id }))
      this.#processes.set(id, process)
    }
    return process
  }
}

function processOn(id: string, host: VirtualHost): FakeProcess {
  return {
    id,
    clock: host,
    pause: () => host.pause(),
    sleep: () => host.sleep(),
    resume: () => host.resume(),
    kill: () => host.kill(),
    stepWall: (ms) => host.stepWall(ms),
  }
}

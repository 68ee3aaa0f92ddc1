/**
 * The lock for tests: the real protocol on a `FakeWorld`, so that a test waits for nothing and two runs are the same.
 */
import type { Incarnation } from "../locks/api/lock.ts"
import { LOCK_OPTIONS, type LockOptions } from "../locks/engine/options.ts"
import { StoreLock } from "../locks/lock/store-lock.ts"
import { anObject, type OptionChecks, refuseUnknown } from "../runtime/input/options.ts"
import type { Clock } from "../runtime/time/clock.ts"
import type { FakeProcess, FakeWorld } from "./fake-world.ts"

/** How a fake lock is made. */
export interface FakeLockOptions extends Omit<LockOptions, "clock" | "incarnation"> {
  /** Where it exists. Locks contend within one world. */
  readonly world: FakeWorld
  /**
   * Whose it is, from `world.process(id)`. Without one: the process `this-process`, the same for all locks of a world.
   */
  readonly incarnation?: FakeProcess | Incarnation
}

const { clock: _clock, ...others } = LOCK_OPTIONS
const OPTIONS: OptionChecks<FakeLockOptions> = {
  ...others,
  world: anObject("Give what fakeWorld() gave", "process", "until"),
}

/**
 * A `Lock` on a simulated clock and a store in memory: all of the protocol, and no real time.
 *
 * @example
 * ```ts
 * const world = fakeWorld()
 * const [a, b] = [world.process("a"), world.process("b")]
 * const lease = await new FakeLock("orders/7", { world, incarnation: a }).acquire()
 * a.kill()
 * const next = await world.until(new FakeLock("orders/7", { world, incarnation: b }).acquire({ timeout: "1 min" }))
 * // next.how is "takeover", next.token is greater than lease.token
 * ```
 */
export class FakeLock extends StoreLock {
  /** Throws InvalidKeyError or InvalidConfigError. */
  constructor(key: string, options: FakeLockOptions) {
    refuseUnknown("FakeLock", options, OPTIONS, ["world"])
    const { world, incarnation = world.process("this-process"), ...rest } = options
    super(key, { ...rest, store: world.store, incarnation, clock: clockOf(world, incarnation) })
  }
}

function clockOf(world: FakeWorld, incarnation: FakeProcess | Incarnation): Clock {
  return "clock" in incarnation ? incarnation.clock : world.clock
}

/**
 * One schedule for all that waits on one clock: entries that come due within the same 10 ms share a bucket, and one
 * timer of the clock waits for the earliest bucket, so that 100,000 renewals don't cost 100,000 timers.
 *
 * An entry is never early and up to 10 ms late (later only where the clock's timers are). Entries that come due together
 * run in the order of their times, then of their `set`.
 */
import { type Clock, delayOf, type Timer } from "./clock.ts"
import { Heap, type HeapItem } from "./heap.ts"

/** The width of a bucket, in ms: the most that the schedule itself makes an entry late. */
const bucketMillis = 10

/** How an entry behaves towards the process. */
export interface WakeOptions {
  /** The wait for it doesn't keep the process alive. */
  readonly background?: boolean
}

/** The entries of one slice of time, in no order. */
class Bucket implements HeapItem {
  position = -1
  readonly end: number
  readonly wakes: Wake[] = []

  constructor(end: number) {
    this.end = end
  }

  add(wake: Wake): void {
    wake.index = this.wakes.push(wake) - 1
    wake.bucket = this
  }

  remove(wake: Wake): void {
    const last = this.wakes.pop()!
    if (last !== wake) {
      this.wakes[wake.index] = last
      last.index = wake.index
    }
    wake.bucket = undefined
  }
}

/** One entry of the schedule, to be set again as often as wanted: at most one call is pending. */
export class Wake {
  readonly callback: () => void
  readonly #schedule: Schedule
  /** @internal Where the schedule keeps it; undefined while it isn't set. */
  bucket: Bucket | undefined
  /** @internal */
  index = 0
  /** @internal The time it is set for, in the clock's monotonic ms. */
  at = 0
  /** @internal */
  sequence = 0
  /** @internal */
  background: boolean

  constructor(schedule: Schedule, callback: () => void, background: boolean) {
    this.#schedule = schedule
    this.callback = callback
    this.background = background
  }

  /** The monotonic time it is set for; undefined while it isn't set. */
  get due(): number | undefined {
    return this.bucket && this.at
  }

  /** Runs the callback once at `atMono` (the clock's monotonic ms; past ones soon), instead of what was set before. */
  set(atMono: number, options?: WakeOptions): void {
    this.#schedule.set(this, delayOf(atMono), options?.background ?? this.background)
  }

  /** Forgets what was set; idempotent. */
  clear(): void {
    this.#schedule.clear(this)
  }
}

const inOrder = (a: Wake, b: Wake): number => a.at - b.at || a.sequence - b.sequence

export class Schedule {
  readonly #clock: Clock
  readonly #buckets = new Map<number, Bucket>()
  readonly #order = new Heap<Bucket>((a, b) => a.end < b.end)
  #sequence = 0
  #size = 0
  #foreground = 0
  #timer: Timer | undefined
  #timerEnd = Infinity
  #timerBackground = false
  #firing = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many entries are set. */
  get size(): number {
    return this.#size
  }

  /** An entry that isn't set yet. `background` is what its `set` means when it doesn't say. */
  wake(callback: () => void, options: WakeOptions = {}): Wake {
    return new Wake(this, callback, options.background ?? false)
  }

  /** @internal Use `Wake.set`. */
  set(wake: Wake, at: number, background: boolean): void {
    this.#takeOut(wake)
    wake.at = at
    wake.background = background
    wake.sequence = this.#sequence++
    this.#size++
    if (!background) this.#foreground++
    this.#bucketOf(at).add(wake)
    this.#rearm()
  }

  /** @internal Use `Wake.clear`. */
  clear(wake: Wake): void {
    if (wake.bucket === undefined) return
    this.#takeOut(wake)
    this.#rearm()
  }

  #bucketOf(at: number): Bucket {
    const rounded = Math.ceil(at / bucketMillis) * bucketMillis
    const end = rounded < at ? rounded + bucketMillis : rounded // the division may have rounded down to a whole number
    let bucket = this.#buckets.get(end)
    if (bucket === undefined) {
      bucket = new Bucket(end)
      this.#buckets.set(end, bucket)
      this.#order.push(bucket)
    }
    return bucket
  }

  #takeOut(wake: Wake): void {
    const { bucket } = wake
    if (bucket === undefined) return
    bucket.remove(wake)
    this.#size--
    if (!wake.background) this.#foreground--
    if (bucket.wakes.length === 0) this.#drop(bucket)
  }

  #drop(bucket: Bucket): void {
    if (bucket.position < 0) return // being fired: out already
    this.#order.remove(bucket)
    this.#buckets.delete(bucket.end)
  }

  /** Keeps one timer armed, for the earliest bucket; it keeps the process alive while any foreground entry is set. */
  #rearm(): void {
    if (this.#firing) return
    const end = this.#order.peek()?.end ?? Infinity
    const background = this.#foreground === 0
    if (this.#timer !== undefined && end === this.#timerEnd && background === this.#timerBackground) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (end === Infinity) return
    this.#timerEnd = end
    this.#timerBackground = background
    this.#timer = this.#clock.after(end - this.#clock.read().mono, () => this.#fire(), { background })
  }

  #fire(): void {
    this.#timer = undefined
    this.#firing = true
    const batch = this.#takeDue()
    let next = 0
    try {
      while (next < batch.length) this.#run(batch[next++]!)
    } finally {
      this.#firing = false
      for (const wake of batch.slice(next)) this.#putBack(wake) // after a throw the others run on the next turn
      this.#rearm()
    }
  }

  /** The entries that are due, in order; each stays in its bucket, which is out of the schedule, until it is run. */
  #takeDue(): Wake[] {
    const now = this.#clock.read().mono
    const batch: Wake[] = []
    for (let first = this.#order.peek(); first !== undefined && first.end <= now; first = this.#order.peek()) {
      this.#drop(first)
      for (const wake of first.wakes) batch.push(wake)
    }
    return batch.sort(inOrder)
  }

  #run(wake: Wake): void {
    if (!isTakenOut(wake)) return
    this.#takeOut(wake)
    wake.callback()
  }

  #putBack(wake: Wake): void {
    if (!isTakenOut(wake)) return
    wake.bucket!.remove(wake)
    this.#bucketOf(wake.at).add(wake)
  }
}

/** Still to run in the present batch: neither cleared nor set anew by an entry that ran before it. */
const isTakenOut = (wake: Wake): boolean => wake.bucket !== undefined && wake.bucket.position < 0

const schedules = new WeakMap<Clock, Schedule>()

/** The clock's one schedule. */
export const scheduleOf = (clock: Clock): Schedule => {
  let schedule = schedules.get(clock)
  if (schedule === undefined) {
    schedule = new Schedule(clock)
    schedules.set(clock, schedule)
  }
  return schedule
}

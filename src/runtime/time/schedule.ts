/**
 * One schedule for all that waits on one clock: entries that come due within the same 10 ms share a bucket, and one
 * timer of the clock waits for the earliest bucket, so that 100,000 renewals don't cost 100,000 timers.
 *
 * An entry is never early and up to 10 ms late (later only where the clock's timers are). Entries of one bucket run in
 * the order in which they were set, whatever their times within it: nothing is sorted.
 */
import { type Clock, delayOf, type Timer } from "./clock.ts"
import { Heap, type HeapItem } from "./heap.ts"

/** The width of a bucket, in ms: the most that the schedule itself makes an entry late. */
const bucketMillis = 10

/** What an entry calls, with the monotonic time at which the entries of its turn began to run. */
export type WakeCallback = (now: number) => void

/** How an entry behaves towards the process. */
export interface WakeOptions {
  /** The wait for it doesn't keep the process alive. */
  readonly background?: boolean
}

/** The entries of one slice of time: a list linked through the entries themselves, in the order of their `set`. */
class Bucket implements HeapItem {
  /** In the schedule's heap; negative once it is due. */
  position = -1
  readonly end: number
  first: Wake | undefined
  #last: Wake | undefined

  constructor(end: number) {
    this.end = end
  }

  add(wake: Wake): void {
    wake.bucket = this
    wake.before = this.#last
    if (this.#last === undefined) this.first = wake
    else this.#last.behind = wake
    this.#last = wake
  }

  remove(wake: Wake): void {
    const { before, behind } = wake
    if (before === undefined) this.first = behind
    else before.behind = behind
    if (behind === undefined) this.#last = before
    else behind.before = before
    wake.bucket = wake.before = wake.behind = undefined
  }
}

/** One entry of the schedule, to be set again as often as wanted: at most one call is pending. */
export class Wake {
  readonly callback: WakeCallback
  readonly #schedule: Schedule
  /** @internal Where it waits; undefined while it isn't set. */
  bucket: Bucket | undefined
  /** @internal Its neighbours in the bucket. */
  before: Wake | undefined
  /** @internal */
  behind: Wake | undefined
  /** @internal The time it is set for, in the clock's monotonic ms. */
  at = 0
  /** @internal */
  background: boolean

  constructor(schedule: Schedule, callback: WakeCallback, background: boolean) {
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

/** What waits on one clock. Get it by `scheduleOf`: two of them on one clock would be two timers. */
export class Schedule {
  readonly #clock: Clock
  readonly #buckets = new Map<number, Bucket>()
  readonly #order = new Heap<Bucket>((a, b) => a.end < b.end)
  /** Out of the two above: what the present turn runs, and what it left behind if an entry threw. */
  #due: Bucket[] = []
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

  /** An entry that isn't set yet. `background` is what its `set` means when it doesn't say, or said before. */
  wake(callback: WakeCallback, options: WakeOptions = {}): Wake {
    return new Wake(this, callback, options.background ?? false)
  }

  /** @internal Use `Wake.set`. */
  set(wake: Wake, at: number, background: boolean): void {
    this.#takeOut(wake)
    wake.at = at
    wake.background = background
    this.#size++
    if (!background) this.#foreground++
    this.#bucketOf(at).add(wake)
    this.#rearm()
  }

  /** @internal Use `Wake.clear`. */
  clear(wake: Wake): void {
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
    if (bucket.first === undefined && bucket.position >= 0) this.#drop(bucket)
  }

  #drop(bucket: Bucket): void {
    this.#order.remove(bucket)
    this.#buckets.delete(bucket.end)
  }

  /** Keeps one timer armed, for the earliest bucket; it keeps the process alive while any foreground entry is set. */
  #rearm(): void {
    if (this.#firing) return
    const end = (this.#due[0] ?? this.#order.peek())?.end ?? Infinity
    const background = this.#foreground === 0
    if (this.#timer !== undefined && end === this.#timerEnd && background === this.#timerBackground) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (end === Infinity) return
    this.#timerEnd = end
    this.#timerBackground = background
    this.#timer = this.#clock.after(end - this.#clock.mono(), this.#fire, { background })
  }

  readonly #fire = (): void => {
    const now = this.#clock.mono()
    this.#timer = undefined
    this.#firing = true
    this.#collectDue(now)
    try {
      this.#runDue(now)
    } finally {
      this.#firing = false
      this.#rearm()
    }
  }

  /** What is set for the past from now on waits for the next turn, so that no entry can starve the others. */
  #collectDue(now: number): void {
    for (let first = this.#order.peek(); first !== undefined && first.end <= now; first = this.#order.peek()) {
      this.#drop(first)
      this.#due.push(first)
    }
  }

  #runDue(now: number): void {
    for (let bucket = this.#due[0]; bucket !== undefined; bucket = this.#due[0]) {
      for (let wake = bucket.first; wake !== undefined; wake = bucket.first) {
        this.#takeOut(wake)
        wake.callback(now)
      }
      this.#due.shift()
    }
  }
}

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

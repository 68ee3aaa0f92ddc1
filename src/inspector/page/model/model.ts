/**
 * All that the page knows: the fleet as it is, or as it was at a moment that one looks back to; and who has to hear of
 * it. Changes are told once a frame, whatever comes in between: a thousand updates a second are sixty tellings.
 */
import { Fleet, type FleetChanges } from "../../live/model/fleet.ts"
import { WIRE_VERSION, type WireMessages } from "../../live/model/wire.ts"
import type { FeedConnection } from "../feed/connection.ts"
import type { FeedSink } from "../feed/feed.ts"
import { every, wallNow } from "../look/clock.ts"
import { timeOfDay } from "../look/format.ts"
import { oncePerFrame } from "../look/frames.ts"
import { History } from "./history.ts"
import { LiveTrends, recordedTrends, type Trends } from "./trends.ts"

/** A part of the page that shows something of it. */
export interface ModelListener {
  /** The fleet is different: at most once a frame. */
  changed?(changes: FleetChanges): void
  /** A second has passed, or one looks at another moment. */
  ticked?(): void
  /** Where its knowledge comes from is different, or which moment one looks at. */
  turned?(): void
}

/** In milliseconds: durations are shown in seconds. */
const TICK = 1000

const EVERYTHING: FleetChanges = { all: true, rows: new Set(), gone: new Set(), workers: true, errors: true }

/** What the page knows. */
export class Model implements FeedSink {
  readonly #live = new Fleet()
  readonly #history = new History()
  readonly #listeners = new Set<ModelListener>()
  readonly #trends = new LiveTrends()
  #recorded: Trends | undefined
  #connection: FeedConnection = { kind: "connecting" }
  /** By how much the worker's clock is ahead of this machine's, in milliseconds. */
  #ahead = 0
  #cursor: number | null = null
  readonly #schedule = oncePerFrame(() => this.#takeChanges())

  /** Ticks as long as the page is open. */
  constructor() {
    every(TICK, () => this.#tick())
  }

  /** The fleet at the moment that one looks at. */
  get fleet(): Fleet {
    return this.#cursor === null ? this.#live : this.#history.at(this.#cursor)
  }

  /** What came in. */
  get history(): History {
    return this.#history
  }

  /** Counts by time. */
  get trends(): Trends {
    if (!this.isRecorded) return this.#trends
    return (this.#recorded ??= recordedTrends(this.#history.lines, this.#history.from ?? 0, this.#history.to ?? 0))
  }

  /** Where the knowledge comes from. */
  get state(): FeedConnection {
    return this.#connection
  }

  /** The moment that one looks back to; null: now. */
  get cursor(): number | null {
    return this.#cursor
  }

  /** Whether time stands still: a trace that was recorded. */
  get isRecorded(): boolean {
    return this.#live.hello?.source === "recorded"
  }

  /** Whether actions are allowed here and now. */
  get canAct(): boolean {
    return this.#live.hello?.actions === true && this.#cursor === null && this.#connection.kind === "live"
  }

  /** The time that is looked at, by the worker's clock, in Unix milliseconds. */
  get now(): number {
    if (this.#cursor !== null) return this.#cursor
    return this.isRecorded ? (this.#history.to ?? 0) : wallNow() + this.#ahead
  }

  /** A time as people read it: of the day where time goes on, in a recorded run seconds from its beginning. */
  timeText(at: number): string {
    if (!this.isRecorded) return timeOfDay(at)
    return `${((at - (this.#history.from ?? at)) / 1000).toFixed(3).replace("-", "−")} s`
  }

  /** Tells this one from now on; the result ends it. */
  listen(listener: ModelListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Looks at another moment; null: at the present one. */
  lookAt(time: number | null): void {
    const [from, to] = [this.#history.from, this.#history.to]
    if (time !== null && (from === null || to === null)) return
    this.#cursor = time === null ? null : Math.min(to!, Math.max(from!, time))
    this.#tell("turned")
    this.#tellChanges(EVERYTHING)
    this.#tell("ticked")
  }

  message<K extends keyof WireMessages>(event: K, message: WireMessages[K]): void {
    if (event === "hello") this.#hello(message as WireMessages["hello"])
    this.#live.apply(event, message)
    this.#history.add(event, message)
    this.#recorded = undefined
    this.#schedule()
  }

  connection(connection: FeedConnection): void {
    this.#connection = connection
    this.#tell("turned")
  }

  #hello({ now, version }: WireMessages["hello"]): void {
    if (version !== WIRE_VERSION) return
    this.#ahead = now - wallNow()
    this.#cursor = null
    this.#trends.clear()
    this.#tell("turned")
  }

  #takeChanges(): void {
    const changes = this.#live.takeChanges()
    if (this.#cursor === null) this.#tellChanges(changes)
  }

  #tick(): void {
    if (!this.isRecorded) {
      this.#live.tick(this.now)
      if (this.#live.isReady && this.#connection.kind === "live") this.#trends.sample(this.now, this.#live.counts)
      this.#schedule()
    }
    this.#tell("ticked")
  }

  #tell(what: "ticked" | "turned"): void {
    for (const listener of this.#listeners) listener[what]?.()
  }

  #tellChanges(changes: FleetChanges): void {
    for (const listener of this.#listeners) listener.changed?.(changes)
  }
}

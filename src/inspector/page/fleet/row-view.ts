/**
 * Which rows are shown, and in which order: kept current row by row, never walked as a whole when something changes.
 * The search and what needs attention also depend on time, so all rows are looked at again bit by bit, a part each
 * frame.
 *
 * Not promised: that a row which comes to match only because time goes by is there at once; a round takes a second.
 */
import { type Attention, attentionOf } from "../../live/model/attention.ts"
import type { Fleet, FleetChanges } from "../../live/model/fleet.ts"
import type { LiveRow } from "../../live/model/live-row.ts"
import type { Search } from "../../live/model/search.ts"
import { TOP_STATES } from "../../live/model/states.ts"
import { ticks } from "../look/clock.ts"
import { RankedSet } from "../model/ranked-set.ts"
import { byKey, type Order } from "./orders.ts"

/** In milliseconds: what is left of a frame of 16 ms after all else is drawn, with room to spare. */
const FRAME_BUDGET = 4

/** Frames in which all rows are looked at again: a second's. */
const ROUND = 60

/** The state of a slot that nobody has. */
const FREE = 255

/** Rows in order, by slot. */
export class RowView {
  #fleet: Fleet
  #search: Search
  #order: Order = byKey
  /** By place in the order: the slot, or -1 where its row is gone. */
  #slots = new Int32Array(0)
  /** By slot: the place, or -1. */
  #places = new Int32Array(0)
  /** By slot: the index of its state, or FREE. */
  #states = new Uint8Array(0)
  /** By slot: whether the search finds it. */
  #matched = new Uint8Array(0)
  readonly #shown = new RankedSet(0)
  readonly #attention = new Map<number, Attention>()
  #touch: (slot: number) => void = () => {}
  #scanned = 0
  /** Slots that are still to be asked anew, as the search is another. */
  #unasked = 0

  /** Of no rows before `take`. */
  constructor(fleet: Fleet, search: Search) {
    this.#fleet = fleet
    this.#search = search
  }

  /** Who draws a slot is told when it looks different. */
  onTouch(touch: (slot: number) => void): void {
    this.#touch = touch
  }

  /** How many slots there are, free ones included. */
  get size(): number {
    return this.#fleet.slots.length
  }

  /** By slot. */
  get states(): Uint8Array {
    return this.#states
  }

  /** How many rows are found. */
  get count(): number {
    return this.#shown.count
  }

  /** Whether the search is still going on. */
  get isBusy(): boolean {
    return this.#unasked > 0
  }

  /** What is wrong with whom. */
  get attention(): ReadonlyMap<number, Attention> {
    return this.#attention
  }

  /** Whether the search finds the row of this slot. */
  matches(slot: number): boolean {
    return this.#matched[slot] === 1
  }

  /** Whether it needs attention. */
  isMarked(slot: number): boolean {
    return this.#attention.has(slot)
  }

  /** The k-th row that is found. */
  rowAt(k: number): LiveRow | undefined {
    const place = this.#shown.select(k)
    return place < 0 ? undefined : this.#fleet.slots[this.#slots[place]!]
  }

  /** Which one this row is of those that are found; -1 where it isn't. */
  indexOf(slot: number): number {
    const place = this.#places[slot] ?? -1
    return place >= 0 && this.#shown.has(place) ? this.#shown.rank(place) : -1
  }

  /** Another search. The rows are asked in the next frames. */
  search(search: Search): void {
    this.#search = search
    this.#unasked = this.size
    this.#scanned = 0
  }

  /** Another order, by what the rows say now. */
  sort(order: Order): void {
    this.#order = order
    this.#arrange(
      this.#slots.filter((slot) => slot >= 0),
      new Int32Array(0),
    )
  }

  /** What changed. */
  take(fleet: Fleet, changes: FleetChanges, now: number): void {
    this.#fleet = fleet
    if (changes.all) this.#forgetAll()
    this.#grow()
    for (const { slot } of changes.gone) this.#remove(slot)
    const rows = changes.all ? fleet.rows() : changes.rows
    const added: number[] = []
    for (const row of rows) {
      if (this.#places[row.slot] === -1) {
        added.push(row.slot)
        this.#places[row.slot] = 0
      }
      this.#look(row, now, added.length === 0)
    }
    if (added.length > 0)
      this.#arrange(
        this.#slots.filter((slot) => slot >= 0),
        Int32Array.from(added),
      )
  }

  /** Looks at some rows again: a part of them, or as many as the frame has room for. */
  scan(now: number): void {
    const { slots } = this.#fleet
    if (slots.length === 0) return
    const end = ticks() + FRAME_BUDGET
    const wanted = this.#unasked > 0 ? slots.length : Math.ceil(slots.length / ROUND)
    for (let done = 0; done < wanted && (done % 64 !== 63 || ticks() < end); done++) {
      this.#scanned = (this.#scanned + 1) % slots.length
      if (this.#unasked > 0) this.#unasked--
      const row = slots[this.#scanned]
      // One that came since the last change was told has no place yet: it is looked at when it gets one.
      if (row !== undefined && this.#places[row.slot]! >= 0) this.#look(row, now, true)
    }
  }

  #look(row: LiveRow, now: number, isPlaced: boolean): void {
    const { slot } = row
    const state = TOP_STATES.indexOf(row.state)
    const matched = this.#search.matches(row, now) ? 1 : 0
    const attention = attentionOf(row, now, this.#fleet)
    const isNews = this.#states[slot] !== state || this.#matched[slot] !== matched
    if (isNews || this.#attention.has(slot) !== (attention !== undefined)) this.#touch(slot)
    this.#states[slot] = state
    this.#matched[slot] = matched
    if (attention === undefined) this.#attention.delete(slot)
    else this.#attention.set(slot, attention)
    if (isPlaced) this.#shown.set(this.#places[slot]!, matched === 1)
  }

  #remove(slot: number): void {
    const place = this.#places[slot] ?? -1
    if (place < 0) return
    this.#shown.set(place, false)
    this.#slots[place] = -1
    this.#places[slot] = -1
    this.#states[slot] = FREE
    this.#matched[slot] = 0
    this.#attention.delete(slot)
    this.#touch(slot)
  }

  /** Merges new slots into those that are in order already. */
  #arrange(known: Int32Array, added: Int32Array): void {
    const { slots } = this.#fleet
    const compare = (a: number, b: number): number => this.#order(slots[a]!, slots[b]!)
    if (added.length === 0) known.sort(compare)
    added.sort(compare)
    const merged = new Int32Array(known.length + added.length)
    let [k, a] = [0, 0]
    for (let place = 0; place < merged.length; place++) {
      const isKnown = a >= added.length || (k < known.length && compare(known[k]!, added[a]!) <= 0)
      const slot = isKnown ? known[k++]! : added[a++]!
      merged[place] = slot
      this.#places[slot] = place
    }
    this.#slots = merged
    this.#shown.fill(merged.length, (place) => this.#matched[merged[place]!] === 1)
  }

  #forgetAll(): void {
    this.#slots = new Int32Array(0)
    this.#places.fill(-1)
    this.#states.fill(FREE)
    this.#matched.fill(0)
    this.#shown.fill(0, () => false)
    this.#attention.clear()
    this.#unasked = 0
  }

  /** By doubling, so that rows that come one after the other are cheap. */
  #grow(): void {
    const known = this.#places.length
    if (this.size <= known) return
    const capacity = Math.max(1024, 2 ** Math.ceil(Math.log2(this.size)))
    const places = new Int32Array(capacity).fill(-1)
    const states = new Uint8Array(capacity).fill(FREE)
    const matched = new Uint8Array(capacity)
    places.set(this.#places)
    states.set(this.#states)
    matched.set(this.#matched)
    this.#places = places
    this.#states = states
    this.#matched = matched
  }
}

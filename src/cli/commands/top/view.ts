/**
 * What the screen shows, and what keys do to it: rows, their order, the selected one, the text that is being typed.
 * Pure, but for what it remembers. It knows no terminal.
 */
import { type Attention, attentionOf } from "../../../inspector/live/model/attention.ts"
import type { LiveRow } from "../../../inspector/live/model/live-row.ts"
import { parseSearch, type Search } from "../../../inspector/live/model/search.ts"
import { TOP_STATES } from "../../../inspector/live/model/states.ts"
import type { TopFeed } from "./feed.ts"
import type { Key } from "./keys.ts"

/** The columns by which rows are sorted. */
export const SORTS = ["attention", "key", "worker", "state", "longest"] as const
export type Sort = (typeof SORTS)[number]

/** The longest search, in characters. */
const LONGEST_SEARCH = 200

/** The view of one user. */
export class TopView {
  readonly #feed: TopFeed
  #sort: Sort = "attention"
  #search: Search = EVERYTHING
  #text: string
  /** The text typed into the search so far; undefined while none is being typed. */
  #typed: string | undefined
  #problem: string | undefined
  #onlyAttention = false
  #rows: readonly LiveRow[] = []
  #attentions: ReadonlyMap<LiveRow, Attention> = new Map()
  #selected: LiveRow | undefined
  #top = 0
  #page = 1

  constructor(feed: TopFeed, text: string) {
    this.#feed = feed
    this.#text = text
    this.#ask(text)
  }

  get sort(): Sort {
    return this.#sort
  }

  /** The search, or the text typed so far. */
  get text(): string {
    return this.#typed ?? this.#text
  }

  get isTyping(): boolean {
    return this.#typed !== undefined
  }

  /** Why the typed text is no search. */
  get problem(): string | undefined {
    return this.#problem
  }

  get onlyAttention(): boolean {
    return this.#onlyAttention
  }

  /** All rows that match. */
  get rows(): readonly LiveRow[] {
    return this.#rows
  }

  get selected(): LiveRow | undefined {
    return this.#selected
  }

  /** The problem of a row. */
  attentionOf(row: LiveRow): Attention | undefined {
    return this.#attentions.get(row)
  }

  /** The first row in sight, and those after it that fit. */
  inSight(count: number): readonly LiveRow[] {
    this.#page = Math.max(1, count)
    const at = this.#index()
    if (at < this.#top) this.#top = at
    if (at >= this.#top + this.#page) this.#top = at - this.#page + 1
    this.#top = Math.max(0, Math.min(this.#top, this.#rows.length - this.#page))
    return this.#rows.slice(this.#top, this.#top + this.#page)
  }

  /** Reads the fleet again. */
  refresh(): void {
    const { fleet } = this.#feed
    const now = this.#feed.now()
    const attentions = new Map<LiveRow, Attention>()
    const rows: LiveRow[] = []
    for (const row of fleet.rows()) {
      if (!this.#search.matches(row, now)) continue
      const attention = attentionOf(row, now, fleet)
      if (attention !== undefined) attentions.set(row, attention)
      else if (this.#onlyAttention) continue
      rows.push(row)
    }
    this.#attentions = attentions
    this.#rows = rows.sort((a, b) => this.#order(a, b))
    const { worker = "", key = "" } = this.#selected ?? {}
    this.#selected = fleet.find(worker, key) ?? this.#rows[Math.min(this.#top, this.#rows.length - 1)]
  }

  /** Does what a key means. Returns whether the user quits. */
  press(key: Key): boolean {
    if (key.name === "interrupt") return true
    if (this.#typed !== undefined) this.#type(this.#typed, key)
    else if (key.name === "text") return this.#command(key.text)
    else this.#move(key.name)
    return false
  }

  #command(text: string): boolean {
    if (text === "q") return true
    if (text === "/") this.#typed = this.#text
    else if (text === "s") this.#sort = SORTS[(SORTS.indexOf(this.#sort) + 1) % SORTS.length]!
    else if (text === "a") this.#onlyAttention = !this.#onlyAttention
    else if (text === "j") this.#move("down")
    else if (text === "k") this.#move("up")
    this.refresh()
    return false
  }

  #move(name: Key["name"]): void {
    const steps: Partial<Record<Key["name"], number>> = {
      ...{ up: -1, down: 1, pageUp: -this.#page, pageDown: this.#page },
      ...{ home: -Infinity, end: Infinity },
    }
    const step = steps[name]
    if (step === undefined) return
    const at = Math.max(0, Math.min(this.#rows.length - 1, this.#index() + step))
    this.#selected = this.#rows[at]
  }

  #type(typed: string, key: Key): void {
    if (key.name === "escape") return this.#stopTyping()
    if (key.name === "enter") return this.#ask(typed)
    if (key.name === "backspace") this.#typed = Array.from(typed).slice(0, -1).join("")
    else if (key.name === "text") this.#typed = `${typed}${key.text}`.slice(0, LONGEST_SEARCH)
  }

  #ask(text: string): void {
    const search = parseSearch(text)
    if ("problem" in search) {
      this.#problem = search.problem
      return
    }
    this.#search = search
    this.#text = text
    this.#stopTyping()
    this.refresh()
  }

  #stopTyping(): void {
    this.#typed = undefined
    this.#problem = undefined
  }

  #index(): number {
    const at = this.#selected === undefined ? 0 : this.#rows.indexOf(this.#selected)
    return at < 0 ? Math.min(this.#top, Math.max(0, this.#rows.length - 1)) : at
  }

  #order(a: LiveRow, b: LiveRow): number {
    const first = this.#first(a, b)
    return first !== 0 ? first : byText(a.key, b.key) || byText(a.worker, b.worker)
  }

  #first(a: LiveRow, b: LiveRow): number {
    switch (this.#sort) {
      case "attention":
        return Number(this.#attentions.has(b)) - Number(this.#attentions.has(a)) || rank(a) - rank(b)
      case "key":
        return byText(a.key, b.key)
      case "worker":
        return byText(a.worker, b.worker)
      case "state":
        return TOP_STATES.indexOf(a.state) - TOP_STATES.indexOf(b.state)
      case "longest":
        return a.since - b.since
    }
  }
}

/** The order of states: those that will change, then those that last, then those that are over. */
const rank = ({ state }: LiveRow): number => ["handingOff", "waiting", "acquiring", "owning", "released"].indexOf(state)

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const EVERYTHING: Search = { isEmpty: true, isTimed: false, matches: () => true }

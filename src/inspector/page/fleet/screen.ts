/** The fleet: how many are in which state, each one as a cell and as a row, what needs attention, the workers. */
import { html, nothing, render } from "lit-html"
import { worstOf } from "../../live/model/attention.ts"
import type { FleetChanges } from "../../live/model/fleet.ts"
import type { LiveRow } from "../../live/model/live-row.ts"
import { parseSearch } from "../../live/model/search.ts"
import { TOP_STATES, type TopState } from "../../live/model/states.ts"
import { visible } from "../../live/visible.ts"
import type { App, Screen } from "../frame/app.ts"
import type { Route } from "../frame/router.ts"
import { count, plural } from "../look/format.ts"
import { onNextFrame } from "../look/frames.ts"
import { icon } from "../look/icons.ts"
import { STATE_WORDS, stateWords } from "../look/state-words.ts"
import type { ModelListener } from "../model/model.ts"
import { HeatMap } from "./heat-map.ts"
import { type Column, ORDERS, reversed } from "./orders.ts"
import { RowList } from "./row-list.ts"
import { RowView } from "./row-view.ts"
import { attentionPanel, errorsPanel, workersPanel } from "./side-panels.ts"
import { StateCards } from "./state-cards.ts"
import { WorkerRates } from "./worker-rates.ts"

/** As many as a person goes through before the first are over. */
const MOST_ATTENTION = 50

const COLUMNS: readonly (readonly [Column, string])[] = [
  ["state", "State"],
  ["key", "Key"],
  ["worker", "Worker"],
  ["since", "For"],
  ["lease", "Lease"],
]

const SEARCH_HINT = "key, worker:a, state:waiting, held>5m"

/** The screen. */
export class FleetScreen implements Screen, ModelListener {
  readonly element = document.createElement("div")
  readonly title = "Fleet"
  readonly #app: App
  readonly #rates = new WorkerRates()
  readonly #view: RowView
  readonly #cards: StateCards
  readonly #heat: HeatMap
  readonly #list: RowList
  readonly #parts: Readonly<Record<"hover" | "found" | "head" | "attention" | "workers" | "errors", HTMLElement>>
  readonly search: HTMLInputElement
  readonly #stop: () => void
  readonly #observer: ResizeObserver
  #text: string
  #sorted: { readonly column: Column; readonly isReversed: boolean } = { column: "key", isReversed: false }
  #problem: string | null = null
  #hasEnded = false

  /** With this search. */
  constructor(app: App, text: string) {
    this.#app = app
    this.#text = text
    this.element.className = "screen fleet"
    const none = parseSearch("")
    if ("problem" in none) throw new Error(none.problem)
    this.#view = new RowView(app.model.fleet, none)
    this.#cards = new StateCards(app, (state) => this.#toggle(state))
    render(skeleton, this.element)
    const part = (name: string): HTMLElement => this.element.querySelector<HTMLElement>(`[data-part="${name}"]`)!
    this.element.prepend(this.#cards.element)
    this.#parts = {
      ...{ hover: part("hover"), found: part("found"), head: part("head") },
      ...{ attention: part("attention"), workers: part("workers"), errors: part("errors") },
    }
    this.search = this.element.querySelector("input")!
    this.search.value = text
    this.search.addEventListener("input", () => this.#type(this.search.value))
    const events = { hover: (slot: number) => this.#hover(slot), open: (slot: number) => this.#openSlot(slot) }
    this.#heat = new HeatMap(this.element.querySelector("canvas")!, this.#view, app.palette(), events)
    this.#list = new RowList(part("list"), this.#view, (row) => this.#open(row))
    this.#view.onTouch((slot) => this.#heat.touch(slot))
    this.#observer = new ResizeObserver(() => this.#resize())
    this.#observer.observe(this.element)
    this.#stop = app.model.listen(this)
    this.changed({ all: true, rows: new Set(), gone: new Set(), workers: true, errors: true })
    if (text !== "") this.#ask()
    this.#hover(-1)
    this.#head()
    this.#frame()
  }

  route(route: Route): boolean {
    if (route.screen !== "fleet") return false
    if (route.search !== this.#text) {
      this.search.value = route.search
      this.#text = route.search
      this.#ask()
    }
    return true
  }

  changed(changes: FleetChanges): void {
    const { model } = this.#app
    this.#view.take(model.fleet, changes, model.now)
    this.#cards.showCounts()
    this.#heat.resize()
    if (changes.all) this.#heat.redraw()
    if (changes.workers) this.#showWorkers()
    if (changes.errors) render(errorsPanel(this.#app, model.fleet.errors), this.#parts.errors)
    this.#showFound()
    this.#list.refresh(model.now)
  }

  ticked(): void {
    const { model } = this.#app
    this.#cards.showTrends()
    this.#showAttention()
    if (model.fleet.workers.size > 0) this.#showWorkers()
    this.#list.refresh(model.now)
  }

  restyle(): void {
    this.#cards.restyle()
    this.#heat.redraw(this.#app.palette())
  }

  end(): void {
    this.#hasEnded = true
    this.#stop()
    this.#observer.disconnect()
    this.#cards.end()
  }

  /** Each frame a part of the rows is looked at again. */
  #frame(): void {
    if (this.#hasEnded) return
    const { count: before, isBusy } = this.#view
    this.#view.scan(this.#app.model.now)
    if (before !== this.#view.count || isBusy) {
      this.#showFound()
      this.#list.refresh(this.#app.model.now)
    }
    onNextFrame(() => this.#frame())
  }

  #resize(): void {
    this.#heat.resize()
    this.#cards.restyle()
    this.#cards.showTrends()
    this.#list.refresh(this.#app.model.now)
  }

  #type(text: string): void {
    this.#text = text
    this.#ask()
    this.#app.go({ screen: "fleet", search: text }, "replace")
  }

  #ask(): void {
    const search = parseSearch(this.#text)
    this.#problem = "problem" in search ? search.problem : null
    if (!("problem" in search)) {
      this.#view.search(search)
      this.#list.toTop()
    }
    this.search.setAttribute("aria-invalid", String(this.#problem !== null))
    this.#cards.showChosen(TOP_STATES.find((state) => this.#words().includes(`state:${state}`)) ?? null)
    this.#showFound()
  }

  #words(): readonly string[] {
    return this.#text.split(" ").filter((word) => word !== "")
  }

  /** The state alone, or all again. Whatever else is searched for stays. */
  #toggle(state: TopState): void {
    const others = this.#words().filter((word) => !word.startsWith("state:"))
    const isOn = this.#words().includes(`state:${state}`)
    this.search.value = [...others, ...(isOn ? [] : [`state:${state}`])].join(" ")
    this.#type(this.search.value)
  }

  #showWorker(worker: string): void {
    this.search.value = /^[\w.-]+$/.test(worker) ? `worker:${worker}` : `worker:"${worker.replaceAll('"', "")}"`
    this.#type(this.search.value)
    this.search.focus()
  }

  #sort(column: Column): void {
    const isReversed = this.#sorted.column === column && !this.#sorted.isReversed
    this.#sorted = { column, isReversed }
    this.#view.sort(isReversed ? reversed(ORDERS[column]) : ORDERS[column])
    this.#head()
    this.#list.toTop()
  }

  #head(): void {
    const { column: sorted, isReversed } = this.#sorted
    const sign = isReversed ? "descending" : "ascending"
    const cells = COLUMNS.map(
      ([column, name]) =>
        html`<div class="cell ${column}" role="columnheader" aria-sort=${column === sorted ? sign : "none"}>
          <button type="button" class="plain" @click=${() => this.#sort(column)}>${name}</button>
        </div>`,
    )
    render(html`<div class="row head" role="row" aria-rowindex="1">${cells}</div>`, this.#parts.head)
  }

  #showFound(): void {
    const { size } = this.#app.model.fleet
    const found = this.#view.count
    const text = this.#text === "" ? plural(size, "sandbox", "sandboxes") : `${count(found)} of ${count(size)}`
    const words = this.#problem ?? (size === 0 ? "No sandbox yet" : text)
    render(html`<span class=${this.#problem === null ? "" : "problem"}>${visible(words)}</span>`, this.#parts.found)
  }

  #showWorkers(): void {
    const { fleet, now } = this.#app.model
    for (const row of fleet.workers.values()) this.#rates.note(now, row)
    render(
      workersPanel(this.#app, this.#rates, (worker) => this.#showWorker(worker)),
      this.#parts.workers,
    )
  }

  #showAttention(): void {
    const { attention } = this.#view
    const found = worstOf(attention.values(), MOST_ATTENTION)
    render(attentionPanel(this.#app, found, attention.size), this.#parts.attention)
  }

  #hover(slot: number): void {
    const row = slot < 0 ? undefined : this.#app.model.fleet.slots[slot]
    const words =
      row === undefined
        ? html`<span class="quiet">One cell a sandbox. Point at one, or use the arrow keys.</span>`
        : html`${icon(row.state, row.state)} <b class="text">${visible(row.key, 160)}</b>
            <span class="quiet">${stateWords(row.parts)} at</span> ${visible(row.worker, 80)}
            ${this.#view.isMarked(slot) ? html`<span class="tag bad">needs attention</span>` : nothing}`
    render(words, this.#parts.hover)
  }

  #openSlot(slot: number): void {
    const row = this.#app.model.fleet.slots[slot]
    if (row !== undefined) this.#open(row)
  }

  #open({ worker, key }: LiveRow): void {
    this.#app.go({ screen: "sandbox", worker, key })
  }
}

const legend = TOP_STATES.map((state) => html`<li>${icon(state, state)} ${STATE_WORDS[state].name}</li>`)

const skeleton = html`<div class="columns">
  <div class="main">
    <div class="search">
      <label
        >${icon("search")}<span class="sr-only">Search sandboxes</span>
        <input
          type="search"
          spellcheck="false"
          autocomplete="off"
          autocapitalize="off"
          placeholder=${SEARCH_HINT}
          aria-describedby="found"
        />
      </label>
      <div id="found" data-part="found" class="found" role="status"></div>
    </div>
    <div class="heat panel">
      <canvas
        tabindex="0"
        role="application"
        aria-roledescription="heat map"
        aria-label="Heat map of sandboxes. Arrow keys move, Enter opens."
      ></canvas>
      <div class="under">
        <p data-part="hover" class="hover" aria-live="polite"></p>
        <ul class="legend" aria-label="Colours">
          ${legend}
        </ul>
      </div>
    </div>
    <div class="list panel" data-part="list" role="grid" tabindex="0" aria-label="Sandboxes">
      <div class="heads" data-part="head" role="rowgroup"></div>
    </div>
  </div>
  <aside aria-label="Attention and workers">
    <div data-part="attention"></div>
    <div data-part="workers"></div>
    <div data-part="errors"></div>
  </aside>
</div>`

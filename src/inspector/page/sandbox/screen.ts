/**
 * The screen of one sandbox at one worker:
 *
 * - its chart, with the current state lit;
 * - its lease as it runs out, and what the store says of it beside what the worker believes;
 * - the chart of the machine that lives in it;
 * - the actions that can be asked for.
 */
import { html, nothing, render, type TemplateResult } from "lit-html"
import { pathsIn } from "../../../draw/machine/paths.ts"
import { whyNotOwned } from "../../live/model/attention.ts"
import type { FleetChanges } from "../../live/model/fleet.ts"
import type { LiveRow } from "../../live/model/live-row.ts"
import type { SandboxDetail } from "../../live/model/wire.ts"
import { sandboxChartSvg } from "../../live/sandbox-chart-svg.ts"
import { visible } from "../../live/visible.ts"
import { type App, link, type Screen } from "../frame/app.ts"
import type { Route } from "../frame/router.ts"
import { isDark } from "../frame/theme.ts"
import { duration } from "../look/format.ts"
import { icon } from "../look/icons.ts"
import { stateWords } from "../look/state-words.ts"
import type { ModelListener } from "../model/model.ts"
import { Actions } from "./actions.ts"
import { ChartView } from "./chart-view.ts"
import { type Comparison, comparisonsOf, type StoreRecord } from "./comparison.ts"
import { edgesOf } from "./edges.ts"
import { LeaseBar } from "./lease-bar.ts"
import { type PanelContext, sandboxPanels } from "./panels.ts"
import { recordedRecord } from "./recorded-record.ts"

/** Where the worker doesn't say: the times that a lease has by default, in milliseconds. */
const USUAL_TTL = 30_000
const USUAL_GUARD = 3000

/** In ticks of a second: a look at the record costs a request to the store. */
const LOOK_EVERY = 2

/** The screen. */
export class SandboxScreen implements Screen, ModelListener {
  readonly element = document.createElement("div")
  readonly title: string
  readonly #app: App
  readonly #worker: string
  readonly #key: string
  readonly #chart = new ChartView("chart")
  readonly #machine = new ChartView("chart machine")
  readonly #lease: LeaseBar
  readonly #actions: Actions
  readonly #parts: Readonly<Record<"top" | "store" | "panels" | "machine" | "facts" | "problem", HTMLElement>>
  readonly #stop: () => void
  #detail: SandboxDetail | null = null
  #detailError: string | null = null
  #isAsking = false
  #ticks = 0

  /** For this sandbox. */
  constructor(app: App, worker: string, key: string) {
    this.#app = app
    this.#worker = worker
    this.#key = key
    this.title = visible(key, 60)
    this.element.className = "screen sandbox"
    this.#lease = new LeaseBar(() => app.model.now)
    this.#actions = new Actions(app, worker, key)
    render(this.#skeleton(), this.element)
    const part = (name: string): HTMLElement => this.element.querySelector<HTMLElement>(`[data-part="${name}"]`)!
    this.#parts = {
      ...{ top: part("top"), store: part("store"), panels: part("panels") },
      ...{ machine: part("machine"), facts: part("facts"), problem: part("problem") },
    }
    this.#chart.show(sandboxChartSvg, isDark())
    this.#chart.element.setAttribute("aria-label", "The chart of a sandbox, with its state lit")
    this.#stop = app.model.listen(this)
    this.#show()
    void this.#look()
  }

  route(route: Route): boolean {
    return route.screen === "sandbox" && route.worker === this.#worker && route.key === this.#key
  }

  changed({ all, rows, workers }: FleetChanges): void {
    const row = this.#row()
    if (!all && !workers && (row === undefined || !rows.has(row))) return
    this.#show()
    if (row !== undefined && rows.has(row)) void this.#look()
  }

  ticked(): void {
    this.#show()
    if (this.#ticks++ % LOOK_EVERY === 0) void this.#look()
  }

  turned(): void {
    this.#show()
  }

  restyle(): void {
    this.#chart.dress(isDark())
    this.#machine.dress(isDark())
  }

  end(): void {
    this.#stop()
    this.#lease.end()
  }

  #row(): LiveRow | undefined {
    return this.#app.model.fleet.find(this.#worker, this.#key)
  }

  /** Asks the worker, one request at a time. */
  async #look(): Promise<void> {
    const { requests, model } = this.#app
    if (
      requests === null ||
      this.#row() === undefined ||
      this.#isAsking ||
      model.cursor !== null ||
      model.state.kind !== "live"
    )
      return
    this.#isAsking = true
    try {
      this.#detail = await requests.detail(this.#worker, this.#key)
      this.#detailError = null
    } catch (error) {
      this.#detailError = error instanceof Error ? error.message : String(error)
    } finally {
      this.#isAsking = false
    }
    this.#show()
  }

  #show(): void {
    const { model } = this.#app
    const row = this.#row()
    render(this.#top(row), this.#parts.top)
    this.element.classList.toggle("gone", row === undefined)
    this.#actions.allow(model.canAct)
    this.#actions.element.hidden = model.fleet.hello?.actions !== true
    if (row === undefined) return this.#lease.show(null)
    this.#showLease(row)
    const taken = edgesOf(row, model.cursor === null ? this.#detail : null)
    this.#chart.light({ states: pathsIn(row.value), ...taken })
    this.#showMachine()
    render(this.#facts(row), this.#parts.facts)
    render(this.#comparison(row), this.#parts.store)
    const context = { app: this.#app, row, detail: this.#detail, now: model.now }
    render(panels(context), this.#parts.panels)
  }

  #showLease({ deadline, worker }: LiveRow): void {
    const known = this.#app.model.fleet.workers.get(worker)
    const times = { ttl: known?.ttl ?? USUAL_TTL, guard: known?.guard ?? USUAL_GUARD }
    this.#lease.show(deadline === null ? null : { deadline, ...times })
  }

  #showMachine(): void {
    const detail = this.#app.model.cursor === null ? this.#detail : null
    const machine = detail?.machine ?? null
    const isShown = machine !== null && this.#machine.show(machine.svg, isDark())
    const problem =
      detail?.machineProblem ?? (machine !== null && !isShown ? "What the worker sent is no drawing." : null)
    this.#parts.machine.hidden = !isShown && problem === null
    this.#machine.element.hidden = !isShown
    render(problem === null ? nothing : html`<p class="problem">${visible(problem, 400)}</p>`, this.#parts.problem)
    if (isShown) this.#machine.light({ states: pathsIn(machine.value), edges: new Map(), last: new Set() })
  }

  #top(row: LiveRow | undefined): TemplateResult {
    const { model } = this.#app
    const back = link(this.#app, { screen: "fleet", search: "" }, html`${icon("back")} Fleet`, "back")
    const heading = html`<h1 class="text" title=${visible(this.#key, 2000)}>${visible(this.#key, 300)}</h1>`
    if (row === undefined) {
      return html`${back}${heading}
        <p class="why">
          Worker <b class="text">${visible(this.#worker, 80)}</b> has no such
          sandbox${model.cursor === null ? "" : " at this time"}.
        </p>`
    }
    return html`${back}${heading}
      <p class="why">
        <span class="chip ${row.state}">${icon(row.state)} ${stateWords(row.parts)}</span>
        for ${duration(model.now - row.since)} at worker <b class="text">${visible(this.#worker, 80)}</b>.
        ${row.state === "owning" ? nothing : visible(whyNotOwned(row, model.now, model.fleet), 500)}
      </p>`
  }

  #facts(row: LiveRow): TemplateResult {
    const waiter = row.waiterId === null ? "nobody" : (this.#app.model.fleet.nameOf(row.waiterId) ?? row.waiterId)
    const record = this.#record(row)
    const facts: [string, string, string][] = [
      ["Token", row.token === null ? "none yet" : String(row.token), "The fencing token: it grows with every owner"],
      ["Generation", record?.generation ?? "unknown", "The store's identity of this version of the record"],
      ["Owned for", row.ownedSince === null ? "not owned here" : duration(this.#app.model.now - row.ownedSince), ""],
      ["Waiter", waiter, "Who was told to the owner as the next one"],
      ["Handoffs", `${row.handoffs} in five minutes`, "How often the key has changed hands here, either way"],
    ]
    if (row.leaving !== null) facts.push(["Leaves", row.leaving, "Why it was asked to leave"])
    if (row.stuck !== null) facts.push(["Stuck in", row.stuck, "The hook that goes on past its limit"])
    return html`<dl class="facts wide">
      ${facts.map(
        ([name, value, hint]) =>
          html`<div>
            <dt title=${hint}>${name}</dt>
            <dd class="text">${visible(value, 80)}</dd>
          </div>`,
      )}
    </dl>`
  }

  #record(row: LiveRow): StoreRecord | null | undefined {
    const { model } = this.#app
    if (model.isRecorded || model.cursor !== null) return recordedRecord(model.history.lines, row.key, model.now)
    const store = this.#detail?.store
    return store == null || "error" in store ? (store === null ? null : undefined) : store
  }

  #comparison(row: LiveRow): TemplateResult {
    const { model } = this.#app
    const record = this.#record(row)
    const told = this.#detail?.store
    const problem = this.#detailError ?? (told != null && "error" in told ? told.error : null)
    if (record === undefined) {
      const why =
        model.isRecorded || model.cursor !== null
          ? "This trace doesn't tell what the store had."
          : (problem ?? "The store is being asked.")
      return html`<p class=${problem === null ? "quiet" : "problem"}>${visible(why, 400)}</p>`
    }
    const rows = comparisonsOf(row, record, model.fleet)
    const differing = rows.filter(({ verdict }) => verdict === "differs").length
    return html`<table class="compare">
        <thead>
          <tr>
            <th></th>
            <th scope="col">Worker believes</th>
            <th scope="col">Store says</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map((each) => this.#comparisonRow(each))}
        </tbody>
      </table>
      <p class=${differing === 0 ? "quiet" : "problem"} role="status">
        ${record === null ? "The store has no record of it." : differing === 0 ? "They agree where both know." : "They differ where it is marked."}
        ${record === null ? nothing : html`Looked at ${model.timeText(record.at)}.`}
      </p>`
  }

  #comparisonRow({ name, worker, store, verdict }: Comparison): TemplateResult {
    const words = (value: string | null): string => {
      if (value === null) return "–"
      return name === "expires" ? this.#app.model.timeText(Number(value)) : visible(value, 80)
    }
    return html`<tr class=${verdict}>
      <th scope="row">
        ${name}${verdict === "differs" ? html` ${icon("warning", "bad")}<span class="sr-only"> differs</span>` : nothing}
      </th>
      <td class="text">${words(worker)}</td>
      <td class="text">${words(store)}</td>
    </tr>`
  }

  #skeleton(): TemplateResult {
    const fit = ({ currentTarget }: Event): void => {
      const isWhole = this.#chart.element.classList.toggle("fit")
      if (currentTarget instanceof Element) currentTarget.setAttribute("aria-pressed", String(isWhole))
    }
    return html`<div data-part="top" class="top"></div>
      <div class="columns">
        <div class="main">
          <section class="panel" aria-label="Lease">
            <h2>Lease</h2>
            ${this.#lease.element}
            <div data-part="facts"></div>
          </section>
          <section class="panel" aria-label="Chart">
            <h2>Chart <button type="button" class="aside" aria-pressed="false" @click=${fit}>Whole</button></h2>
            ${this.#chart.element}
          </section>
          <section class="panel" aria-label="The machine in it" data-part="machine" hidden>
            <h2>The machine in it</h2>
            <div data-part="problem"></div>
            ${this.#machine.element}
          </section>
        </div>
        <aside aria-label="Record and events">
          <section class="panel">
            <h2>Store and worker</h2>
            <div data-part="store"></div>
          </section>
          ${this.#actions.element}
          <div data-part="panels"></div>
        </aside>
      </div>`
  }
}

const panels = (context: PanelContext): readonly TemplateResult[] =>
  sandboxPanels
    .filter((panel) => panel.isFor(context))
    .map(
      (panel) =>
        html`<section class="panel" data-panel=${panel.id}>
          <h2>${panel.title}</h2>
          ${panel.show(context)}
        </section>`,
    )

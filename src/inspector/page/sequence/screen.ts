/** What happened to one key, from top to bottom: worker, store, worker, with answers, refusals, handoffs and gaps. */
import { html, nothing, render, svg, type TemplateResult } from "lit-html"
import { type Sequence, type SequenceItem, sequenceOf } from "../../live/model/sequence.ts"
import { visible } from "../../live/visible.ts"
import type { App, Screen } from "../frame/app.ts"
import type { Route } from "../frame/router.ts"
import { count, duration, plural } from "../look/format.ts"
import { spoken } from "../look/line-words.ts"
import type { ModelListener } from "../model/model.ts"

/** Items at first, and how many more a click shows: as many as a browser lays out at once. */
const PAGE = 250

/** Keys that are suggested: a list of more is no help. */
const SUGGESTED = 200

/** In characters. */
const TEXT_LENGTH = 220

/** The screen. */
export class SequenceScreen implements Screen, ModelListener {
  readonly element = document.createElement("div")
  readonly search: HTMLInputElement
  readonly #app: App
  readonly #stop: () => void
  readonly #body: HTMLElement
  readonly #keys: HTMLElement
  #key: string
  #shown = PAGE
  #withHeartbeats = false
  #isStale = true
  #drawnLines = -1

  /** Of this key; empty: which one is asked for. */
  constructor(app: App, key: string) {
    this.#app = app
    this.#key = key
    this.element.className = "screen sequence"
    render(this.#skeleton(), this.element)
    this.search = this.element.querySelector("input")!
    this.#body = this.element.querySelector<HTMLElement>('[data-part="body"]')!
    this.#keys = this.element.querySelector("datalist")!
    this.search.value = key
    this.#stop = app.model.listen(this)
    this.#suggest()
    this.#draw()
  }

  get title(): string {
    return this.#key === "" ? "Sequence" : `Sequence of ${visible(this.#key, 60)}`
  }

  route(route: Route): boolean {
    if (route.screen !== "sequence") return false
    if (route.key !== this.#key) this.#choose(route.key)
    return true
  }

  changed(): void {
    this.#isStale = true
  }

  ticked(): void {
    this.#suggest()
    if (this.#isStale) this.#draw()
  }

  turned(): void {
    this.#isStale = true
    this.#draw()
  }

  end(): void {
    this.#stop()
  }

  #choose(key: string): void {
    this.#key = key
    this.search.value = key
    this.#shown = PAGE
    this.#isStale = true
    this.#draw()
  }

  #suggest(): void {
    const keys = new Set<string>()
    for (const { key } of this.#app.model.fleet.rows()) {
      if (keys.size >= SUGGESTED) break
      if (key.length <= TEXT_LENGTH) keys.add(key)
    }
    if (keys.size !== this.#keys.childElementCount)
      render(
        [...keys].sort().map((key) => html`<option value=${key}></option>`),
        this.#keys,
      )
  }

  #draw(): void {
    const { model } = this.#app
    const { lines } = model.history
    if (!this.#isStale && lines.length === this.#drawnLines) return
    this.#isStale = false
    this.#drawnLines = lines.length
    if (this.#key === "") {
      render(html`<p class="quiet empty">Give a key to see what happened to it.</p>`, this.#body)
      return
    }
    const until = model.cursor
    const seen = until === null ? lines : lines.filter((line) => "at" in line && Number(line.at) <= until)
    const sequence = sequenceOf(seen, this.#key, { heartbeats: this.#withHeartbeats })
    render(this.#picture(sequence), this.#body)
  }

  #picture(sequence: Sequence): TemplateResult {
    const { items, left } = sequence
    if (items.length === 0)
      return html`<p class="quiet empty">
        Nothing is known of this key${this.#app.model.isRecorded ? "" : " since this page was opened"}.
      </p>`
    const columns = columnsOf(sequence)
    const hidden = Math.max(0, items.length - this.#shown)
    const more = (): void => {
      this.#shown += PAGE
      this.#isStale = true
      this.#draw()
    }
    return html`<div class="seq" .style=${`--columns: ${columns.length}`}>
      <div class="seq-head" aria-hidden="true">
        <span>time</span>
        <div class="lanes">
          ${columns.map((name) => html`<b class=${name === STORE ? "store" : "text"}>${name === STORE ? "store" : visible(name, 24)}</b>`)}
        </div>
        <span>what</span>
      </div>
      ${
        hidden + left > 0
          ? html`<p class="quiet more">
              ${plural(hidden + left, "earlier item")}
              ${hidden > 0 ? html`<button type="button" @click=${more}>Show ${count(Math.min(PAGE, hidden))} more</button>` : nothing}
            </p>`
          : nothing
      }
      <ol aria-label="Sequence">
        ${items.slice(-this.#shown).map((item) => this.#item(item, columns))}
      </ol>
    </div>`
  }

  #item(item: SequenceItem, columns: readonly string[]): TemplateResult {
    if (item.kind === "gap") {
      const quiet = item.quiet === 0 ? "" : `, with ${plural(item.quiet, "heartbeat")}`
      return html`<li class="gap"><span>${duration(item.ms)} without news${quiet}</span></li>`
    }
    return html`<li class=${classOf(item)}>
      <time>${this.#app.model.timeText(item.at)}</time>
      <div class="lanes" aria-hidden="true"><svg>${guides(columns)}${drawing(item, columns)}</svg></div>
      <p>${words(item)}</p>
    </li>`
  }

  #skeleton(): TemplateResult {
    const submit = (event: Event): void => {
      event.preventDefault()
      this.#app.go({ screen: "sequence", key: this.search.value })
    }
    const onChange = (event: Event): void => {
      this.#withHeartbeats = event.target instanceof HTMLInputElement && event.target.checked
      this.#isStale = true
      this.#draw()
    }
    return html`<form class="search" @submit=${submit}>
        <label
          ><span class="sr-only">Key</span>
          <input
            type="search"
            list="keys"
            placeholder="key, such as counter/user-42"
            spellcheck="false"
            autocomplete="off"
            @change=${submit}
          />
        </label>
        <datalist id="keys"></datalist>
        <label class="check"><input type="checkbox" @change=${onChange} /> heartbeats</label>
      </form>
      <section class="panel" data-part="body" aria-label="What happened"></section>`
  }
}

/** The store's column. No worker has this name: it isn't visible text. */
const STORE = "\0store"

/** The store stands among the workers, so that arrows are short. */
function columnsOf({ workers }: Sequence): readonly string[] {
  const half = Math.ceil(workers.length / 2)
  return [...workers.slice(0, half), STORE, ...workers.slice(half)]
}

const classOf = (item: SequenceItem): string => {
  if (item.kind === "request") return `request ${item.fate}`
  return item.kind === "event" && item.isBad ? "event bad" : item.kind
}

const place = (name: string | null, columns: readonly string[]): number => {
  const index = name === null ? -1 : columns.indexOf(name)
  return index < 0 ? -1 : (100 * (index + 0.5)) / columns.length
}

const guides = (columns: readonly string[]): readonly TemplateResult[] =>
  columns.map((name) => {
    const x = `${place(name, columns)}%`
    return svg`<line class=${name === STORE ? "guide store" : "guide"} x1=${x} x2=${x} y1="0" y2="100%"/>`
  })

function drawing(item: SequenceItem, columns: readonly string[]): TemplateResult | typeof nothing {
  if (item.kind === "handoff") {
    const [from, to] = [place(item.from, columns), place(item.to, columns)]
    return from < 0 ? dot(to, "handoff") : arrow(from, to, "50%", "handoff")
  }
  if (item.kind === "request") {
    const [from, to] = [place(item.worker, columns), place(STORE, columns)]
    const back = item.answer === null ? nothing : arrow(to, from, "68%", `answer ${item.fate}`)
    return svg`${arrow(from, to, "32%", `asked ${item.fate}`)}${back}`
  }
  if (item.kind === "fault" && item.worker === null)
    return svg`<line class="fault" x1="0" x2="100%" y1="50%" y2="50%"/>`
  return item.kind === "gap" ? nothing : dot(place(item.worker, columns), item.kind)
}

const dot = (x: number, className: string): TemplateResult | typeof nothing =>
  x < 0 ? nothing : svg`<circle class=${className} cx=${`${x}%`} cy="50%" r="4"/>`

/** The head is a nested drawing, as points of a path can't be given in per cent. */
function arrow(from: number, to: number, y: string, className: string): TemplateResult {
  const head = to > from ? "M-7-4 0 0-7 4" : "M7-4 0 0 7 4"
  return svg`<line class=${className} x1=${`${from}%`} x2=${`${to}%`} y1=${y} y2=${y}/>
    <svg class="head" x=${`${to}%`} y=${y}><path class=${className} d=${head}/></svg>`
}

function words(item: Exclude<SequenceItem, { kind: "gap" }>): TemplateResult {
  const text = (value: string): string => visible(value, TEXT_LENGTH)
  switch (item.kind) {
    case "request": {
      const took = item.answeredAt === null ? "no answer" : text(item.answer ?? "")
      const sign = item.fate === "refused" ? html`<span class="tag warn">412</span> ` : nothing
      return html`<span class="tag">${visible(item.worker, 40)}</span> <code>${text(item.text)}</code> ${sign}<span
          class="quiet"
          >${took}</span
        >`
    }
    case "event":
      return html`<span class="tag">${visible(item.worker, 40)}</span> ${spoken(item.text)}`
    case "handoff":
      return html`<b>${item.how === "takeover" ? "taken over" : "handed over"}</b> from
        <b class="text">${item.from === null ? "?" : visible(item.from, 60)}</b> to
        <b class="text">${visible(item.to, 60)}</b>
        <span class="quiet"
          >${item.ms === null ? item.how : `${item.how}, ${duration(item.ms)} without an owner`}</span
        >`
    case "fault":
      return html`<span class="tag bad">${item.worker === null ? "all" : visible(item.worker, 40)}</span>
        ${text(item.text)}`
  }
}

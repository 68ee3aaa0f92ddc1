/**
 * The fleet over time: a lane for each sandbox of each worker, requests above them, faults shaded, and the moment that
 * is looked at. Dragging moves that moment; all other screens show the fleet as it was then. Below it the lines up to
 * that moment.
 */
import { html, nothing, render, type TemplateResult } from "lit-html"
import { isTraceLine } from "../../../trace/trace-text.ts"
import type { TraceLine, UnknownLine } from "../../../trace/trace.ts"
import { Lanes } from "../../live/model/lanes.ts"
import { visible } from "../../live/visible.ts"
import { type App, link, type Screen } from "../frame/app.ts"
import type { Route } from "../frame/router.ts"
import { ticks } from "../look/clock.ts"
import { count, duration } from "../look/format.ts"
import { onNextFrame } from "../look/frames.ts"
import { lineWords } from "../look/line-words.ts"
import type { ModelListener } from "../model/model.ts"
import { LaneCanvas } from "./lane-canvas.ts"
import { Span } from "./span.ts"

/** Of a live fleet the last so many milliseconds are shown at first. */
const FIRST_SPAN = 60_000

/** Of the lines at the moment that is looked at. */
const LINES = 80

/** In milliseconds between drawings of a live fleet: lanes move by a pixel in 60 ms. */
const REDRAW = 100

/** The screen. */
export class TimelineScreen implements Screen, ModelListener {
  readonly element = document.createElement("div")
  readonly title = "Timeline"
  readonly search: HTMLInputElement
  readonly #app: App
  readonly #stop: () => void
  readonly #canvas: LaneCanvas
  readonly #parts: Readonly<Record<"hover" | "lines" | "range", HTMLElement>>
  readonly #observer: ResizeObserver
  #lanes = new Lanes()
  #span: Span
  #taken = 0
  #filter = ""
  #drawnAt = 0
  #hasEnded = false

  /** Of all workers. */
  constructor(app: App) {
    this.#app = app
    this.element.className = "screen timeline"
    render(this.#skeleton(), this.element)
    const part = (name: string): HTMLElement => this.element.querySelector<HTMLElement>(`[data-part="${name}"]`)!
    this.#parts = { hover: part("hover"), lines: part("lines"), range: part("range") }
    this.search = this.element.querySelector("input")!
    this.search.addEventListener("input", () => this.#choose(this.search.value))
    this.#take()
    this.#span = this.#wholeSpan()
    this.#canvas = new LaneCanvas(part("canvas"), app.palette(), {
      scrub: (time) => app.model.lookAt(this.#isEnd(time) ? null : time),
      hover: (words) => this.#hover(words),
      open: (worker, key) => app.go({ screen: "sandbox", worker, key }),
      zoom: (factor, around) => this.#zoom(factor, around),
      pan: (share) => this.#move(share),
    })
    this.#observer = new ResizeObserver(() => this.#draw())
    this.#observer.observe(this.element)
    this.#stop = app.model.listen(this)
    this.#hover(null)
    this.#draw()
    this.#showLines()
    this.#frame()
  }

  route(route: Route): boolean {
    return route.screen === "timeline"
  }

  turned(): void {
    this.#take()
    this.#draw()
    this.#showLines()
  }

  ticked(): void {
    if (this.#app.model.cursor === null) this.#showLines()
  }

  changed(): void {
    if (!this.#app.model.isRecorded) return
    this.#take()
    if (this.#span.isFollowing) this.#span = this.#wholeSpan()
    this.#draw()
    this.#showLines()
  }

  restyle(): void {
    this.#canvas.restyle(this.#app.palette())
  }

  end(): void {
    this.#hasEnded = true
    this.#stop()
    this.#observer.disconnect()
    this.#canvas.end()
  }

  /** A live fleet moves on by itself. */
  #frame(): void {
    if (this.#hasEnded) return
    if (!this.#app.model.isRecorded && ticks() - this.#drawnAt >= REDRAW) {
      this.#take()
      this.#draw()
    }
    onNextFrame(() => this.#frame())
  }

  /** Adds the lines that are new. After a resync all are. */
  #take(): void {
    const { history } = this.#app.model
    const total = history.dropped + history.lines.length
    if (total < this.#taken || history.from === null) {
      this.#lanes = new Lanes()
      this.#taken = history.dropped
    }
    for (const line of history.lines.slice(Math.max(0, this.#taken - history.dropped))) this.#lanes.add(line)
    this.#taken = total
  }

  #wholeSpan(): Span {
    const { model } = this.#app
    const { from, to } = this.#lanes.span
    return model.isRecorded ? Span.whole(from, Math.max(from + 1, to)) : Span.last(FIRST_SPAN)
  }

  #draw(): void {
    if (this.#hasEnded) return
    const { model } = this.#app
    this.#drawnAt = ticks()
    const { from, to } = this.#span.at(
      model.isRecorded ? (model.history.to ?? 0) : Math.max(model.now, this.#lanes.span.to),
    )
    const view = this.#lanes.view(from, to, this.#filter === "" ? undefined : this.#filter)
    this.#canvas.draw(view, {
      cursor: model.cursor,
      mark: this.#app.mark,
      origin: this.#origin(),
    })
    const words = `${model.timeText(from)} – ${model.timeText(to)} (${duration(to - from)})`
    if (this.#parts.range.textContent !== words) this.#parts.range.textContent = words
  }

  /** A recorded run is read in seconds from its beginning. */
  #origin(): number | null {
    return this.#app.model.isRecorded ? this.#lanes.span.from : null
  }

  #isEnd(time: number): boolean {
    return !this.#app.model.isRecorded && time >= this.#app.model.now - 250
  }

  #zoom(factor: number, around: number | null): void {
    const { model } = this.#app
    const end = model.isRecorded ? (model.history.to ?? 0) : model.now
    this.#span = this.#span.zoomed(factor, around ?? model.cursor, end, this.#lanes.span.from)
    this.#draw()
  }

  #move(part: number): void {
    const { model } = this.#app
    this.#span = this.#span.moved(part, model.isRecorded ? (model.history.to ?? 0) : model.now, this.#lanes.span.from)
    this.#draw()
  }

  #choose(filter: string): void {
    this.#filter = filter
    this.#draw()
    this.#showLines()
  }

  #hover(words: string | null): void {
    const text =
      words === null
        ? html`<span class="quiet"
            >Point at anything to read it. Drag to look back in time; wheel with Ctrl, + and − zoom.</span
          >`
        : visible(words, 300)
    render(html`${text}`, this.#parts.hover)
  }

  #showLines(): void {
    const { model, mark } = this.#app
    const lines = this.#linesBefore(model.now)
    const rows = lines.map((line) => this.#row(line))
    const violation =
      mark === null
        ? nothing
        : html`<p class="violation" role="alert">
            ${visible(mark.message, 1000)}
            <button type="button" @click=${() => model.lookAt(mark.at)}>Look at ${model.timeText(mark.at)}</button>
          </p>`
    render(
      html`${violation}
        <h2>Lines until ${model.timeText(model.now)} <span class="badge">${count(lines.length)}</span></h2>
        <div class="scroll" tabindex="0" role="region" aria-label="Lines, the latest first">
          <table class="lines-table">
            <thead>
              <tr>
                <th scope="col">time</th>
                <th scope="col">worker</th>
                <th scope="col">key</th>
                <th scope="col">what</th>
              </tr>
            </thead>
            <tbody>
              ${rows}
            </tbody>
          </table>
        </div>`,
      this.#parts.lines,
    )
  }

  #linesBefore(until: number): readonly TraceLine[] {
    const { lines } = this.#app.model.history
    const found: TraceLine[] = []
    for (let at = lines.length - 1; at >= 0 && found.length < LINES; at--) {
      const line: TraceLine | UnknownLine = lines[at]!
      if (!isTraceLine(line) || line.at > until) continue
      if (this.#filter !== "" && !("key" in line && line.key === this.#filter)) continue
      found.push(line)
    }
    return found
  }

  #row(line: TraceLine): TemplateResult {
    const key = "key" in line && line.key !== undefined ? line.key : null
    const time = this.#app.model.timeText(line.at)
    const isBad = line.kind === "fault" || ("error" in line && line.error !== undefined)
    return html`<tr class=${isBad ? "bad" : line.kind}>
      <td>
        <button type="button" class="plain" title="Look at this moment" @click=${() => this.#app.model.lookAt(line.at)}>
          ${time}
        </button>
      </td>
      <td class="text">${visible(line.worker ?? "", 40)}</td>
      <td class="text">
        ${key === null ? nothing : line.worker === null ? visible(key, 80) : link(this.#app, { screen: "sandbox", worker: line.worker, key }, visible(key, 80))}
      </td>
      <td>${lineWords(line)}</td>
    </tr>`
  }

  #skeleton(): TemplateResult {
    const zoom = (factor: number) => (): void => this.#zoom(factor, null)
    return html`<div class="search">
        <label
          ><span class="sr-only">Only this key</span
          ><input type="search" placeholder="only this key" spellcheck="false" autocomplete="off"
        /></label>
        <span class="range" data-part="range"></span>
        <span class="buttons" role="group" aria-label="Part of the time">
          <button type="button" aria-label="Earlier" @click=${() => this.#move(-0.5)}>←</button>
          <button type="button" aria-label="Zoom out" @click=${zoom(2)}>−</button>
          <button type="button" aria-label="Zoom in" @click=${zoom(0.5)}>+</button>
          <button type="button" aria-label="Later" @click=${() => this.#move(0.5)}>→</button>
          <button type="button" @click=${() => this.#reset()}>All</button>
        </span>
      </div>
      <div class="panel lanes-panel">
        <div data-part="canvas"></div>
        <p class="hover" data-part="hover" aria-live="polite"></p>
      </div>
      <section class="panel" data-part="lines" aria-label="Lines"></section>`
  }

  #reset(): void {
    this.#span = this.#wholeSpan()
    this.#draw()
  }
}

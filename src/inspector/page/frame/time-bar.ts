/** The moment that is looked at: how to go back in time, play from there, and come back to the present. */
import { html, nothing, render } from "lit-html"
import { ticks } from "../look/clock.ts"
import { duration } from "../look/format.ts"
import { onNextFrame } from "../look/frames.ts"
import { icon } from "../look/icons.ts"
import type { ModelListener } from "../model/model.ts"
import type { App } from "./app.ts"

/** Steps of the slider: as many as a wide window has pixels. */
const STEPS = 2000

/** A recorded run is played in at most this many milliseconds, and not slower than it was. */
const LONGEST_PLAY = 30_000

/** The bar. Hidden while one looks at the present of a live fleet, but on the timeline. */
export class TimeBar implements ModelListener {
  readonly element = document.createElement("div")
  readonly #app: App
  #isWanted = false
  #playing: { readonly from: number; readonly since: number; readonly speed: number } | null = null

  /** For this page. */
  constructor(app: App) {
    this.#app = app
    this.element.className = "time-bar"
    app.model.listen(this)
    this.turned()
  }

  /** Whether the screen has to do with time. */
  want(isWanted: boolean): void {
    this.#isWanted = isWanted
    this.turned()
  }

  turned(): void {
    this.#draw()
  }

  ticked(): void {
    if (!this.element.hidden) this.#draw()
  }

  /** To the line before the moment, or after it. */
  step(by: -1 | 1): void {
    const { model } = this.#app
    const { lines } = model.history
    const now = model.now
    const isNext = (at: number): boolean => (by < 0 ? at < now : at > now)
    const found = by < 0 ? lines.findLast((line) => isNext(timeOf(line))) : lines.find((line) => isNext(timeOf(line)))
    if (found !== undefined) model.lookAt(timeOf(found))
    else if (by > 0) model.lookAt(null)
  }

  /** Begins to play, or stops. */
  play(): void {
    const { model } = this.#app
    const { from, to } = model.history
    if (this.#playing !== null || from === null || to === null) {
      this.#playing = null
      return this.#draw()
    }
    const start = model.cursor === null || model.cursor >= to ? from : model.cursor
    const speed = model.isRecorded ? Math.max(1, (to - from) / LONGEST_PLAY) : 1
    this.#playing = { from: start, since: ticks(), speed }
    model.lookAt(start)
    this.#frame()
  }

  #frame(): void {
    const { model } = this.#app
    if (this.#playing === null) return
    const { from, since, speed } = this.#playing
    const time = from + (ticks() - since) * speed
    const isOver = time >= (model.history.to ?? 0)
    model.lookAt(isOver ? null : time)
    if (isOver) this.play()
    else onNextFrame(() => this.#frame())
  }

  #seek(event: Event): void {
    const { from, to } = this.#app.model.history
    if (!(event.target instanceof HTMLInputElement) || from === null || to === null) return
    this.#playing = null
    const part = Number(event.target.value) / STEPS
    this.#app.model.lookAt(part >= 1 ? null : from + part * (to - from))
  }

  #draw(): void {
    const { model } = this.#app
    const { from, to } = model.history
    this.element.hidden =
      from === null || to === null || (!this.#isWanted && !model.isRecorded && model.cursor === null)
    if (this.element.hidden || from === null || to === null) return
    const { now } = model
    const part = to === from ? STEPS : Math.round(((now - from) / (to - from)) * STEPS)
    const time = model.timeText(now)
    const ago =
      model.cursor === null
        ? model.isRecorded
          ? "the end"
          : "now"
        : model.isRecorded
          ? `of ${((to - from) / 1000).toFixed(1)} s`
          : `${duration(to - now)} ago`
    render(
      html`<span class="buttons" role="group" aria-label="Steps in time">
          <button type="button" aria-label="One line back" title="One line back ([)" @click=${() => this.step(-1)}>
            ${icon("back")}
          </button>
          <button
            type="button"
            aria-label=${this.#playing === null ? "Play" : "Pause"}
            title="Play (Space)"
            @click=${() => this.play()}
          >
            ${icon(this.#playing === null ? "play" : "pause")}
          </button>
          <button type="button" aria-label="One line on" title="One line on (])" @click=${() => this.step(1)}>
            ${icon("next")}
          </button>
        </span>
        <input
          type="range"
          min="0"
          max=${STEPS}
          .value=${String(Math.min(STEPS, part))}
          aria-label="Moment"
          aria-valuetext=${`${time}, ${ago}`}
          @input=${(event: Event) => this.#seek(event)}
        />
        <output><b>${time}</b> <span class="quiet">${ago}</span></output>
        ${model.cursor === null || model.isRecorded ? nothing : html`<button type="button" class="primary" @click=${() => model.lookAt(null)}>Back to live</button>`}`,
      this.element,
    )
  }
}

const timeOf = (line: object): number => ("at" in line && typeof line.at === "number" ? line.at : 0)

/** How many sandboxes are in each state, now and over the last minutes. A click searches for them. */
import { TOP_STATES, type TopState } from "../../live/model/states.ts"
import type { App } from "../frame/app.ts"
import { count } from "../look/format.ts"
import { IconElement } from "../look/icons.ts"
import { STATE_WORDS } from "../look/state-words.ts"
import { Sparkline } from "./sparkline.ts"

/** The row of cards. */
export class StateCards {
  readonly element = document.createElement("div")
  readonly #app: App
  readonly #cards: readonly Card[]

  /** `onToggle` is told which state was clicked. */
  constructor(app: App, onToggle: (state: TopState) => void) {
    this.#app = app
    this.element.className = "cards"
    this.element.setAttribute("role", "group")
    this.element.setAttribute("aria-label", "Sandboxes by state")
    this.#cards = TOP_STATES.map((state, index) => new Card(state, app.palette().css[index]!, onToggle))
    this.element.append(...this.#cards.map(({ element }) => element))
  }

  /** The counts are others. */
  showCounts(): void {
    for (const card of this.#cards) card.showCount(this.#app.model.fleet.counts[card.state])
  }

  /** A second has passed. */
  showTrends(): void {
    const { times, counts } = this.#app.model.trends
    this.#cards.forEach((card, index) => card.showTrend(times, counts[index] ?? []))
  }

  /** Which one is searched for. */
  showChosen(chosen: TopState | null): void {
    for (const card of this.#cards) card.showChosen(card.state === chosen)
  }

  /** Other colours or widths. */
  restyle(): void {
    const { css } = this.#app.palette()
    this.#cards.forEach((card, index) => card.restyle(css[index]!))
  }

  /** Takes the pictures away. */
  end(): void {
    for (const card of this.#cards) card.end()
  }
}

class Card {
  readonly element = document.createElement("button")
  readonly state: TopState
  readonly #count = document.createElement("strong")
  readonly #trend: Sparkline

  constructor(state: TopState, colour: string, onToggle: (state: TopState) => void) {
    this.state = state
    const { name, meaning } = STATE_WORDS[state]
    const sign = new IconElement()
    sign.show(state)
    const label = document.createElement("span")
    label.className = "label"
    label.textContent = name
    const picture = document.createElement("span")
    picture.className = "trend"
    picture.setAttribute("aria-hidden", "true")
    this.element.className = `card state-card ${state}`
    this.element.type = "button"
    this.element.title = `${meaning}. Click to show these alone.`
    this.element.append(sign.element, label, this.#count, picture)
    this.element.addEventListener("click", () => onToggle(state))
    this.#trend = new Sparkline(picture, colour)
    this.showCount(0)
    this.showChosen(false)
  }

  showCount(value: number): void {
    const text = count(value)
    if (this.#count.textContent !== text) this.#count.textContent = text
  }

  showTrend(times: readonly number[], values: readonly number[]): void {
    this.#trend.show(times, values)
  }

  showChosen(isChosen: boolean): void {
    this.element.setAttribute("aria-pressed", String(isChosen))
  }

  restyle(colour: string): void {
    this.#trend.restyle(colour)
  }

  end(): void {
    this.#trend.end()
  }
}

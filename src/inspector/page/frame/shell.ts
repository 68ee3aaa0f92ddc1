/**
 * Around every screen: the name, the ways to the screens, how the page is connected, and what a person has to know or
 * do.
 */
import { html, nothing, render, type TemplateResult } from "lit-html"
import { visible } from "../../live/visible.ts"
import { connectionAdvice, connectionName } from "../feed/connection.ts"
import { plural } from "../look/format.ts"
import { icon } from "../look/icons.ts"
import type { ModelListener } from "../model/model.ts"
import { type App, link } from "./app.ts"
import type { Route } from "./router.ts"
import { theme } from "./theme.ts"

/** What its buttons do. */
export interface RuntimeActions {
  help(): void
  theme(): void
  retry(): void
}

const THEME_ICONS = { auto: "half", light: "sun", dark: "moon" } as const
const THEME_WORDS = { auto: "as the system", light: "light", dark: "dark" } as const

/** The header and the banners. */
export class Shell implements ModelListener {
  readonly header = document.createElement("header")
  readonly banners = document.createElement("div")
  readonly #app: App
  readonly #actions: RuntimeActions
  #route: Route = { screen: "fleet", search: "" }
  #left = 0

  /** For this page. */
  constructor(app: App, actions: RuntimeActions) {
    this.#app = app
    this.#actions = actions
    this.header.className = "header"
    this.banners.className = "banners"
    app.model.listen(this)
  }

  /** Which screen is shown. */
  show(route: Route): void {
    this.#route = route
    this.turned()
  }

  turned(): void {
    render(this.#header(), this.header)
    render(this.#banners(), this.banners)
  }

  changed(): void {
    const silent = this.#silent()
    if (silent !== this.#left) {
      this.#left = silent
      this.turned()
    }
  }

  #silent(): number {
    return [...this.#app.model.fleet.workers.values()].filter(({ problem }) => problem !== null).length
  }

  #header(): TemplateResult {
    const { model } = this.#app
    const { state } = model
    const title = model.fleet.hello?.title ?? null
    const { screen } = this.#route
    const to = (route: Route, name: string): TemplateResult =>
      link(
        this.#app,
        route,
        html`<span
          aria-current=${route.screen === screen || (screen === "sandbox" && route.screen === "fleet") ? "page" : nothing}
          >${name}</span
        >`,
      )
    return html`<a class="skip" href="#main" @click=${skip}>To the content</a>
      <span class="name"
        >${logo}<b>leasehold</b>${title === null ? nothing : html`<span class="quiet text">${visible(title, 120)}</span>`}</span
      >
      <nav aria-label="Screens">
        ${to({ screen: "fleet", search: "" }, "Fleet")} ${to({ screen: "timeline" }, "Timeline")}
        ${to({ screen: "sequence", key: screen === "sandbox" && "key" in this.#route ? this.#route.key : "" }, "Sequence")}
      </nav>
      <span class="status ${model.cursor === null ? state.kind : "past"}" role="status"
        ><i aria-hidden="true"></i>${model.cursor === null ? connectionName(state) : "Looking back"}</span
      >
      <button
        type="button"
        class="plain square"
        title="Colours: ${THEME_WORDS[theme()]} (d)"
        aria-label="Colours: ${THEME_WORDS[theme()]}"
        @click=${() => this.#actions.theme()}
      >
        ${icon(THEME_ICONS[theme()])}
      </button>
      <button
        type="button"
        class="plain square"
        title="Keys and searches (?)"
        aria-label="Keys and searches"
        @click=${() => this.#actions.help()}
      >
        ?
      </button>`
  }

  #banners(): TemplateResult {
    const { state } = this.#app.model
    const advice = connectionAdvice(state)
    const isBad = state.kind !== "loading"
    const again = state.kind === "lost" || state.kind === "refused"
    const silent = this.#silent()
    return html`${
      advice === null
        ? nothing
        : html`<p class="banner ${isBad ? "bad" : ""}" role=${isBad ? "alert" : "status"}>
            ${isBad ? icon("warning") : nothing}<span>${visible(advice, 500)}</span>
            ${again ? html`<button type="button" @click=${() => this.#actions.retry()}>Try again now</button>` : nothing}
            ${state.kind === "version" ? html`<button type="button" @click=${() => location.reload()}>Reload</button>` : nothing}
          </p>`
    }
    ${silent === 0 ? nothing : html`<p class="banner">${icon("warning")}<span>Nothing is known of ${plural(silent, "worker")}: the list of workers says why.</span></p>`}`
  }
}

function skip(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>("#main")?.focus()
}

const logo = html`<svg class="logo" viewBox="0 0 20 20" aria-hidden="true">
  <path d="M3.5 3v14h13M8 13V7.5a2.7 2.7 0 0 1 5.4 0V13" />
</svg>`

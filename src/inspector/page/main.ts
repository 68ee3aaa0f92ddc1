/**
 * The page begins here: where its knowledge comes from, which screen is shown, and what keys do. The token of its
 * address goes into memory alone: not into what this page stores, links to, or shows.
 */
import { html, render } from "lit-html"
import type { Feed } from "./feed/feed.ts"
import { LiveFeed } from "./feed/live-feed.ts"
import { RecordedFeed, recordingOf } from "./feed/recording.ts"
import { PageRequests } from "./feed/requests.ts"
import { FleetScreen } from "./fleet/screen.ts"
import type { App, Screen } from "./frame/app.ts"
import { HelpSheet } from "./frame/help.ts"
import { followKeys } from "./frame/keys.ts"
import { formatRoute, parseRoute, type Route } from "./frame/router.ts"
import { Shell } from "./frame/shell.ts"
import { followTheme, turnTheme } from "./frame/theme.ts"
import { TimeBar } from "./frame/time-bar.ts"
import { type Palette, readPalette } from "./look/palette.ts"
import { Model } from "./model/model.ts"
import { SandboxScreen } from "./sandbox/screen.ts"
import { SequenceScreen } from "./sequence/screen.ts"
import { TimelineScreen } from "./timeline/screen.ts"

/** The page as a whole. */
class LivePage implements App {
  readonly model = new Model()
  readonly requests: PageRequests | null
  readonly mark: App["mark"]
  readonly #feed: Feed
  readonly #shell: Shell
  readonly #timeBar: TimeBar
  readonly #help = new HelpSheet()
  readonly #main = document.createElement("main")
  readonly #said = document.createElement("div")
  #palette: Palette
  #screen: Screen | undefined

  constructor() {
    const recording = recordingOf(document)
    const token = new URLSearchParams(location.search).get("token") ?? ""
    this.requests = recording === null ? new PageRequests(token) : null
    this.#feed = this.requests === null ? new RecordedFeed(recording!) : new LiveFeed(this.requests)
    this.mark = recording?.violation ?? null
    this.#palette = readPalette()
    const actions = { help: () => this.#help.toggle(), theme: () => this.#turnTheme(), retry: () => this.#feed.retry() }
    this.#shell = new Shell(this, actions)
    this.#timeBar = new TimeBar(this)
    this.#main.id = "main"
    this.#main.tabIndex = -1
    this.#said.className = "sr-only"
    this.#said.setAttribute("role", "status")
    document.body.replaceChildren(
      this.#shell.header,
      this.#shell.banners,
      this.#timeBar.element,
      this.#main,
      this.#help.element,
      this.#said,
    )
    followTheme(() => this.#restyle())
    followKeys(this, {
      ...actions,
      search: () => this.#screen?.search?.focus(),
      step: (by) => this.#timeBar.step(by),
      play: () => this.#timeBar.play(),
      leave: () => this.go({ screen: "fleet", search: "" }),
    })
    addEventListener("popstate", () => this.#show(parseRoute(location.hash)))
    addEventListener("hashchange", () => this.#show(parseRoute(location.hash)))
  }

  /** Shows what the address says. */
  start(): void {
    this.#feed.start(this.model)
    if (this.mark === null || location.hash !== "") return this.#show(parseRoute(location.hash))
    this.model.lookAt(this.mark.at)
    this.#show({ screen: "timeline" })
  }

  palette(): Palette {
    return this.#palette
  }

  go(route: Route, how?: "replace"): void {
    const address = formatRoute(route) ?? location.hash
    if (how === "replace") history.replaceState(null, "", address)
    else {
      history.pushState(null, "", address)
      this.#show(route)
    }
  }

  announce(text: string): void {
    this.#said.textContent = text
  }

  #show(route: Route): void {
    this.#shell.show(route)
    this.#timeBar.want(route.screen === "timeline" || route.screen === "sequence")
    if (this.#screen?.route?.(route) === true) return this.#name()
    const isFirst = this.#screen === undefined
    this.#screen?.end()
    this.#screen = this.#make(route)
    this.#main.replaceChildren(this.#screen.element)
    // What measures itself can do so only now that it has a place.
    this.#screen.restyle?.()
    this.#name()
    scrollTo(0, 0)
    if (!isFirst) this.announce(this.#screen.title)
  }

  #name(): void {
    document.title = `${this.#screen?.title ?? ""} · leasehold`
  }

  #make(route: Route): Screen {
    switch (route.screen) {
      case "fleet":
        return new FleetScreen(this, route.search)
      case "sandbox":
        return new SandboxScreen(this, route.worker, route.key)
      case "sequence":
        return new SequenceScreen(this, route.key)
      case "timeline":
        return new TimelineScreen(this)
    }
  }

  #turnTheme(): void {
    turnTheme()
    this.#restyle()
  }

  #restyle(): void {
    this.#palette = readPalette()
    this.#shell.turned()
    this.#screen?.restyle?.()
  }
}

/** A page that can't begin says so: an empty one would tell nothing. */
try {
  new LivePage().start()
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error)
  render(
    html`<main class="screen">
      <h1>This page could not begin</h1>
      <p>${reason}</p>
    </main>`,
    document.body,
  )
  throw error
}

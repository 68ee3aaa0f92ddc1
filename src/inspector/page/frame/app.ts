/** What every screen of the page is given, and what it has to be. */
import { html, type TemplateResult } from "lit-html"
import type { Mark } from "../../live/recording.ts"
import type { PageRequests } from "../feed/requests.ts"
import type { Palette } from "../look/palette.ts"
import type { Model } from "../model/model.ts"
import { formatRoute, type Route } from "./router.ts"

/** The page, as its screens see it. */
export interface App {
  readonly model: Model
  /** Null where there is no worker to ask: a trace that was recorded. */
  readonly requests: PageRequests | null
  /** A moment of a recorded trace that matters: what went wrong. */
  readonly mark: Mark | null
  /** The colours, for what is drawn on a canvas. */
  palette(): Palette
  /** Shows another screen. `replace`: without a step back to this one. */
  go(route: Route, how?: "replace"): void
  /** Says it to who hears the page. */
  announce(text: string): void
}

/** One screen. It is made when it is shown, and ends when another one is. */
export interface Screen {
  readonly element: HTMLElement
  /** What the window is called. */
  readonly title: string
  /** The route is another one of the same screen. False: make a new screen. */
  route?(route: Route): boolean
  /** Colours or sizes are others. */
  restyle?(): void
  /** Where typing goes after `/`. */
  readonly search?: HTMLInputElement
  end(): void
}

/** A link to a screen. One that has no address works by a click alone. */
export function link(app: App, route: Route, content: unknown, className: string = ""): TemplateResult {
  const onClick = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    app.go(route)
  }
  return html`<a class=${className} href=${formatRoute(route) ?? "#/"} @click=${onClick}>${content}</a>`
}

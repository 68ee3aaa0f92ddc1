/** Small pictures, drawn here so that they look the same on every machine: one for each state, and some signs. */
import { nothing, svg, type TemplateResult } from "lit-html"
import type { TopState } from "../../live/model/states.ts"

/** By name: paths in a square of 16. */
const PATHS = {
  acquiring: "M8 2.2a5.8 5.8 0 1 0 5.8 5.8M8 2.2V8",
  waiting: "M4.5 2.5h7M4.5 13.5h7M5.2 2.5c0 3.4 5.6 4 5.6 11M10.8 2.5c0 3.4-5.6 4-5.6 11",
  owning: "M8 2.6a5.4 5.4 0 1 1 0 10.8 5.4 5.4 0 0 1 0-10.8zM5.7 8.1l1.7 1.7 3.1-3.4",
  handingOff: "M2.4 5.6h10.4M10.2 3l2.6 2.6-2.6 2.6M13.6 10.6H3.2M5.8 8l-2.6 2.6 2.6 2.6",
  released: "M8 2.6a5.4 5.4 0 1 1 0 10.8 5.4 5.4 0 0 1 0-10.8z",
  warning: "M8 2.2 14.4 13.4H1.6zM8 6.4v3.2M8 11.5v.2",
  search: "M7 2.6a4.4 4.4 0 1 1 0 8.8 4.4 4.4 0 0 1 0-8.8zM10.3 10.3l3.3 3.3",
  sun: "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M12.8 3.2l-1.1 1.1M4.3 11.7l-1.1 1.1",
  moon: "M13.2 9.6A5.8 5.8 0 0 1 6.4 2.8a5.8 5.8 0 1 0 6.8 6.8z",
  half: "M8 2.2a5.8 5.8 0 1 1 0 11.6zM8 2.2a5.8 5.8 0 0 0 0 11.6",
  back: "M9.8 3.4 5.2 8l4.6 4.6",
  next: "M6.2 3.4 10.8 8l-4.6 4.6",
  play: "M5 3.2 12.4 8 5 12.8z",
  pause: "M5.4 3.4v9.2M10.6 3.4v9.2",
  cross: "M4 4l8 8M12 4l-8 8",
} as const satisfies Record<TopState, string> & Record<string, string>

/** Which of them there are. */
export type IconName = keyof typeof PATHS

/** One of them. It says nothing to who hears the page: what it stands beside does. */
export const icon = (name: IconName, className: string = ""): TemplateResult =>
  svg`<svg class=${`icon ${className}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false"><path d=${PATHS[name] ?? nothing} /></svg>`

const NAMESPACE = "http://www.w3.org/2000/svg"

/** The same as an element, whose picture can be changed. */
export class IconElement {
  readonly element: SVGSVGElement
  readonly #path: SVGPathElement

  /** Shows nothing at first. */
  constructor() {
    this.element = document.createElementNS(NAMESPACE, "svg")
    this.element.setAttribute("viewBox", "0 0 16 16")
    this.element.setAttribute("aria-hidden", "true")
    this.#path = document.createElementNS(NAMESPACE, "path")
    this.element.append(this.#path)
  }

  /** Shows this one. */
  show(name: IconName): void {
    this.element.setAttribute("class", `icon ${name}`)
    this.#path.setAttribute("d", PATHS[name])
  }
}

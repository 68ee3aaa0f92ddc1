/**
 * A chart with the states lit that are active, the last edge marked, and at each edge how often it was taken. The
 * drawing has hooks for that: `data-state` and `data-edge`. It stands in a shadow root, so that styles of two charts
 * don't meet.
 */
import { count } from "../look/format.ts"
import type { EdgeTimes, TakenEdges } from "./edges.ts"
import { safeSvg } from "./safe-svg.ts"

/** What is lit. */
export interface ChartLight extends TakenEdges {
  /** Paths of active states, outermost too: `owning`, `owning.work.running`. */
  readonly states: ReadonlySet<string>
}

/** Beyond what the drawing's own style says. */
const OWN_STYLE = `
:host { display: block; }
svg { display: block; margin: 0 auto; }
:host(.fit) svg { max-width: 100%; height: auto; }
.times { font: 600 10px system-ui, sans-serif; fill: var(--ink); paint-order: stroke; stroke: var(--card); stroke-width: 4px; }
.link:has(.edge.last) > .line { stroke-dasharray: 7 5; animation: run 0.9s linear infinite; }
@keyframes run { to { stroke-dashoffset: -12; } }
@media (prefers-reduced-motion: reduce) { .link:has(.edge.last) > .line { animation: none; } }
`

/** One drawing, shown in an element. */
export class ChartView {
  readonly element = document.createElement("div")
  readonly #root: ShadowRoot
  readonly #own = sheetOf(OWN_STYLE)
  #sheet: CSSStyleSheet | undefined
  #svg: SVGSVGElement | undefined
  #text: string | undefined
  #followed = ""

  /** Shows nothing before `show`. */
  constructor(className: string) {
    this.element.className = className
    this.#root = this.element.attachShadow({ mode: "open" })
  }

  /** Shows this drawing. False where it is none that can be shown. */
  show(text: string, isDark: boolean): boolean {
    if (text !== this.#text) {
      this.#text = text
      const safe = safeSvg(text)
      this.#svg = safe?.element
      this.#sheet = safe === null ? undefined : sheetOf(safe.style)
      this.#root.adoptedStyleSheets = this.#sheet === undefined ? [] : [this.#sheet, this.#own]
      this.#root.replaceChildren(...(this.#svg === undefined ? [] : [this.#svg]))
    }
    this.dress(isDark)
    return this.#svg !== undefined
  }

  /**
   * Light or dark by the page's choice, where the drawing goes by the viewer's. To be called once it is in the page,
   * too.
   */
  dress(isDark: boolean): void {
    for (const rule of this.#sheet?.cssRules ?? []) {
      if (!(rule instanceof CSSMediaRule)) continue
      const scheme = /^(all|not all)$|prefers-color-scheme/.test(rule.media.mediaText)
      if (scheme) rule.media.mediaText = isDark ? "all" : "not all"
    }
    this.#follow()
  }

  /** Lights it. */
  light({ states, edges, last }: ChartLight): void {
    for (const element of this.#all("[data-state]"))
      element.classList.toggle("lit", states.has(element.getAttribute("data-state") ?? ""))
    for (const element of this.#all("[data-edge]")) {
      const id = element.getAttribute("data-edge") ?? ""
      element.classList.toggle("last", last.has(id))
      this.#times(element, edges.get(id))
    }
    this.#follow()
  }

  /**
   * What is lit comes into sight, when it is another. The page itself stays where it is. Outside the page nothing has a
   * place.
   */
  #follow(): void {
    if (!this.element.isConnected) return
    const lit = [...this.#all(".leaf.lit")]
    const names = lit.map((element) => element.getAttribute("data-state")).join(" ")
    const first = lit.find((element) => element.getAttribute("data-state")?.includes(".work.")) ?? lit[0]
    if (names === this.#followed || first === undefined) return
    this.#followed = names
    const [box, room] = [first.getBoundingClientRect(), this.element.getBoundingClientRect()]
    this.element.scrollBy({
      left: box.left + box.width / 2 - room.left - room.width / 2,
      top: box.top + box.height / 2 - room.top - room.height / 2,
    })
  }

  #times(edge: Element, times: EdgeTimes | undefined): void {
    const known = edge.querySelector(".times")
    if (times === undefined) return known?.remove()
    const text = `${times.isSure ? "×" : "≤"}${count(times.most)}`
    if (known !== null) {
      if (known.textContent !== text) known.textContent = text
      return
    }
    const label = [...edge.querySelectorAll("text")].at(-1)
    if (label === undefined) return
    const numberOf = (name: string): number => Number(label.getAttribute(name) ?? 0)
    const element = document.createElementNS("http://www.w3.org/2000/svg", "text")
    element.setAttribute("class", "times")
    element.setAttribute("x", String(numberOf("x") + numberOf("textLength") + 5))
    element.setAttribute("y", String(numberOf("y")))
    element.textContent = text
    edge.append(element)
  }

  #all(selector: string): Iterable<Element> {
    return this.#svg?.querySelectorAll(selector) ?? []
  }
}

function sheetOf(css: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  return sheet
}

/**
 * The list of sandboxes: as many elements as are seen, filled with whatever rows are there. 100,000 rows scroll as 40
 * do. It is a grid to who hears the page; arrows, Page Up and Down, Home and End move, Enter opens.
 *
 * Not promised: the browser's own search finds only what is seen. The page's search finds all.
 */
import type { LiveRow } from "../../live/model/live-row.ts"
import { visible } from "../../live/visible.ts"
import { duration } from "../look/format.ts"
import { oncePerFrame } from "../look/frames.ts"
import { IconElement } from "../look/icons.ts"
import { STATE_WORDS, stateWords } from "../look/state-words.ts"
import type { RowView } from "./row-view.ts"

/** How high a row is, in CSS pixels; page.css has the same. */
const ROW_HEIGHT = 30

/** Rows above and below what is seen, so that quick scrolling shows no gap. */
const MARGIN = 6

/** In characters: beyond this a key isn't read in a list. */
const KEY_LENGTH = 160

/** The list is as high as its rows, up to a height that page.css names; that is below so many rows. */
const ROWS_OF_STYLE = 1000

/** Browsers lay out at most some 33 million pixels; a list of a million rows stays below. */
const HIGHEST = 30_000_000

/** The list in one element that scrolls. */
export class RowList {
  readonly #scroller: HTMLElement
  readonly #spacer: HTMLElement
  readonly #view: RowView
  readonly #open: (row: LiveRow) => void
  readonly #cells: RowCells[] = []
  #chosen = -1
  readonly #schedule = oncePerFrame(() => this.#draw())
  #now = 0

  /** `scroller` becomes the list. */
  constructor(scroller: HTMLElement, view: RowView, open: (row: LiveRow) => void) {
    this.#scroller = scroller
    this.#view = view
    this.#open = open
    this.#spacer = document.createElement("div")
    this.#spacer.className = "rows"
    this.#spacer.setAttribute("role", "rowgroup")
    scroller.append(this.#spacer)
    scroller.addEventListener("scroll", () => this.#schedule(), { passive: true })
    scroller.addEventListener("keydown", (event) => this.#onKey(event))
    scroller.addEventListener("focus", () => this.#choose(Math.max(0, this.#chosenIndex())))
    scroller.addEventListener("click", (event) => this.#onClick(event))
  }

  /** Rows changed, or time went by. */
  refresh(now: number): void {
    this.#now = now
    this.#schedule()
  }

  /** Moves to the first row. */
  toTop(): void {
    this.#scroller.scrollTop = 0
    this.#chosen = -1
    this.#schedule()
  }

  #draw(): void {
    const height = Math.min(HIGHEST, this.#view.count * ROW_HEIGHT)
    this.#spacer.style.height = `${height}px`
    this.#scroller.style.setProperty("--rows", String(Math.min(this.#view.count, ROWS_OF_STYLE)))
    this.#scroller.setAttribute("aria-rowcount", String(this.#view.count + 1))
    const first = Math.max(0, Math.floor(this.#scroller.scrollTop / ROW_HEIGHT) - MARGIN)
    const seen = Math.ceil(this.#scroller.clientHeight / ROW_HEIGHT) + 2 * MARGIN
    while (this.#cells.length < seen) this.#cells.push(new RowCells(this.#spacer))
    const chosen = this.#chosenIndex()
    this.#cells.forEach((cells, offset) => {
      // Each row keeps its element while it is in sight, so that scrolling by one fills one.
      const index = first + ((offset - (first % this.#cells.length) + this.#cells.length) % this.#cells.length)
      cells.show(index < this.#view.count ? this.#view.rowAt(index) : undefined, index, this.#now, this.#view)
      cells.choose(index === chosen)
    })
    const active = this.#cells.find((cells) => cells.index === chosen)
    if (active !== undefined && chosen >= 0) this.#scroller.setAttribute("aria-activedescendant", active.id)
    else this.#scroller.removeAttribute("aria-activedescendant")
  }

  #chosenIndex(): number {
    return this.#chosen < 0 ? -1 : this.#view.indexOf(this.#chosen)
  }

  #choose(index: number): void {
    const last = this.#view.count - 1
    if (last < 0) return
    const wanted = Math.min(last, Math.max(0, index))
    this.#chosen = this.#view.rowAt(wanted)?.slot ?? -1
    const top = wanted * ROW_HEIGHT
    const { scrollTop, clientHeight } = this.#scroller
    if (top < scrollTop) this.#scroller.scrollTop = top
    else if (top + ROW_HEIGHT > scrollTop + clientHeight - ROW_HEIGHT)
      this.#scroller.scrollTop = top + 2 * ROW_HEIGHT - clientHeight
    this.#schedule()
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.#scroller) return
    const page = Math.max(1, Math.floor(this.#scroller.clientHeight / ROW_HEIGHT) - 1)
    const at = Math.max(0, this.#chosenIndex())
    const targets: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: this.#view.count - 1,
    }
    const target = targets[event.key]
    if (target !== undefined) this.#choose(target)
    else if (event.key === "Enter") this.#openAt(this.#chosenIndex())
    else return
    event.preventDefault()
  }

  #onClick(event: MouseEvent): void {
    const element = event.target instanceof Element ? event.target.closest("[data-row]") : null
    const cells = this.#cells.find((each) => each.element === element)
    if (cells !== undefined) this.#openAt(cells.index)
  }

  #openAt(index: number): void {
    const row = this.#view.rowAt(index)
    if (row !== undefined) this.#open(row)
  }
}

let rowNumber = 0

/** One row's elements. Nothing is written that stands there already. */
class RowCells {
  readonly element = document.createElement("div")
  readonly id = `row-${++rowNumber}`
  index = -1
  readonly #icon = new IconElement()
  readonly #state = cell("state")
  readonly #stateText = document.createElement("span")
  readonly #key = cell("key")
  readonly #worker = cell("worker")
  readonly #since = cell("since")
  readonly #lease = cell("lease")
  readonly #told = new Map<HTMLElement, string>()
  #isHidden: boolean | undefined

  constructor(parent: HTMLElement) {
    this.element.className = "row"
    this.element.id = this.id
    this.element.setAttribute("role", "row")
    this.element.dataset["row"] = ""
    this.#state.append(this.#icon.element, this.#stateText)
    this.element.append(this.#state, this.#key, this.#worker, this.#since, this.#lease)
    parent.append(this.element)
  }

  show(row: LiveRow | undefined, index: number, now: number, view: RowView): void {
    this.#hide(row === undefined)
    if (row === undefined) return
    if (this.index !== index) {
      this.index = index
      this.element.style.transform = `translateY(${index * ROW_HEIGHT}px)`
      this.element.setAttribute("aria-rowindex", String(index + 2))
    }
    this.#write(this.#stateText, stateWords(row.parts), () => {
      this.#icon.show(row.state)
      this.#state.title = STATE_WORDS[row.state].meaning
    })
    this.#write(this.#key, visible(row.key, KEY_LENGTH))
    this.#write(this.#worker, visible(row.worker, KEY_LENGTH))
    this.#write(this.#since, duration(now - row.since))
    this.#write(this.#lease, row.deadline === null ? "" : duration(row.deadline - now))
    this.element.classList.toggle("marked", view.isMarked(row.slot))
  }

  choose(isChosen: boolean): void {
    this.element.classList.toggle("chosen", isChosen)
    this.element.setAttribute("aria-selected", String(isChosen))
  }

  #hide(isHidden: boolean): void {
    if (this.#isHidden === isHidden) return
    this.#isHidden = isHidden
    this.element.hidden = isHidden
    if (isHidden) this.index = -1
  }

  #write(element: HTMLElement, text: string, then?: () => void): void {
    if (this.#told.get(element) === text) return
    this.#told.set(element, text)
    element.textContent = text
    then?.()
  }
}

function cell(name: string): HTMLElement {
  const element = document.createElement("div")
  element.className = `cell ${name}`
  element.setAttribute("role", "gridcell")
  return element
}

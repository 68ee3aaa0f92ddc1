/**
 * Draws the lanes: on one canvas as high as what is seen, over a spacer as high as all lanes. What isn't seen isn't
 * drawn. Arrows move the moment that is looked at, with Shift the part of the time; + and − zoom.
 */
import type { LanesView } from "../../live/model/lanes.ts"
import { after } from "../look/clock.ts"
import { oncePerFrame } from "../look/frames.ts"
import type { Palette } from "../look/palette.ts"
import { axisTicks } from "./axis.ts"
import { hitAt } from "./lane-hits.ts"
import { type LaneMoment, LanePainter } from "./lane-painter.ts"
import { type LaneRow, laneRows, ROW_HEIGHTS } from "./lane-rows.ts"

/** What one does with it. */
export interface LaneEvents {
  scrub(time: number): void
  hover(words: string | null): void
  open(worker: string, key: string): void
  zoom(factor: number, around: number | null): void
  /** Moves by this part of what is seen. */
  pan(part: number): void
}

/** In CSS pixels: a pointer that moves less is a click. */
const DRAG = 4

/** The axis stays above the lanes. */
const AXIS = 22

/** The part of the width that an arrow key moves the moment by. */
const STEP = 0.01

/** The drawing in one element. */
export class LaneCanvas {
  readonly #scroller = document.createElement("div")
  readonly #spacer = document.createElement("div")
  readonly #canvas = document.createElement("canvas")
  readonly #events: LaneEvents
  #palette: Palette
  #view: LanesView = { from: 0, to: 1, workers: [], faults: [] }
  #moment: LaneMoment = { cursor: null, mark: null, origin: null }
  #rows: readonly LaneRow[] = []
  readonly #schedule = oncePerFrame(() => this.#paint())
  #pressed: { readonly x: number; isDragged: boolean } | null = null
  #cancelHover: (() => void) | undefined

  /** Draws nothing before `draw`. */
  constructor(parent: HTMLElement, palette: Palette, events: LaneEvents) {
    this.#palette = palette
    this.#events = events
    this.#scroller.className = "lanes-scroller"
    this.#spacer.className = "lanes-spacer"
    this.#canvas.tabIndex = 0
    this.#canvas.setAttribute("role", "application")
    this.#canvas.setAttribute("aria-roledescription", "timeline")
    this.#canvas.setAttribute("aria-label", "Timeline. Left and right move the moment, plus and minus zoom.")
    this.#spacer.append(this.#canvas)
    this.#scroller.append(this.#spacer)
    parent.append(this.#scroller)
    this.#scroller.addEventListener("scroll", () => this.#schedule(), { passive: true })
    this.#canvas.addEventListener("pointerdown", (event) => this.#press(event))
    this.#canvas.addEventListener("pointermove", (event) => this.#point(event))
    this.#canvas.addEventListener("pointerup", (event) => this.#release(event))
    this.#canvas.addEventListener("pointerleave", () => events.hover(null))
    this.#canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false })
    this.#canvas.addEventListener("keydown", (event) => this.#onKey(event))
  }

  /** Other lanes, or another moment. */
  draw(view: LanesView, moment: LaneMoment): void {
    this.#view = view
    this.#moment = moment
    this.#rows = laneRows(view)
    const last = this.#rows.at(-1)
    const height = AXIS + (last === undefined ? 40 : last.y + ROW_HEIGHTS[last.kind]) + 8
    this.#spacer.style.height = `${height}px`
    this.#schedule()
  }

  /** Other colours. */
  restyle(palette: Palette): void {
    this.#palette = palette
    this.#schedule()
  }

  /** Stops what is still to come. */
  end(): void {
    this.#cancelHover?.()
  }

  #paint(): void {
    const context = this.#canvas.getContext("2d")
    const [width, height] = [this.#scroller.clientWidth, this.#scroller.clientHeight]
    if (context === null || width === 0) return
    const ratio = devicePixelRatio
    if (this.#canvas.width !== Math.round(width * ratio) || this.#canvas.height !== Math.round(height * ratio)) {
      this.#canvas.width = Math.round(width * ratio)
      this.#canvas.height = Math.round(height * ratio)
      this.#canvas.style.width = `${width}px`
      this.#canvas.style.height = `${height}px`
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.clearRect(0, 0, width, height)
    const painter = new LanePainter(context, this.#palette, this.#view, {
      width,
      height,
      top: AXIS,
      scrolled: this.#scroller.scrollTop,
    })
    const ticks = axisTicks(this.#view, width, this.#moment.origin)
    painter.grid(ticks)
    painter.rows(this.#rows)
    painter.axis(ticks)
    painter.moment(this.#moment)
  }

  #timeAt(x: number): number {
    const { from, to } = this.#view
    return LanePainter.timeAt(x, this.#scroller.clientWidth, from, to)
  }

  #press(event: PointerEvent): void {
    this.#pressed = { x: event.offsetX, isDragged: false }
    this.#canvas.setPointerCapture(event.pointerId)
  }

  #point(event: PointerEvent): void {
    const { offsetX, offsetY } = event
    if (this.#pressed !== null && Math.abs(offsetX - this.#pressed.x) >= DRAG) this.#pressed.isDragged = true
    if (this.#pressed?.isDragged === true) return this.#events.scrub(this.#timeAt(offsetX))
    const hit = hitAt(this.#rows, this.#timeAt(offsetX), offsetY - AXIS + this.#scroller.scrollTop, this.#tolerance())
    this.#events.hover(hit?.words ?? null)
    this.#canvas.style.cursor = hit?.lane === undefined ? "crosshair" : "pointer"
  }

  #release(event: PointerEvent): void {
    const wasDragged = this.#pressed?.isDragged === true
    this.#pressed = null
    if (wasDragged) return
    const { offsetX, offsetY } = event
    const hit = hitAt(this.#rows, this.#timeAt(offsetX), offsetY - AXIS + this.#scroller.scrollTop, this.#tolerance())
    if (hit?.isLabel === true && hit.lane !== undefined) this.#events.open(hit.lane.worker, hit.lane.key)
    else this.#events.scrub(this.#timeAt(offsetX))
  }

  /** In milliseconds: as near as five pixels. */
  #tolerance(): number {
    const right = this.#scroller.clientWidth
    return this.#timeAt(right) - this.#timeAt(right - 5)
  }

  #wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey) return
    event.preventDefault()
    this.#events.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.#timeAt(event.offsetX))
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const { from, to } = this.#view
    const now = this.#moment.cursor ?? to
    const step = (to - from) * STEP
    const keys: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => (event.shiftKey ? this.#events.pan(-0.25) : this.#events.scrub(now - step)),
      ArrowRight: () => (event.shiftKey ? this.#events.pan(0.25) : this.#events.scrub(now + step)),
      ArrowDown: () => this.#scroller.scrollBy({ top: 60 }),
      ArrowUp: () => this.#scroller.scrollBy({ top: -60 }),
      Home: () => this.#events.scrub(from),
      End: () => this.#events.scrub(to),
      "+": () => this.#events.zoom(0.5, this.#moment.cursor),
      "=": () => this.#events.zoom(0.5, this.#moment.cursor),
      "-": () => this.#events.zoom(2, this.#moment.cursor),
    }
    const act = keys[event.key]
    if (act === undefined) return
    event.preventDefault()
    event.stopPropagation()
    act()
    this.#cancelHover?.()
    // What is at the moment is told once one has stopped moving.
    this.#cancelHover = after(400, () => this.#tell())
  }

  #tell(): void {
    const cursor = this.#moment.cursor ?? this.#view.to
    const words = this.#rows.flatMap((row) => {
      const bar =
        row.kind === "lane"
          ? row.lane.bars.findLast(({ from, to }) => from <= cursor && (to ?? Infinity) >= cursor)
          : undefined
      return bar === undefined || row.kind !== "lane" ? [] : [`${row.lane.key} at ${row.worker}: ${bar.text}`]
    })
    this.#events.hover(words.slice(0, 5).join("; ") || "Nothing is there at this moment")
  }
}

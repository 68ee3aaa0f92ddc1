/**
 * The fleet as one picture: a cell for each sandbox, coloured by its state, in the order in which they became known.
 * Only cells that changed are drawn anew. It is used by pointer and by keys: arrows move a mark, Enter opens.
 *
 * Not promised: that cells can be told apart above some 100,000; the list and the search find those.
 */
import { oncePerFrame } from "../look/frames.ts"
import type { Palette } from "../look/palette.ts"
import { Layout } from "./heat-layout.ts"

/** What is drawn, by the sandbox's number. */
export interface HeatSource {
  /** How many there are. */
  readonly size: number
  /** By number: the index of its state. */
  readonly states: Uint8Array
  /** Whether it is among those that are searched for. */
  matches(place: number): boolean
  /** Whether it needs attention. */
  isMarked(place: number): boolean
}

/** What the picture tells its owner. */
export interface HeatEvents {
  /** The pointer, or the keys' mark, is on this one; -1: on none. */
  hover(place: number, from: "pointer" | "keys"): void
  /** It was chosen. */
  open(place: number): void
}

/** More changes than this part of all cells, and the whole is drawn: it costs less. */
const REDRAW_PART = 4

/** The picture of one canvas. */
export class HeatMap {
  readonly #canvas: HTMLCanvasElement
  readonly #source: HeatSource
  readonly #events: HeatEvents
  readonly #dirty = new Set<number>()
  #palette: Palette
  #layout = new Layout(0, 0, 1)
  readonly #schedule = oncePerFrame(() => this.#draw())
  #isWhole = true
  #mark = -1

  /** Draws nothing before `resize`. */
  constructor(canvas: HTMLCanvasElement, source: HeatSource, palette: Palette, events: HeatEvents) {
    this.#canvas = canvas
    this.#source = source
    this.#palette = palette
    this.#events = events
    canvas.addEventListener("pointermove", (event) => events.hover(this.#placeAt(event), "pointer"))
    canvas.addEventListener("pointerleave", () => events.hover(-1, "pointer"))
    canvas.addEventListener("click", (event) => this.#open(this.#placeAt(event)))
    canvas.addEventListener("keydown", (event) => this.#onKey(event))
    canvas.addEventListener("blur", () => this.#moveMark(-1))
  }

  /** This cell changed. */
  touch(place: number): void {
    this.#dirty.add(place)
    this.#schedule()
  }

  /** All changed. */
  redraw(palette: Palette = this.#palette): void {
    this.#palette = palette
    this.#isWhole = true
    this.#schedule()
  }

  /** The room or the number of cells changed. */
  resize(): void {
    const next = new Layout(this.#source.size, this.#canvas.clientWidth, devicePixelRatio)
    if (next.equals(this.#layout)) return
    this.#layout = next
    this.#canvas.width = next.width
    this.#canvas.height = next.height
    this.#canvas.style.height = `${next.height / devicePixelRatio}px`
    this.redraw()
  }

  #draw(): void {
    const context = this.#canvas.getContext("2d")
    if (context === null || this.#layout.columns === 0 || this.#layout.height === 0) return
    if (this.#isWhole || this.#dirty.size * REDRAW_PART > this.#source.size) this.#drawWhole(context)
    else for (const place of this.#dirty) this.#drawCell(context, place)
    this.#dirty.clear()
    this.#isWhole = false
    if (this.#mark >= 0) this.#drawMark(context)
  }

  #drawWhole(context: CanvasRenderingContext2D): void {
    const { width, height, cell, gap, columns } = this.#layout
    const image = context.createImageData(width, height)
    const pixels = new Uint32Array(image.data.buffer)
    const side = cell - gap
    for (let place = 0; place < this.#source.size; place++) {
      const colour = this.#palette.packed[this.#shadeOf(place)]!
      const start = Math.floor(place / columns) * cell * width + (place % columns) * cell
      for (let row = 0; row < side; row++) pixels.fill(colour, start + row * width, start + row * width + side)
    }
    context.putImageData(image, 0, 0)
    for (let place = 0; place < this.#source.size; place++)
      if (this.#source.isMarked(place)) this.#drawSign(context, place)
  }

  #drawCell(context: CanvasRenderingContext2D, place: number): void {
    const { cell, gap } = this.#layout
    const [x, y] = this.#layout.corner(place)
    context.clearRect(x, y, cell, cell)
    context.fillStyle = this.#palette.css[this.#shadeOf(place)]!
    context.fillRect(x, y, cell - gap, cell - gap)
    if (this.#source.isMarked(place)) this.#drawSign(context, place)
  }

  /** A corner in the colour of trouble, so that the state stays to be seen. */
  #drawSign(context: CanvasRenderingContext2D, place: number): void {
    const { cell, gap } = this.#layout
    const [x, y] = this.#layout.corner(place)
    const side = Math.max(1, Math.floor((cell - gap) / 2))
    context.fillStyle = this.#palette.attention
    context.fillRect(x + cell - gap - side, y, side, side)
  }

  #drawMark(context: CanvasRenderingContext2D): void {
    const { cell, gap } = this.#layout
    const [x, y] = this.#layout.corner(this.#mark)
    context.strokeStyle = this.#palette.ink
    context.lineWidth = 2
    context.strokeRect(x, y, cell - gap, cell - gap)
  }

  /** The palette has each state twice: as it is, and faint for what isn't searched for. */
  #shadeOf(place: number): number {
    const state = this.#source.states[place] ?? 0
    return this.#source.matches(place) ? state : state + this.#palette.faintFrom
  }

  #placeAt({ offsetX, offsetY }: MouseEvent): number {
    const place = this.#layout.placeAt(offsetX * devicePixelRatio, offsetY * devicePixelRatio)
    return place < this.#source.size ? place : -1
  }

  #open(place: number): void {
    if (place >= 0) this.#events.open(place)
  }

  #onKey(event: KeyboardEvent): void {
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: this.#layout.columns,
      ArrowUp: -this.#layout.columns,
      Home: -Infinity,
      End: Infinity,
    }
    if (event.key === "Enter") this.#open(this.#mark)
    const step = steps[event.key]
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const from = this.#mark === -1 ? (step === 1 ? -1 : 0) : this.#mark
    this.#moveMark(Math.min(this.#source.size - 1, Math.max(0, from + step)))
  }

  #moveMark(place: number): void {
    this.#mark = place
    this.redraw()
    this.#events.hover(place, "keys")
  }
}

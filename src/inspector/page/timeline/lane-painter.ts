/** Paints one state of the timeline on a canvas, by CSS pixels. It knows no events and keeps nothing. */
import type { Bar, FaultSign, LanesView, RequestSign } from "../../live/model/lanes.ts"
import { TOP_STATES } from "../../live/model/states.ts"
import type { Mark } from "../../live/recording.ts"
import { visible } from "../../live/visible.ts"
import type { Palette } from "../look/palette.ts"
import type { Tick } from "./axis.ts"
import { type LaneRow, ROW_HEIGHTS } from "./lane-rows.ts"

/** What is drawn besides the lanes. */
export interface LaneMoment {
  readonly cursor: number | null
  readonly mark: Mark | null
  /** Times are told from here on; null: as times of the day. */
  readonly origin: number | null
}

/** Where it paints. `top` is the axis' height. */
export interface PaintRoom {
  readonly width: number
  readonly height: number
  readonly top: number
  readonly scrolled: number
}

/** For the names of keys, in CSS pixels: less where the window is narrow. */
const labelWidth = (width: number): number => Math.round(Math.min(180, width * 0.24))

/** At the right end, so that the present isn't at the very edge. */
const RIGHT = 10

const FONT = "11px system-ui, sans-serif"
const BOLD = "600 12px system-ui, sans-serif"

/** Of a text of 11 px, about: enough to know whether one fits. */
const LETTER = 6.2

/** One painting. */
export class LanePainter {
  readonly #context: CanvasRenderingContext2D
  readonly #palette: Palette
  readonly #view: LanesView
  readonly #room: PaintRoom
  readonly #left: number

  /** Of this view, into this room. */
  constructor(context: CanvasRenderingContext2D, palette: Palette, view: LanesView, room: PaintRoom) {
    this.#context = context
    this.#palette = palette
    this.#view = view
    this.#room = room
    this.#left = labelWidth(room.width)
  }

  /** The time at this place; NaN left of all time. */
  static timeAt(x: number, width: number, from: number, to: number): number {
    const left = labelWidth(width)
    return x < left ? Number.NaN : from + ((x - left) / Math.max(1, width - left - RIGHT)) * (to - from)
  }

  /** All rows that are in sight. */
  rows(rows: readonly LaneRow[]): void {
    for (const row of rows) {
      const y = row.y + this.#room.top - this.#room.scrolled
      const height = row.kind === "worker" ? row.height : ROW_HEIGHTS[row.kind]
      if (y + height < this.#room.top || y > this.#room.height) continue
      if (row.kind === "worker") this.#worker(row, y)
      else if (row.kind === "requests") this.#requests(row.of.requests, y)
      else this.#lane(row.lane.key, row.lane.bars, y)
    }
    for (const fault of this.#view.faults) this.#fault(fault, this.#room.top, this.#room.height, 0.07)
  }

  /** Below the rows. */
  grid(ticks: readonly Tick[]): void {
    this.#context.fillStyle = this.#palette.line
    for (const { at } of ticks) this.#context.fillRect(Math.round(this.#x(at)), this.#room.top, 1, this.#room.height)
  }

  /** Over the rows, as it stays while they scroll. */
  axis(ticks: readonly Tick[]): void {
    const { width, top } = this.#room
    const context = this.#context
    context.fillStyle = this.#palette.paper
    context.fillRect(0, 0, width, top)
    context.font = FONT
    context.textAlign = "center"
    context.textBaseline = "middle"
    for (const { at, text } of ticks) {
      const x = this.#x(at)
      const half = context.measureText(text).width / 2
      if (x - half < this.#left - 20 || x + half > width) continue
      context.fillStyle = this.#palette.soft
      context.fillText(text, x, top / 2)
    }
    context.fillStyle = this.#palette.line
    context.fillRect(0, top - 1, width, 1)
  }

  /** The moment that is looked at, and the one at which something went wrong. */
  moment({ cursor, mark }: LaneMoment): void {
    if (mark !== null) this.#upright(mark.at, this.#palette.attention, true)
    if (cursor !== null) this.#upright(cursor, this.#palette.accent, false)
  }

  #x(at: number): number {
    const { from, to } = this.#view
    return this.#left + ((at - from) / (to - from)) * (this.#room.width - this.#left - RIGHT)
  }

  /** Within what is seen. */
  #clamped(at: number): number {
    return Math.min(this.#room.width, Math.max(this.#left, this.#x(at)))
  }

  #worker({ worker, of, height }: Extract<LaneRow, { kind: "worker" }>, y: number): void {
    const context = this.#context
    context.fillStyle = this.#palette.line
    context.fillRect(0, Math.round(y + ROW_HEIGHTS.worker - 3), this.#room.width, 1)
    for (const fault of of.faults) this.#fault(fault, y, height, 0.16)
    context.font = BOLD
    context.textAlign = "left"
    context.textBaseline = "middle"
    context.fillStyle = this.#palette.ink
    context.fillText(visible(worker, 40), 8, y + ROW_HEIGHTS.worker / 2 - 1)
  }

  #fault({ at, to, fault }: FaultSign, y: number, height: number, alpha: number): void {
    const context = this.#context
    const x = this.#clamped(at)
    const end = to === null ? x : this.#clamped(to)
    if (end < this.#left || x > this.#room.width) return
    context.globalAlpha = alpha
    context.fillStyle = this.#palette.fault
    context.fillRect(x, y, Math.max(2, end - x), height)
    context.globalAlpha = 1
    if (this.#x(at) < this.#left) return
    context.fillRect(x, y, 1.5, height)
    context.font = FONT
    context.textAlign = "left"
    context.textBaseline = "middle"
    if (alpha > 0.1 && end - x > fault.length * LETTER + 8)
      context.fillText(fault, x + 5, y + ROW_HEIGHTS.worker / 2 - 1)
  }

  #requests(requests: readonly RequestSign[], y: number): void {
    const context = this.#context
    const middle = y + ROW_HEIGHTS.requests / 2
    let last = -1
    for (const { at, answeredAt, fate, isRead } of requests) {
      const x = this.#x(at)
      // A thousand dots at one place are one.
      if (x < this.#left || (fate === "done" && x - last < 1.2)) continue
      if (fate === "done") last = x
      const isBad = fate === "unknown" || fate === "open"
      const colour = isBad ? this.#palette.attention : this.#palette.soft
      const end = answeredAt === null ? x : this.#clamped(answeredAt)
      context.strokeStyle = colour
      context.fillStyle = fate === "refused" ? this.#palette.paper : colour
      context.lineWidth = 1
      if (end > x + 2) {
        context.globalAlpha = 0.6
        context.beginPath()
        context.moveTo(x, middle)
        context.lineTo(end, middle)
        context.stroke()
        context.globalAlpha = 1
      }
      context.beginPath()
      context.arc(x, middle, isRead ? 1.8 : 3, 0, 2 * Math.PI)
      context.fill()
      if (fate === "refused") context.stroke()
    }
  }

  #lane(key: string, bars: readonly Bar[], y: number): void {
    const context = this.#context
    context.font = FONT
    context.textBaseline = "middle"
    context.textAlign = "left"
    context.fillStyle = this.#palette.soft
    const middle = y + ROW_HEIGHTS.lane / 2
    const fits = Math.floor((this.#left - 16) / LETTER)
    const name = visible(key, 200)
    context.fillText(name.length > fits ? `…${name.slice(1 - fits)}` : name, 8, middle)
    for (const bar of bars) this.#bar(bar, y + 2)
  }

  #bar({ from, to, state, text }: Bar, y: number): void {
    const context = this.#context
    const height = ROW_HEIGHTS.lane - 4
    const x = this.#clamped(from)
    const width = Math.max(state === "released" ? 3 : 1.5, this.#clamped(to ?? this.#view.to) - x - 1)
    context.fillStyle = this.#palette.css[TOP_STATES.indexOf(state)]!
    context.fillRect(x, y, width, height)
    const words = text.replace(/^\w+: /, "")
    if (width < words.length * LETTER + 10) return
    context.fillStyle = this.#palette.onState
    context.fillText(words, x + 5, y + height / 2 + 0.5)
  }

  #upright(at: number, colour: string, isMark: boolean): void {
    const x = this.#x(at)
    if (x < this.#left || x > this.#room.width) return
    const context = this.#context
    context.fillStyle = colour
    context.fillRect(Math.round(x) - 1, 0, 2, this.#room.height)
    context.beginPath()
    if (isMark) context.rect(x - 5, 0, 10, 8)
    else context.arc(x, 5, 5, 0, 2 * Math.PI)
    context.fill()
  }
}

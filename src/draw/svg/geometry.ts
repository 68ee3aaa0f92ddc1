/** Points and boxes of a drawing, in pixels, y downward. */

/** A point. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** How large something is. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** A box. */
export interface Rect extends Point, Size {}

/** To half a pixel: what is drawn is sharp, and the same on every runtime. */
export const round = (value: number): number => Math.round(value * 2) / 2

/** The box that holds both. */
export function around(a: Rect, b: Rect): Rect {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)]
  const right = Math.max(a.x + a.width, b.x + b.width)
  const bottom = Math.max(a.y + a.height, b.y + b.height)
  return { x, y, width: right - x, height: bottom - y }
}

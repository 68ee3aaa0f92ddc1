/** Where the cells of the heat map are: the largest that fit the room. Pure; all lengths are device pixels. */

/** Sides of a cell in CSS pixels, as one looks for the largest that fits. */
const SIDES = [18, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1]

/** How high the picture may get in CSS pixels; cells so small that a pointer hardly hits them get more room. */
const HIGHEST = 168
const HIGHEST_SMALL = 340
const SMALL = 3

/** One layout of so many cells. */
export class Layout {
  /** Of a cell, with its gap. */
  readonly cell: number
  /** Between cells. */
  readonly gap: number
  readonly columns: number
  readonly width: number
  readonly height: number
  readonly #size: number

  /** Of so many cells in so many CSS pixels. */
  constructor(size: number, roomWidth: number, ratio: number) {
    this.#size = size
    this.width = Math.floor(roomWidth * ratio)
    const fits = (side: number): boolean => {
      const columns = Math.floor(roomWidth / side)
      return Math.ceil(size / Math.max(1, columns)) * side <= (side <= SMALL ? HIGHEST_SMALL : HIGHEST)
    }
    const side = SIDES.find(fits) ?? 1
    this.cell = Math.max(1, Math.round(side * ratio))
    this.gap = this.cell >= 4 ? Math.max(1, Math.round(this.cell / 9)) : 0
    this.columns = Math.floor(this.width / this.cell)
    this.height = this.columns === 0 ? 0 : Math.ceil(size / this.columns) * this.cell
  }

  /** The upper left corner of a cell. */
  corner(place: number): readonly [number, number] {
    return [(place % this.columns) * this.cell, Math.floor(place / this.columns) * this.cell]
  }

  /** The cell at a point; -1 where there is none. */
  placeAt(x: number, y: number): number {
    const [column, row] = [Math.floor(x / this.cell), Math.floor(y / this.cell)]
    const place = row * this.columns + column
    return column < 0 || column >= this.columns || row < 0 || place >= this.#size ? -1 : place
  }

  /** Whether both draw the same cells at the same places. */
  equals(other: Layout): boolean {
    return (
      this.#size === other.#size &&
      this.width === other.width &&
      this.cell === other.cell &&
      this.height === other.height
    )
  }
}

/** A small picture of a number over time, drawn by uPlot. It says nothing by itself: the number beside it does. */
import uPlot from "uplot"

/** In CSS pixels. */
const HEIGHT = 26

/** One line, filled below. */
export class Sparkline {
  readonly #parent: HTMLElement
  #colour: string
  #plot: uPlot | undefined
  #data: uPlot.AlignedData = [[], []]

  /** Draws into this element, as wide as that is. */
  constructor(parent: HTMLElement, colour: string) {
    this.#parent = parent
    this.#colour = colour
  }

  /** Other numbers. */
  show(times: readonly number[], values: readonly number[]): void {
    this.#data = [[...times], [...values]]
    if (this.#plot === undefined) this.#make()
    else this.#plot.setData(this.#data)
  }

  /** Another colour, or another width. */
  restyle(colour: string): void {
    this.#colour = colour
    this.#make()
  }

  /** Takes it away. */
  end(): void {
    this.#plot?.destroy()
    this.#plot = undefined
  }

  #make(): void {
    this.end()
    const width = this.#parent.clientWidth
    if (width === 0) return
    const line: uPlot.Series = { stroke: this.#colour, fill: `${this.#colour}26`, width: 1.5, points: { show: false } }
    this.#plot = new uPlot(
      {
        ...{ width, height: HEIGHT, padding: [2, 0, 1, 0] },
        cursor: { show: false },
        legend: { show: false },
        axes: [{ show: false }, { show: false }],
        scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.15)] } },
        series: [{}, line],
      },
      this.#data,
      this.#parent,
    )
  }
}

/** A drawing after its layout, as plain geometry: what stands where. Owns no colours, and not how places are found. */
import type { ChartState } from "../machine/graph.ts"
import type { Point, Rect, Size } from "./geometry.ts"
import type { Block } from "./labels.ts"
import type { Link } from "./links.ts"

/** A block of text and where it stands. */
export interface PlacedBlock extends Point {
  readonly block: Block
}

/** A state's box and its texts. */
export interface PlacedState {
  readonly state: ChartState
  readonly box: Rect
  readonly head: PlacedBlock
  /** How many states it is in. */
  readonly depth: number
}

/** A line: each of its corners, from its beginning to its end, and its texts. */
export interface PlacedLine {
  readonly points: readonly Point[]
  readonly label: PlacedBlock | undefined
}

/** A placed link. */
export interface PlacedLink extends PlacedLine {
  readonly link: Link
}

/** The way into a state: the dot, and the line to the state's first. */
export interface PlacedInitial extends PlacedLine {
  readonly state: ChartState
  readonly dot: Point
}

/** A drawing without its colours. */
export interface PlacedDrawing extends Size {
  /** Each before those in it. */
  readonly states: readonly PlacedState[]
  readonly links: readonly PlacedLink[]
  readonly initials: readonly PlacedInitial[]
}

/** Where the head of a state stands that has others in it: as far left as it can without a line through its texts. */
import type { Point, Rect } from "./geometry.ts"
import type { Block } from "./labels.ts"
import type { PlacedBlock } from "./placed.ts"

/** In pixels: so much of the room beside a head's texts may have a line in it, which leaves the texts clear of it. */
const SPARE = 8

/** Places a head at the top of its box; undefined where lines leave no room for it. */
export function placeHead(box: Rect, block: Block, lines: readonly (readonly Point[])[]): PlacedBlock | undefined {
  const crossings = lines.flatMap((points) => spansAcross(points, box.y, box.y + block.height))
  const places = [box.x, ...crossings.map(([, right]) => right - SPARE)].toSorted((a, b) => a - b)
  const last = box.x + box.width - block.width
  const isFree = (x: number): boolean =>
    x >= box.x && x <= last && crossings.every(([left, right]) => right - SPARE <= x || left + SPARE >= x + block.width)
  const x = places.find(isFree)
  return x === undefined ? undefined : { x, y: box.y, block }
}

/** From where to where a line is in a band, for each of its pieces that come into it. */
function spansAcross(points: readonly Point[], top: number, bottom: number): readonly (readonly [number, number])[] {
  return points.slice(1).flatMap((to, index) => {
    const from = points[index]
    if (from === undefined || Math.max(from.y, to.y) <= top || Math.min(from.y, to.y) >= bottom) return []
    return [[Math.min(from.x, to.x), Math.max(from.x, to.x)] as const]
  })
}

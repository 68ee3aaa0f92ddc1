/** What holds of every drawing's geometry. Each law gives what breaks it, in words. */
import type { AnyStateMachine } from "xstate"
import type { SvgOptions } from "../../src/draw/mod.ts"
import type { Point, Rect } from "../../src/draw/svg/geometry.ts"
import { isWithin, marksOf, placed, type PlacedDrawing, readMachine } from "./parts.ts"

/** In pixels: coordinates are rounded to half a pixel. */
const SLACK = 1

/** Lays a machine out and gives all that breaks a law. */
export async function broken(machine: AnyStateMachine, options: SvgOptions = {}): Promise<string[]> {
  const graph = readMachine(machine)
  return brokenBy(graph, await placed(graph, marksOf(graph, options)))
}

/** All that breaks a law in what was laid out. */
export function brokenBy(graph: ReturnType<typeof readMachine>, drawing: PlacedDrawing): string[] {
  return [
    ...overlappingStates(drawing),
    ...statesOutsideOfTheirs(drawing),
    ...textsOutsideOfTheirs(drawing),
    ...labelsOverOthers(drawing),
    ...endsOffTheirStates(drawing),
    ...outsideOfAll(drawing),
  ]

  function outsideOfAll({ width, height, states, links, initials }: PlacedDrawing): string[] {
    const all = { x: 0, y: 0, width, height }
    const points = [...links, ...initials].flatMap((link) => link.points)
    return [
      ...states.filter(({ box }) => !holds(all, box)).map(({ state }) => `${state.path} is outside of the drawing`),
      ...points
        .filter((point) => !holds(all, { ...point, width: 0, height: 0 }))
        .map(() => "a line leaves the drawing"),
    ]
  }

  function overlappingStates({ states }: PlacedDrawing): string[] {
    return pairs(states)
      .filter(([a, b]) => a.state.parent === b.state.parent && overlap(a.box, b.box))
      .map(([a, b]) => `${a.state.path} is over ${b.state.path}`)
  }

  function statesOutsideOfTheirs({ states }: PlacedDrawing): string[] {
    const boxes = new Map(states.map(({ state, box }) => [state.path, box]))
    return states
      .filter(({ state, box }) => state.parent !== undefined && !holds(boxes.get(state.parent), box))
      .map(({ state }) => `${state.path} is not in ${state.parent}`)
  }

  function textsOutsideOfTheirs({ states, links }: PlacedDrawing): string[] {
    const heads = states.flatMap(({ state, box, head }) =>
      runsOf(head).flatMap((run) => (holds(box, run) ? [] : [`a text leaves the state ${state.path}`])),
    )
    const labels = links.flatMap(({ label }) =>
      label === undefined
        ? []
        : runsOf(label).flatMap((run) => (holds(rectOf(label), run) ? [] : ["a text leaves its label"])),
    )
    return [...heads, ...labels]
  }

  /** A label is over no other label, no state that it isn't in, no text of a state, and no other line. */
  function labelsOverOthers({ states, links, initials }: PlacedDrawing): string[] {
    const labels = [...links, ...initials].flatMap((link) =>
      link.label === undefined ? [] : [{ link, rect: rectOf(link.label) }],
    )
    const leaves = states.filter(({ state }) => state.children.length === 0)
    const texts = states.flatMap(({ state, head }) => runsOf(head).map((rect) => ({ state, rect })))
    const lines = [...links, ...initials]
    return [
      ...pairs(labels)
        .filter(([a, b]) => overlap(a.rect, b.rect))
        .map(() => "a label is over another"),
      ...labels.flatMap(({ rect }) =>
        leaves.filter(({ box }) => overlap(box, rect)).map(({ state }) => `a label is over ${state.path}`),
      ),
      ...labels.flatMap(({ rect }) =>
        texts
          .filter((text) => overlap(text.rect, rect))
          .map(({ state }) => `a label is over the text of ${state.path}`),
      ),
      ...labels.flatMap(({ link, rect }) =>
        lines
          .filter((line) => line !== link && crosses(line.points, rect))
          .map(() => "a line goes through the label of another"),
      ),
      ...texts.flatMap(({ state, rect }) =>
        lines.filter(({ points }) => crosses(points, rect)).map(() => `a line goes through the text of ${state.path}`),
      ),
    ]
  }

  function endsOffTheirStates({ states, links, initials }: PlacedDrawing): string[] {
    const boxes = new Map(states.map(({ state, box }) => [state.path, box]))
    return [
      ...links.flatMap(({ link, points }) => [
        ...(onBorder(boxes.get(link.source), points[0]) ? [] : [`a line doesn't begin at ${link.source}`]),
        ...(onBorder(boxes.get(link.target), points.at(-1)) ? [] : [`a line doesn't end at ${link.target}`]),
      ]),
      ...initials.flatMap(({ state, points }) =>
        onBorder(boxes.get(state.initial ?? ""), points.at(-1))
          ? []
          : [`${state.path} has no arrow to its first state`],
      ),
      ...links.flatMap(({ link, points }) =>
        states
          .filter(({ state, box }) => {
            const isEnd = isWithin(graph, link.source, state.path) || isWithin(graph, link.target, state.path)
            return !isEnd && state.children.length === 0 && crosses(points, box)
          })
          .map(({ state }) => `a line goes through ${state.path}`),
      ),
    ]
  }
}

const pairs = <A>(all: readonly A[]): readonly (readonly [A, A])[] =>
  all.flatMap((a, index) => all.slice(index + 1).map((b) => [a, b] as const))

const rectOf = ({ x, y, block }: { x: number; y: number; block: { width: number; height: number } }): Rect => ({
  ...{ x, y, width: block.width, height: block.height },
})

type PlacedText = PlacedDrawing["states"][number]["head"]

/** The boxes of all pieces of text: from the top of their letters to their bottom. */
const runsOf = ({ x, y, block }: PlacedText): readonly Rect[] =>
  block.lines.flatMap(({ runs, baseline }) =>
    runs.map((run) => ({ x: x + run.x, y: y + baseline - 9, width: run.width, height: 11 })),
  )

const overlap = (a: Rect, b: Rect): boolean =>
  a.x + SLACK < b.x + b.width &&
  b.x + SLACK < a.x + a.width &&
  a.y + SLACK < b.y + b.height &&
  b.y + SLACK < a.y + a.height

const holds = (outer: Rect | undefined, inner: Rect): boolean =>
  outer !== undefined &&
  inner.x >= outer.x - SLACK &&
  inner.y >= outer.y - SLACK &&
  inner.x + inner.width <= outer.x + outer.width + SLACK &&
  inner.y + inner.height <= outer.y + outer.height + SLACK

function crosses(points: readonly Point[], rect: Rect): boolean {
  return points.slice(1).some((to, index) => {
    const from = points[index]!
    const piece = { x: Math.min(from.x, to.x), y: Math.min(from.y, to.y) }
    const [width, height] = [Math.abs(from.x - to.x), Math.abs(from.y - to.y)]
    // A piece has no width of its own: a pixel to each side, which the slack takes away again.
    return overlap(
      { x: piece.x - SLACK, y: piece.y - SLACK, width: width + 2 * SLACK, height: height + 2 * SLACK },
      rect,
    )
  })
}

function onBorder(box: Rect | undefined, point: Point | undefined): boolean {
  if (box === undefined || point === undefined || !holds(box, { ...point, width: 0, height: 0 })) return false
  const near = (a: number, b: number): boolean => Math.abs(a - b) <= SLACK
  return (
    near(point.x, box.x) ||
    near(point.x, box.x + box.width) ||
    near(point.y, box.y) ||
    near(point.y, box.y + box.height)
  )
}

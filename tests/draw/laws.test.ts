// Pins that the laws of the geometry notice what breaks them.
import { beforeAll, describe, expect, it } from "vitest"
import { brokenBy } from "./laws.ts"
import checkout from "./machines/checkout.ts"
import { marksOf, placed, type PlacedDrawing, readMachine } from "./parts.ts"

const graph = readMachine(checkout)

describe("a drawing breaks the laws", () => {
  let right: PlacedDrawing
  beforeAll(async () => {
    right = await placed(graph, marksOf(graph, {}))
  })

  it("nowhere as it is", () => {
    expect(brokenBy(graph, right)).toEqual([])
  })

  const state = (path: string): PlacedDrawing["states"][number] =>
    right.states.find((each) => each.state.path === path)!
  const withState = (path: string, more: Partial<PlacedDrawing["states"][number]>): PlacedDrawing => ({
    ...right,
    states: right.states.map((each) => (each.state.path === path ? { ...each, ...more } : each)),
  })

  // Tests drawings: In an SVG nothing overlaps, texts are in their boxes, and lines end at their states.
  it("where a state is over another, or leaves the one that it is in", () => {
    const { box } = state("paid")
    expect(brokenBy(graph, withState("paid", { box: state("failed").box }))).toContain("paid is over failed")
    const away = { ...box, x: 10_000 }
    expect(brokenBy(graph, withState("cart.filling", { box: away }))).toContain("cart.filling is not in cart")
  })

  it("where a text leaves its box", () => {
    const { head, box } = state("paying")
    const moved = withState("paying", { head: { ...head, x: box.x + box.width - 20 } })
    expect(brokenBy(graph, moved)).toContain("a text leaves the state paying")
  })

  it("where a label is over another, over a state, or over its text", () => {
    const labels = right.links.filter(({ label }) => label !== undefined)
    const put = (x: number, y: number): PlacedDrawing => ({
      ...right,
      links: right.links.map((each) => (each === labels[0] ? { ...each, label: { ...each.label!, x, y } } : each)),
    })
    const { x, y } = labels[1]!.label!
    expect(brokenBy(graph, put(x, y))).toContain("a label is over another")
    const { box } = state("paying")
    expect(brokenBy(graph, put(box.x, box.y))).toEqual(
      expect.arrayContaining(["a label is over paying", "a label is over the text of paying"]),
    )
  })

  it("where a line doesn't touch its states, or goes through others and through texts", () => {
    const through = (points: PlacedDrawing["links"][number]["points"]): string[] =>
      brokenBy(graph, { ...right, links: right.links.map((each, index) => (index === 0 ? { ...each, points } : each)) })
    const { source, target } = right.links[0]!.link
    expect(
      through([
        { x: 1, y: 1 },
        { x: 2, y: 2 },
      ]),
    ).toEqual(expect.arrayContaining([`a line doesn't begin at ${source}`, `a line doesn't end at ${target}`]))
    const { box, head } = state("paying")
    const middle = head.y + head.block.lines[0]!.baseline - 4
    expect(
      through([
        { x: box.x - 5, y: middle },
        { x: box.x + box.width + 5, y: middle },
      ]),
    ).toEqual(expect.arrayContaining(["a line goes through paying", "a line goes through the text of paying"]))
    const { label } = right.links[1]!
    const at = label!.y + label!.block.height / 2
    expect(
      through([
        { x: 0, y: at },
        { x: right.width, y: at },
      ]),
    ).toContain("a line goes through the label of another")
  })
})

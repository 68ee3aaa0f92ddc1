// Pins the drawings byte for byte, on every runtime, and that their geometry is right.
import { describe, expect, it } from "vitest"
import { toAscii, toMermaid, toSvg } from "../../src/draw/mod.ts"
import { golden } from "./golden.ts"
import { broken } from "./laws.ts"
import { all } from "./machines/all.ts"

describe.each(Object.entries(all))("the drawing of %s", (name, machine) => {
  // Tests drawings: The same machine gives the same bytes on Node and on Deno: SVG, Mermaid and text.
  it("is the one that was looked at, as SVG", async () => {
    const svg = await toSvg(machine)
    expect(svg).toBe(golden(`${name}.svg`, svg))
  })

  it("is the one that was looked at, as Mermaid", () => {
    const text = toMermaid(machine)
    expect(text).toBe(golden(`${name}.mmd`, text))
  })

  it("is the one that was looked at, as text", () => {
    const text = toAscii(machine)
    expect(text).toBe(golden(`${name}.txt`, text))
  })

  // Tests drawings: In an SVG nothing overlaps, texts are in their boxes, and lines end at their states.
  it("has texts in their boxes, lines that end at their states, and nothing over anything else", async () => {
    expect(await broken(machine)).toEqual([])
    expect(await broken(machine, { direction: "right" })).toEqual([])
  })
})

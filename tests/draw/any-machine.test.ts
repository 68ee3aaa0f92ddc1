// Pins that drawings hold of machines of any shape what they hold of those that were looked at.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chartEdges, toAscii, toMermaid, toSvg } from "../../src/draw/mod.ts"
import { columnsOf } from "../../src/draw/text/columns.ts"
import { anyConfig, machineOf } from "./any-machine.ts"
import { broken } from "./laws.ts"
import { all } from "./machines/all.ts"
import { unreadable } from "./mermaid-grammar.ts"

describe("of any machine", () => {
  // Tests drawings: In an SVG nothing overlaps, texts are in their boxes, and lines end at their states.
  it("the SVG is laid out by the same laws", async () => {
    await fc.assert(
      fc.asyncProperty(anyConfig, fc.constantFrom("down" as const, "right" as const), async (config, direction) => {
        expect(await broken(machineOf(config), { direction })).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  // Tests drawings: Each transition has one id of its own, by which a page finds it in the SVG.
  it("each transition has an id of its own, which the SVG has", async () => {
    await fc.assert(
      fc.asyncProperty(anyConfig, async (config) => {
        const machine = machineOf(config)
        const ids = chartEdges(machine).map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
        const svg = await toSvg(machine)
        expect(new Set(svg.match(/data-edge="[^"]*"/g)).size).toBe(ids.length)
      }),
      { numRuns: 25 },
    )
  })

  // Tests drawings: No name of a machine becomes markup, a script, an address or a control character.
  it("Mermaid's lexer reads the diagram", () => {
    const reads = fc.property(anyConfig, (config) => {
      expect(unreadable(toMermaid(machineOf(config)))).toEqual([])
    })
    fc.assert(reads, { numRuns: 200 })
    for (const machine of Object.values(all)) expect(unreadable(toMermaid(machine))).toEqual([])
  })

  it("the text keeps its width where the tree leaves room for it", () => {
    fc.assert(
      fc.property(anyConfig, fc.integer({ min: 60, max: 120 }), (config, width) => {
        const lines = toAscii(machineOf(config), { width }).split("\n")
        expect(lines.filter((line) => columnsOf(line) > width)).toEqual([])
      }),
      { numRuns: 200 },
    )
  })
})

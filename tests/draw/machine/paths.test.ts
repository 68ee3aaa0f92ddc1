// Pins that the live page finds the states of any machine in its drawing, whatever their keys are.
import { expect, it } from "vitest"
import { createActor, createMachine } from "xstate"
import { pathsIn } from "../../../src/draw/machine/paths.ts"
import { toSvg } from "../../../src/draw/mod.ts"

// Tests inspector: The states that the page lights are those of the value, whatever their keys are.
it("the paths in a state value are those of the drawing's states, and of no others", async () => {
  const within = { initial: "c", states: { c: {} } }
  const region = { initial: "a.b", states: { "a.b": within, a: { initial: "b", states: { b: within } } } }
  const machine = createMachine({
    id: "m",
    type: "parallel",
    states: { one: region, "": region, "\\": region },
  } as never)
  const { value } = createActor(machine).getSnapshot()
  const svg = await toSvg(machine, { state: value })
  const lit = Array.from(svg.matchAll(/<g class="[^"]* lit[^"]*" data-state="([^"]*)"/g), ([, path]) => path)
  expect(pathsIn(value)).toEqual(new Set(lit.filter((path) => path !== "")))
  expect(lit).toContain("one.a\\.b.c")
})

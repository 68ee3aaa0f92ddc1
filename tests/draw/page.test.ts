// Pins the section on charts of docs/seeing-it.md: its program runs, and its ids are those of the machine.
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { chartEdges, toSvg } from "../../src/draw/mod.ts"
import checkout from "./machines/checkout.ts"

const page = readFileSync(new URL("../../docs/seeing-it.md", import.meta.url), "utf8")

type Program = (draw: typeof toSvg, machine: typeof checkout, console: { log: (text: string) => void }) => Promise<void>
const AsyncFunction = (async () => {}).constructor as new (...texts: readonly string[]) => Program

it("draws what its program lights up", async () => {
  const [, program = ""] = /```ts\n(import \{ toSvg \}[^]*?)```/.exec(page) ?? []
  const body = program.replaceAll(/^import .*$/gm, "")
  const said: string[] = []
  await new AsyncFunction("toSvg", "checkout", "console", body)(toSvg, checkout, { log: (text) => said.push(text) })
  expect(said).toHaveLength(1)
  expect(said[0]).toContain('class="edge lit last" data-edge="cart.filling--submit[0]"')
  expect(said[0]).toContain('class="state atomic leaf lit" data-state="cart.filling"')
  expect(said[0]).toContain(">×3</text>")
})

it("writes ids as they are", () => {
  const ids = new Set(chartEdges(checkout).map(({ id }) => id))
  const named = Array.from(page.matchAll(/"(cart\.[\w.]+--[^"]+)"/g), ([, id]) => id!)
  expect(named.filter((id) => !ids.has(id))).toEqual([])
  expect(named.length).toBeGreaterThan(1)
})

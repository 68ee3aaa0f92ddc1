// Pins what an SVG drawing is told, and what a page finds in it.
import { describe, expect, it } from "vitest"
import { createMachine } from "xstate"
import { sandboxChart } from "../../../src/actors/chart/chart.ts"
import { chartEdges, toAscii, toMermaid, toSvg } from "../../../src/draw/mod.ts"
import { InvalidConfigError } from "../../../src/runtime/errors.ts"
import checkout from "../machines/checkout.ts"
import hostile from "../machines/hostile.ts"
import mediaPlayer from "../machines/media-player.ts"

/** The classes of all groups with this attribute, and this value of it where one is asked for. */
const group = (svg: string, attribute: string, value?: string): string[] =>
  Array.from(svg.matchAll(new RegExp(`<g class="([^"]*)" data-${attribute}="([^"]*)"`, "g")))
    .filter(([, , found]) => value === undefined || found === value)
    .map(([, classes = ""]) => classes)

describe("an SVG", () => {
  it("has a group for each state, and for each transition, that a page can find", async () => {
    const svg = await toSvg(sandboxChart)
    expect(group(svg, "state", "owning.lease.healthy")).toEqual(["state atomic leaf"])
    expect(group(svg, "edge", "owning.lease.healthy--lock.degraded[0]")).toEqual(["edge"])
    const found = Array.from(svg.matchAll(/data-edge="([^"]*)"/g), ([, id]) => id)
    expect(new Set(found)).toEqual(new Set(chartEdges(sandboxChart).map(({ id }) => id)))
    expect(found).toHaveLength(chartEdges(sandboxChart).length)
  })

  // Tests drawings: No name of a machine becomes markup, a script, an address or a control character.
  it("tells states apart whatever their keys are", async () => {
    const within = { initial: "b", states: { b: {} } }
    const keys = { "a\\": within, "a.b": {}, "": within, "\\": {}, ".b": {}, "0": {}, "\\0": {} }
    const machine = createMachine({ id: "m", initial: "a.b", states: keys } as never)
    const svg = await toSvg(machine)
    const paths = Array.from(svg.matchAll(/data-state="([^"]*)"/g), ([, path]) => path)
    expect(new Set(paths).size).toBe(paths.length)
    expect(paths).toHaveLength(10)
  })

  it("is drawn also where a history state's default is none of the machine's", async () => {
    const states = { h: { type: "history", target: "#none" }, a: {} }
    const machine = createMachine({ id: "m", initial: "a", states } as never)
    expect(group(await toSvg(machine), "state")).toHaveLength(3)
  })

  it("says what it is to who can't see it", async () => {
    const svg = await toSvg(checkout)
    const about = `State chart checkout: ${group(svg, "state").length - 1} states and ${chartEdges(checkout).length} transitions.`
    expect(svg).toContain(`role="img" aria-label="${about}"`)
    expect(svg).toContain(`<desc>${about}</desc>`)
    expect(svg).toContain("<title>checkout</title>")
  })

  it("has no script, no address and no style of another place", async () => {
    for (const machine of [checkout, hostile, sandboxChart]) {
      const svg = await toSvg(machine)
      const tags = (svg.match(/<[^<>]*>/g) ?? []).map((tag) => tag.replaceAll(/"[^"]*"/g, '""'))
      expect(
        tags.filter((tag) => /^<(script|image|use|foreignObject|a|link|iframe)\b| (href|style|on\w+)=/i.test(tag)),
      ).toEqual([])
      const [, style = ""] = /<style>([^<]*)<\/style>/.exec(svg) ?? []
      expect(style).toContain("prefers-color-scheme:dark")
      expect(style).not.toMatch(/url\(|@import|http/)
    }
  })

  it("is XML, whatever the names are: all is escaped, and what can't be seen is written out", async () => {
    const svg = await toSvg(hostile)
    expect(svg).toContain("&lt;script&gt;alert(&quot;id&quot;)&lt;/script&gt;")
    expect(svg).toContain("\\u{202e}gnp exe")
    expect(svg).not.toMatch(/[\p{Cf}\p{Cs}\p{Zl}]|[\p{Cc}--\n]/v)
    expect(elementsOf(svg)).toEqual([])
  })

  it("cuts a long name, and has the whole of it in a tooltip", async () => {
    const svg = await toSvg(hostile)
    const long = "x".repeat(10_000)
    expect(svg).toContain(`${"x".repeat(31)}…</text>`)
    expect(svg).toContain(`<title>${long} – atomic</title>`)
    const texts = Array.from(svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g), ([, text]) => text!.length)
    expect(Math.max(...texts)).toBeLessThan(300)
  })

  it("lights the states of a snapshot, and what was passed, the last transition apart", async () => {
    const path = ["off", "off--power[0]", "on.playback.stopped--play[0]"]
    const svg = await toSvg(mediaPlayer, {
      state: { on: { playback: { playing: "fast" }, display: "bright" } },
      path,
    })
    expect(group(svg, "state", "on.playback.playing.fast")).toEqual(["state atomic leaf lit"])
    expect(group(svg, "state", "on.playback.playing.normal")).toEqual(["state atomic leaf"])
    expect(group(svg, "state", "off")).toEqual(["state atomic leaf passed"])
    expect(group(svg, "edge", "off--power[0]")).toEqual(["edge lit"])
    expect(group(svg, "edge", "on.playback.stopped--play[0]")).toEqual(["edge lit last"])
    expect(svg.match(/class="link lit last"/g)).toHaveLength(1)
  })

  it("tells how often a transition was taken, and dims those that weren't", async () => {
    const svg = await toSvg(checkout, {
      counts: { "cart.filling--submit[0]": 3 },
      shared: [{ edges: ["paying--(error payment)[1]", "paying--(error payment)[2]"], times: 2 }],
    })
    expect(svg).toContain(">×3</text>")
    expect(svg.match(/>≤2<\/text>/g)).toHaveLength(2)
    expect(group(svg, "edge", "paying--cancel[0]")).toEqual(["edge untaken"])
    // The states don't tell of it.
    expect(group(svg, "edge", "paying--edit[0]")).toEqual(["edge"])
    expect(toMermaid(checkout, { counts: { "cart.filling--submit[0]": 3 } })).toContain("submit ×3 [isValid")
    expect(toAscii(checkout, { counts: { "cart.filling--submit[0]": 3 } })).toContain("submit x3 [isValid")
  })

  it("asks for no other state, and no other transition, than the machine has", async () => {
    const wrong = [
      { state: "nowhere" },
      { state: { cart: "nowhere" } },
      { state: 5 },
      { path: ["cart--nothing[0]"] },
      { counts: { nothing: 1 } },
      { counts: { "cart.filling--submit[0]": -1 } },
      { counts: { "cart.filling--submit[0]": "1" } },
      { shared: [{ edges: ["nothing"], times: 1 }] },
      { shared: [null] },
      { direction: "up" },
      { colour: "red" },
    ]
    const thrown = wrong.map((options) => toSvg(checkout, options as never).catch((error: unknown) => error))
    const taken = (await Promise.all(thrown)).flatMap((error, index) =>
      error instanceof InvalidConfigError ? [] : [wrong[index]],
    )
    expect(taken).toEqual([])
  })

  it("leaves nothing of elkjs in the program's globals", async () => {
    await toSvg(checkout)
    expect(Object.getOwnPropertyDescriptor(globalThis, "onmessage")).toEqual(onmessageBefore)
  })
})

const onmessageBefore = Object.getOwnPropertyDescriptor(globalThis, "onmessage")

/** What an XML reader would stumble over: elements that don't close in order. */
function elementsOf(xml: string): string[] {
  const open: string[] = []
  const wrong: string[] = []
  for (const [whole, slash, name = "", rest = ""] of xml.matchAll(/<(\/?)([\w-]+)([^<>]*)>/g)) {
    if (slash === "/") {
      if (open.pop() !== name) wrong.push(whole)
    } else if (!rest.endsWith("/")) open.push(name)
  }
  const outside = xml.replace(/<style>[^<]*<\/style>/, "").replaceAll(/<[^<>]*>/g, "")
  if (/[<>]|&(?!(amp|lt|gt|quot|#39);)/.test(outside)) wrong.push("a sign that isn't escaped")
  return [...wrong, ...open]
}

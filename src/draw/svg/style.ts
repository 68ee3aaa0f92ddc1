/**
 * The colours and letters of a drawing, light and dark by the viewer's preference. Every rule is below
 * `.leasehold-chart`, so that a page that shows the drawing keeps its own. A page whose policy refuses styles within
 * the drawing takes this text itself.
 */
import { FONT_SIZE, isBold, type TextLook } from "../text/lines.ts"
import { FONT } from "../text/width.ts"

interface ChartPalette {
  readonly ground: string
  readonly panels: readonly [string, string]
  readonly box: string
  readonly border: string
  readonly text: string
  readonly muted: string
  readonly line: string
  readonly event: string
  readonly guard: string
  readonly litBox: string
  readonly lit: string
  readonly passedBox: string
  readonly last: string
}

const light: ChartPalette = {
  ...{ ground: "#ffffff", panels: ["#f3f5f8", "#e9edf3"], box: "#ffffff", border: "#8a94a3", text: "#1b212b" },
  ...{ muted: "#566170", line: "#66717f", event: "#173f77", guard: "#7b3a8f" },
  ...{ litBox: "#d7e8ff", lit: "#0b63ce", passedBox: "#eef5ff", last: "#b84300" },
}
const dark: ChartPalette = {
  ...{ ground: "#0f141b", panels: ["#171e28", "#1f2834"], box: "#0f141b", border: "#5d6b7e", text: "#e7ecf3" },
  ...{ muted: "#9eabbc", line: "#8795a8", event: "#9cc7ff", guard: "#dba6ec" },
  ...{ litBox: "#123a6b", lit: "#6cb0ff", passedBox: "#16263c", last: "#ff9d5c" },
}

const looks: readonly TextLook[] = ["title", "event", "guard", "action", "word", "note", "count"]

/** Rules as `selector { declarations }`, each selector below the drawing's class. */
const rules = (...all: readonly (readonly [string, string])[]): string =>
  all
    .map(([selectors, declarations]) => {
      const below = selectors.split(", ").map((selector) => `.leasehold-chart ${selector}`)
      return `${below.join(",")}{${declarations}}`
    })
    .join("\n")

const shapes = rules(
  ["text", `font-family:${FONT.replaceAll('"', "'")}`],
  ...looks.map((look): [string, string] => [
    `.${look}`,
    `font-size:${FONT_SIZE[look]}px;font-weight:${isBold(look) ? 700 : 400}`,
  ]),
  [".note", "font-style:italic"],
  [".box, .inner-box, .ring", "stroke-width:1.25"],
  [".region > .box", "stroke-dasharray:5 4"],
  [".line, .ring, .inner-box", "fill:none"],
  [".line", "stroke-width:1.25"],
  [".lit > .box", "stroke-width:2"],
  [".link.lit > .line, .link:has(.edge.lit) > .line", "stroke-width:2.25"],
  [".link.last > .line, .link:has(.edge.last) > .line", "stroke-width:2.75"],
  [".link.untaken, .link:not(.untaken) .untaken, .state .untaken", "opacity:.5"],
)

const colours = (palette: ChartPalette): string =>
  rules(
    [".root > .box", `fill:${palette.ground};stroke:${palette.border}`],
    [".box, .inner-box, .ring", `fill:${palette.box};stroke:${palette.border}`],
    [".odd > .box", `fill:${palette.panels[0]}`],
    [".even > .box", `fill:${palette.panels[1]}`],
    [".inner-box, .ring", "fill:none"],
    [".rule", `stroke:${palette.border};stroke-opacity:.45`],
    ["text", `fill:${palette.text}`],
    [".event", `fill:${palette.event}`],
    [".guard", `fill:${palette.guard}`],
    [".word, .note", `fill:${palette.muted}`],
    [".count", `fill:${palette.last}`],
    [".line", `stroke:${palette.line}`],
    [".head, .dot", `fill:${palette.line}`],
    [".ground", `fill:${palette.ground}`],
    [".passed > .box", `fill:${palette.passedBox};stroke:${palette.lit}`],
    [".state.lit > .box, .state.lit > .inner-box", `stroke:${palette.lit}`],
    [".state.leaf.lit > .box", `fill:${palette.litBox}`],
    [".link.lit > .line, .link:has(.edge.lit) > .line", `stroke:${palette.lit}`],
    [".link.lit > .head, .link:has(.edge.lit) > .head", `fill:${palette.lit}`],
    [".edge.lit .event", `fill:${palette.lit}`],
    [".link.last > .line, .link:has(.edge.last) > .line", `stroke:${palette.last}`],
    [".link.last > .head, .link:has(.edge.last) > .head", `fill:${palette.last}`],
    [".edge.last .event", `fill:${palette.last}`],
  )

/** The text of a drawing's `<style>`. */
export const chartStyle: string = [
  shapes,
  colours(light),
  `@media (prefers-color-scheme:dark){\n${colours(dark)}\n}`,
].join("\n")

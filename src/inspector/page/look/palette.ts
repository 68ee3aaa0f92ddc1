/** The colours of the style sheet for what is drawn on a canvas. Read anew when the theme changes. */
import { TOP_STATES } from "../../live/model/states.ts"

/** Colours by the index of a state; from `faintFrom` on the same ones, faint. */
export interface Palette {
  /** As styles: `#rrggbb`. */
  readonly css: readonly string[]
  /** As pixels of an ImageData. */
  readonly packed: Uint32Array
  readonly faintFrom: number
  readonly attention: string
  readonly ink: string
  readonly soft: string
  readonly line: string
  readonly paper: string
  readonly fault: string
  readonly accent: string
  /** For words on the colour of a state. */
  readonly onState: string
}

/** How much of a colour is left of what isn't searched for. */
const FAINT = 0.22

/** The colours as they are now. */
export function readPalette(): Palette {
  const probe = document.body.appendChild(document.createElement("i"))
  const style = getComputedStyle(probe)
  const colour = (name: string): string => {
    probe.style.color = `var(--${name})`
    return hexOf(style.color)
  }
  try {
    return paletteOf(colour)
  } finally {
    probe.remove()
  }
}

function paletteOf(colour: (name: string) => string): Palette {
  const paper = channels(colour("card"))
  const strong = TOP_STATES.map((state) => channels(colour(state)))
  const all = [...strong, ...strong.map((each) => mixed(each, paper, FAINT))]
  return {
    css: all.map(hexText),
    packed: Uint32Array.from(all, packed),
    faintFrom: TOP_STATES.length,
    attention: colour("attention"),
    ink: colour("ink"),
    soft: colour("soft"),
    line: colour("line"),
    paper: colour("card"),
    fault: colour("fault"),
    accent: colour("accent"),
    onState: colour("on-state"),
  }
}

type Channels = readonly [number, number, number]

/** `rgb(1, 2, 3)`, as browsers tell a colour, as `#010203`. */
function hexOf(rgb: string): string {
  const [r = 0, g = 0, b = 0] = (rgb.match(/[\d.]+/g) ?? []).map(Number)
  return hexText([r, g, b])
}

const hexText = (colour: Channels): string =>
  `#${colour.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`

/** Of `#rrggbb`. */
function channels(hex: string): Channels {
  const value = Number.parseInt(hex.slice(1), 16)
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255]
}

const mixed = (one: Channels, other: Channels, part: number): Channels => {
  const mix = (index: 0 | 1 | 2): number => Math.round(one[index] * part + other[index] * (1 - part))
  return [mix(0), mix(1), mix(2)]
}

/** Canvases have red first, and every machine that runs a browser has the low byte first. */
const packed = ([r, g, b]: Channels): number => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0

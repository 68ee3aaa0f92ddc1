/**
 * A drawing that a worker sent, made of known parts alone: shapes and text, no script, no link, nothing from elsewhere.
 * Its style sheet is given apart, as the page's policy lets no style element in.
 *
 * Not promised: a drawing that is more than this (images, gradients, foreign objects) loses those parts.
 */

const NAMESPACE = "http://www.w3.org/2000/svg"

const ELEMENTS: ReadonlySet<string> = new Set([
  "svg",
  "g",
  "path",
  "rect",
  "circle",
  "ellipse",
  "line",
  "polyline",
  "polygon",
  "text",
  "tspan",
  "title",
  "desc",
  "marker",
  "defs",
])

const ATTRIBUTES: ReadonlySet<string> = new Set(
  (
    "class id role x y x1 y1 x2 y2 dx dy cx cy r rx ry width height viewBox d points transform fill stroke stroke-width " +
    "stroke-dasharray stroke-linecap stroke-linejoin font-size font-weight font-style font-family text-anchor " +
    "dominant-baseline marker-start marker-end marker-mid markerWidth markerHeight markerUnits refX refY orient opacity " +
    "xml:space textLength lengthAdjust preserveAspectRatio"
  ).split(" "),
)

/** References stay within the drawing. */
const LOCAL = /^url\(#[\w.:-]+\)$/

/** Attributes that a parser reports against the policy before anything could look at them. */
const REPORTED = /\s(?:on\w+|style)\s*=\s*(?:"[^"]*"|'[^']*')/gi

/** In elements: a chart of 200 states has some 5,000. */
const MOST_ELEMENTS = 20_000

/** A drawing and its style. */
export interface SafeSvg {
  readonly element: SVGSVGElement
  readonly style: string
}

/** The drawing; null for a text that is none. */
export function safeSvg(text: string): SafeSvg | null {
  const styles: string[] = []
  // Taken out before it is read: a parser that meets a style element reports it against the page's policy.
  const bare = text.replaceAll(/<style[^>]*>([\s\S]*?)<\/style\s*>/g, (_, style: string) => {
    styles.push(style)
    return ""
  })
  const quiet = bare.replaceAll(REPORTED, "")
  const { documentElement: root } = new DOMParser().parseFromString(quiet, "image/svg+xml")
  if (root.localName !== "svg" || root.namespaceURI !== NAMESPACE) return null
  if (root.getElementsByTagName("*").length > MOST_ELEMENTS) return null
  const element = copyOf(root)
  return element instanceof SVGSVGElement ? { element, style: withoutImports(styles.join("\n")) } : null
}

function copyOf(source: Element): Element {
  const copy = document.createElementNS(NAMESPACE, source.localName)
  for (const { name, value } of source.attributes) if (isSafe(name, value)) copy.setAttribute(name, value)
  for (const child of source.childNodes) {
    if (child instanceof Element) {
      if (child.namespaceURI === NAMESPACE && ELEMENTS.has(child.localName)) copy.append(copyOf(child))
    } else if (child.nodeType === Node.TEXT_NODE) copy.append(child.textContent ?? "")
  }
  return copy
}

function isSafe(name: string, value: string): boolean {
  const isKnown = ATTRIBUTES.has(name) || name.startsWith("data-") || name.startsWith("aria-")
  return isKnown && (!/url\s*\(/i.test(value) || LOCAL.test(value))
}

/** The policy refuses whatever a style would load; this keeps it from trying. */
const withoutImports = (css: string): string =>
  css
    .replaceAll(/@(import|font-face|namespace)\b[^;{]*(;|\{[^}]*\})/gi, "")
    .replaceAll(/url\s*\((?!\s*#)[^)]*\)/gi, "none")

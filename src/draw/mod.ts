/**
 * `leasehold/draw`: drawings of state charts, for any machine of XState 5: as SVG, as Mermaid and as text.
 *
 * `toSvg` needs the package elkjs, which it loads when it is called; nothing else here does.
 */
import "../runtime/least-node.ts"

export { toAscii, type AsciiOptions } from "./ascii.ts"
export type { CountOptions, SharedCount } from "./machine/counts.ts"
export { EdgeCounter, type EdgeCounts } from "./machine/edge-counter.ts"
export { edgesTaken, type EdgesTaken } from "./machine/edges-taken.ts"
export type { ChartEdge } from "./machine/graph.ts"
export { toMermaid } from "./mermaid.ts"
export { chartEdges } from "./machine/read-machine.ts"
export { toSvg } from "./svg/svg.ts"
export type { SvgOptions } from "./svg/options.ts"
export { chartStyle } from "./svg/style.ts"

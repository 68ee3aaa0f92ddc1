/**
 * What is written into the boxes of states and on the lines between them, and how much room it takes. Owns all texts of
 * a drawing; where they stand is the layout's to say.
 */
import type { CountOf } from "../machine/counts.ts"
import type { ChartEdge, ChartGraph, ChartState } from "../machine/graph.ts"
import { listed, LONGEST_PIECE, type Piece, piece, setLine, type TextRun, wrap } from "../text/lines.ts"
import { shortened, visible } from "../text/visible.ts"
import type { Size } from "./geometry.ts"
import type { Link } from "./links.ts"

/** One line of text. */
export interface TextLine {
  readonly runs: readonly TextRun[]
  /** From the top of its block to the line on which its letters stand. */
  readonly baseline: number
  /** The transition that it is about. */
  readonly edge: string | undefined
}

/** Lines of text with the room around them. */
export interface Block extends Size {
  readonly lines: readonly TextLine[]
  /** Of a state: from its top to where its title ends and more follows; undefined where there is no more. */
  readonly rule: number | undefined
}

/** In characters: a longer title is cut. */
const LONGEST_TITLE = 32
/** In pixels: how wide a line may grow. On a line between states it is narrow, since many stand side by side. */
const WIDEST = { state: 200, label: 96 } as const
/** In pixels, from one line to the next. */
const LINE_HEIGHT = { state: 15, label: 14 } as const
/** In pixels, from the top of a block to where its first letters stand. */
const FIRST = { state: 21, label: 13 } as const
/** In pixels, beside the texts. */
const PADDING = { state: 12, label: 5 } as const
/** In pixels, from where a title's letters stand to the rule below it, and from there to the next line's. */
const RULE = { below: 8, above: 16 } as const
/** In pixels, below the last line's letters. */
const BOTTOM = { title: 11, rows: 9, label: 6 } as const
/** In lines: a longer description is cut. */
const MOST_NOTES = 4

interface Row {
  readonly pieces: readonly Piece[]
  readonly edge: string | undefined
}

/** Title and rows of a state; `notes` are more rows. */
export function stateBlock(
  graph: ChartGraph,
  state: ChartState,
  countOf: CountOf,
  notes: readonly string[] = [],
): Block {
  const rows = [
    ...rowsOf(state),
    ...innerRows(graph, state, countOf),
    ...notes.flatMap(noteLines).map((text) => aRow({ look: "note", text })),
  ].flatMap(({ pieces, edge }) => wrap(pieces, WIDEST.state).map((line) => ({ pieces: line, edge })))
  const mark = state.history === undefined ? [] : [piece("event", state.history === "deep" ? "H*" : "H")]
  const title = aRow(...mark, piece("title", state.key, LONGEST_TITLE))
  const firstRow = FIRST.state + RULE.below + RULE.above
  const set = [
    lineOf(title, PADDING.state, FIRST.state),
    ...rows.map((row, index) => lineOf(row, PADDING.state, firstRow + index * LINE_HEIGHT.state)),
  ]
  const hasRows = rows.length > 0
  return {
    lines: set.map(({ line }) => line),
    width: Math.max(...set.map(({ width }) => width)) + 2 * PADDING.state,
    height: (set.at(-1)?.line.baseline ?? 0) + (hasRows ? BOTTOM.rows : BOTTOM.title),
    rule: hasRows ? FIRST.state + RULE.below : undefined,
  }
}

/** What is written on a line between states: a row for each transition. */
export function linkBlock({ told }: Link, countOf: CountOf): Block | undefined {
  return labelBlock(told.map((edge) => ({ pieces: edgePieces(edge, countOf), edge: edge.id })))
}

/** What is written on the way to a first state: its actions, where it has some. */
export function initialBlock({ initialActions }: ChartState): Block | undefined {
  const actions = worthTelling(initialActions)
  return labelBlock(actions.length === 0 ? [] : [aRow(piece("word", "/"), ...listed("action", actions))])
}

function labelBlock(rows: readonly Row[]): Block | undefined {
  if (rows.length === 0) return undefined
  const set = rows
    .flatMap(({ pieces, edge }) => wrap(pieces, WIDEST.label).map((line) => ({ pieces: line, edge })))
    .map((row, index) => lineOf(row, PADDING.label, FIRST.label + index * LINE_HEIGHT.label))
  return {
    lines: set.map(({ line }) => line),
    width: Math.max(...set.map(({ width }) => width)) + 2 * PADDING.label,
    height: (set.at(-1)?.line.baseline ?? 0) + BOTTOM.label,
    rule: undefined,
  }
}

const aRow = (...pieces: readonly Piece[]): Row => ({ pieces, edge: undefined })

function lineOf({ pieces, edge }: Row, from: number, baseline: number): { line: TextLine; width: number } {
  const { runs, width } = setLine(pieces, from)
  return { line: { runs, baseline, edge }, width }
}

function rowsOf({ entry, exit, invokes, tags, description }: ChartState): readonly Row[] {
  const actions = (word: string, names: readonly string[]): readonly Row[] =>
    names.length === 0 ? [] : [aRow(piece("word", `${word} /`), ...listed("action", names))]
  return [
    ...(description === undefined ? [] : noteLines(description).map((text) => aRow({ look: "note", text }))),
    ...invokes.map((name) => aRow(piece("word", "invoke /"), piece("action", name))),
    ...actions("entry", entry),
    ...actions("exit", exit),
    ...(tags.length === 0 ? [] : [aRow(...tags.map((tag) => piece("note", `#${tag}`)))]),
  ]
}

/** Transitions that stay in the state are told in it: there is nowhere to draw a line to. */
const innerRows = (graph: ChartGraph, state: ChartState, countOf: CountOf): readonly Row[] =>
  [...graph.edges.values()]
    .filter(({ source, targets }) => source === state.path && targets.length === 0)
    .map((edge) => ({ pieces: edgePieces(edge, countOf), edge: edge.id }))

function edgePieces(edge: ChartEdge, countOf: CountOf): readonly Piece[] {
  const { event, guard, reenter } = edge
  const actions = worthTelling(edge.actions)
  const count = countOf(edge)
  return [
    piece("event", event),
    ...(count === undefined ? [] : [piece("count", count)]),
    ...(guard === undefined ? [] : [piece("guard", `[${shortened(visible(guard), LONGEST_PIECE - 2)}]`)]),
    ...(reenter ? [piece("word", "reenters")] : []),
    ...(actions.length === 0 ? [] : [piece("word", "/"), ...listed("action", actions)]),
  ]
}

/** A bare `assign` says nothing: it has no name, and what it assigns is code. */
const worthTelling = (actions: readonly string[]): readonly string[] => actions.filter((name) => name !== "assign")

/** A description in lines of about one width; what is too long for its lines is cut. */
function noteLines(text: string): readonly string[] {
  const lines: string[] = []
  for (const word of shortened(visible(text), 2 * MOST_NOTES * LONGEST_PIECE)
    .trim()
    .split(" ")) {
    const short = shortened(word, LONGEST_PIECE)
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + short.length <= LONGEST_PIECE)
      lines[lines.length - 1] = `${line} ${short}`
    else lines.push(short)
  }
  if (lines.length <= MOST_NOTES) return lines
  const last = (lines[MOST_NOTES - 1] ?? "").slice(0, LONGEST_PIECE - 2)
  return [...lines.slice(0, MOST_NOTES - 1), `${last} …`]
}

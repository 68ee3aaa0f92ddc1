/**
 * A machine as a tree in plain text, for terminals and READMEs: each state with its transitions below it. Only names of
 * the machine have other characters than ASCII. The same machine gives the same text on every runtime.
 */
import type { AnyStateMachine } from "xstate"
import { aCount, refuseUnknown } from "../runtime/input/options.ts"
import { countChecks, countOf, type CountOptions, SHARED_NOTE, type TakenTimes, timesOf } from "./machine/counts.ts"
import { type ChartEdge, type ChartGraph, type ChartState, isWithin, ROOT, stateOf } from "./machine/graph.ts"
import { readMachine } from "./machine/read-machine.ts"
import { columnsOf, wrapColumns } from "./text/columns.ts"
import { shortened, visible } from "./text/visible.ts"

/** How a tree is written. */
export interface AsciiOptions extends CountOptions {
  /** In columns: what is longer goes on in the next line. 80 unless said otherwise, and at least 40. */
  readonly width?: number
}

/** In columns. */
const [DEFAULT_WIDTH, LEAST_WIDTH] = [80, 40]
/** In columns: deep in the tree lines are still this long, though they stand out. */
const LEAST_TEXT = 24
/** In characters: a longer name is cut. */
const LONGEST_NAME = 60

/**
 * Draws the machine as a tree. `+-*` is the state that is entered first, `+-=` one of several that are active at once,
 * `+--` any other. A target is the key of a state beside this one, `.key` of one in it, or `#` and the path from the
 * root.
 *
 * Throws InvalidConfigError for what is no machine of XState 5, and for unknown options.
 */
export function toAscii(machine: AnyStateMachine, options: AsciiOptions = {}): string {
  refuseUnknown("toAscii", options, { ...countChecks, width: aCount(LEAST_WIDTH) })
  const graph = readMachine(machine)
  const { width = DEFAULT_WIDTH } = options
  const times = timesOf(graph, options)
  const note = times?.isShared === true ? broken(plain(SHARED_NOTE), "", "    ", width) : []
  return `${[...linesOf({ graph, times, width }, stateOf(graph, ROOT), "", ""), ...note].join("\n")}\n`
}

interface Tree {
  readonly graph: ChartGraph
  readonly times: TakenTimes | undefined
  readonly width: number
}

/** In ASCII. */
const plain = (words: string): string => words.replaceAll("×", "x").replaceAll("≤", "<=")

/** The state's own lines and those of the states in it; `first` begins the first of them, `rest` all others. */
function linesOf(tree: Tree, state: ChartState, first: string, rest: string): readonly string[] {
  const { graph, width } = tree
  const { children } = state
  const rowIndent = `${rest}${children.length > 0 ? "|   " : "    "}`
  const title = broken(titleOf(state), first, `${rest}  `, width)
  const rows = rowsOf(tree, state).flatMap((row) => broken(row, rowIndent, `${rowIndent}    `, width))
  const below = children.flatMap((path, index) => {
    const child = stateOf(graph, path)
    const isLast = index === children.length - 1
    return linesOf(tree, child, `${rest}${branchOf(state, child)} `, `${rest}${isLast ? "    " : "|   "}`)
  })
  return [...title, ...rows, ...below]
}

const branchOf = (parent: ChartState, child: ChartState): string =>
  parent.initial === child.path ? "+-*" : parent.type === "parallel" && child.type !== "history" ? "+-=" : "+--"

function titleOf({ key, type, history, tags }: ChartState): string {
  const kind =
    history === undefined ? (type === "atomic" || type === "compound" ? "" : ` (${type})`) : ` (${history} history)`
  return [`${named(key)}${kind}`, ...tags.map((tag) => `#${named(tag)}`)].join(" ")
}

function rowsOf(tree: Tree, state: ChartState): readonly string[] {
  const { description, invokes, entry, exit, initialActions, path } = state
  const listed = (word: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [`${word} / ${names.map(named).join(", ")}`]
  return [
    ...(description === undefined ? [] : [`"${visible(description)}"`]),
    ...listed("invoke", invokes),
    ...listed("entry", entry),
    ...listed("exit", exit),
    ...listed("initially", initialActions),
    ...[...tree.graph.edges.values()].filter(({ source }) => source === path).map((edge) => edgeText(tree, edge)),
  ]
}

function edgeText({ graph, times }: Tree, edge: ChartEdge): string {
  const { event, guard, actions, source, targets, reenter } = edge
  const count = countOf(times)(edge)
  return [
    named(event),
    ...(count === undefined ? [] : [plain(count)]),
    ...(guard === undefined ? [] : [`[${named(guard)}]`]),
    ...(actions.length === 0 ? [] : [`/ ${actions.map(named).join(", ")}`]),
    ...(targets.length === 0 ? [] : [`-> ${targets.map((target) => targetText(graph, source, target)).join(", ")}`]),
    ...(reenter ? ["(reenters)"] : []),
  ].join(" ")
}

function targetText(graph: ChartGraph, source: string, target: string): string {
  const { parent } = stateOf(graph, source)
  const { key, parent: around } = stateOf(graph, target)
  if (target === ROOT) return `#${named(key)}`
  if (parent !== undefined && around === parent) return named(key)
  const isInside = source !== target && isWithin(graph, target, source)
  if (!isInside) return `#${named(target)}`
  return `.${named(source === ROOT ? target : target.slice(source.length + 1))}`
}

const named = (text: string): string => shortened(visible(text), LONGEST_NAME, "...")

function broken(text: string, first: string, rest: string, width: number): readonly string[] {
  const room = (indent: string): number => Math.max(LEAST_TEXT, width - columnsOf(indent))
  return wrapColumns(text, room(first), room(rest)).map((line, index) =>
    `${index === 0 ? first : rest}${line}`.trimEnd(),
  )
}

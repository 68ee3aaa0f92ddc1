/**
 * How often transitions were taken, as all drawings are told: checked against the machine, and in words.
 */
import { aList, aNumber, type OptionCheck, refusal, shown } from "../../runtime/input/options.ts"
import type { ChartEdge, ChartGraph } from "./graph.ts"

/** How often each transition was taken. */
export interface TakenTimes {
  readonly of: (id: string) => TimesOf
  /** Some can't be told apart. */
  readonly isShared: boolean
}

/** What every drawing can count. */
export interface CountOptions {
  /** How often each transition was taken, by its id. In an SVG those that are missing or 0 are dimmed. */
  readonly counts?: Readonly<Record<string, number>>
  /** Groups of transitions of which one was taken so many times, and nobody can tell which (`edgesTaken`). */
  readonly shared?: readonly SharedCount[]
}

/** Transitions that lead from one state to another alike, and how often one of them was taken. */
export interface SharedCount {
  /** Their ids. */
  readonly edges: readonly string[]
  /** How often one of them was taken. */
  readonly times: number
}

/** How often a transition was taken: surely, and perhaps beside that. */
export interface TimesOf {
  readonly sure: number
  readonly perhaps: number
}

const aRecord: OptionCheck = (name, value) => {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refusal(`${name} is ${shown(value)}`, "Give an object with a number for each transition's id")
}

/** The checks of these options. */
export const countChecks: Readonly<Record<keyof CountOptions, OptionCheck>> = { counts: aRecord, shared: aList }

/** What a count that can't be told apart means. */
export const SHARED_NOTE = "≤n: one of several was taken n times; the states don't tell which."

/** Reads counts; undefined where nothing is counted. Throws InvalidConfigError for what the machine hasn't. */
export function timesOf(graph: ChartGraph, { counts, shared }: CountOptions): TakenTimes | undefined {
  if (counts === undefined && shared === undefined) return undefined
  const sure = new Map<string, number>()
  const perhaps = new Map<string, number>()
  const add = (to: Map<string, number>, option: string, id: string, times: number): void => {
    checkCount(graph, option, id, times)
    to.set(id, (to.get(id) ?? 0) + times)
  }
  for (const [id, times] of Object.entries(counts ?? {})) add(sure, "counts", id, times)
  for (const group of shared ?? []) for (const id of edgesOf(group)) add(perhaps, "shared", id, group.times)
  return {
    of: (id) => ({ sure: sure.get(id) ?? 0, perhaps: perhaps.get(id) ?? 0 }),
    isShared: [...perhaps.values()].some((times) => times > 0),
  }
}

function edgesOf(group: SharedCount | null): readonly string[] {
  const edges: unknown = group?.edges
  if (Array.isArray(edges)) return edges as readonly string[]
  throw refusal(`shared has ${shown(group)}, which has no list of edges`, "Give { edges: […], times } for each group")
}

function checkCount(graph: ChartGraph, option: string, id: string, times: number): void {
  if (!graph.edges.has(id)) throw unknownId(option, id)
  aNumber(`${option} of ${id}`, times)
  if (times < 0) throw refusal(`${option} of ${id} is ${times}`, "Give 0 or more")
}

/** The error for an id that the machine hasn't. */
export const unknownId = (option: string, id: unknown): Error =>
  refusal(
    `${option} has ${shown(id)}, which is no transition of the machine, nor a state`,
    "Take ids from chartEdges(machine), and paths with dots between the keys",
  )

/** As a label says it: `×12`, `×12 +≤3`, `≤3`. */
export function timesWords({ sure, perhaps }: TimesOf): string {
  if (perhaps === 0) return `×${sure}`
  return sure === 0 ? `≤${perhaps}` : `×${sure} +≤${perhaps}`
}

/** Whether it may have been taken at all. */
export const isTaken = ({ sure, perhaps }: TimesOf): boolean => sure + perhaps > 0

/** How often an edge was taken, in words; undefined where it never was, or nobody counted. */
export type CountOf = (edge: ChartEdge) => string | undefined

/** That, from what was counted. */
export const countOf =
  (times: TakenTimes | undefined): CountOf =>
  ({ id }) => {
    const each = times?.of(id)
    return each !== undefined && isTaken(each) ? timesWords(each) : undefined
  }

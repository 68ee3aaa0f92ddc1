/**
 * What an invariant of traces is: a sentence, and a watch that sees every line once, in order, and says where the
 * sentence doesn't hold. Watches keep little, so that long runs can be watched while they happen.
 *
 * Not promised: that a trace without the lines a watch looks at is fine. What isn't told can't be judged; of a live
 * trace without `applied` lines the store's truth is not known.
 */
import { aFunction, aList, anObject, type OptionCheck } from "../../../runtime/input/options.ts"
import { hasLines, isTraceLine } from "../../../trace/trace-text.ts"
import type { Trace, TraceLine, UnknownLine } from "../../../trace/trace.ts"

/** One place where an invariant doesn't hold. */
export interface Violation {
  /** The invariant's name. */
  readonly invariant: string
  /** When, in Unix milliseconds of the trace. */
  readonly at: number
  /** What is wrong there. */
  readonly message: string
  /** The lock key, where it is about one. */
  readonly key?: string
  /** The workers that it is about. */
  readonly workers: readonly string[]
  /** The number of the line at which it showed, the first after the header being 0. */
  readonly line: number
}

/** What a watch tells of a violation; the rest is known to who asks it. */
export type Found = Pick<Violation, "message" | "workers"> & Partial<Pick<Violation, "key" | "at">>

/** Sees one trace. */
export interface Watch {
  /** The next line. */
  line(line: TraceLine): void
  /** The trace is over, at this time: what was to come has not come. */
  end?(at: number): void
}

/** Something that must be true of every trace. */
export interface Invariant {
  /** Short, for lists: `one owner`. */
  readonly name: string
  /** What must be true. */
  readonly sentence: string
  /**
   * Begins to watch a trace. `found` is called for each violation, during the line that shows it. What this or its
   * watch throws is a violation too, as of an assertion; that watch sees nothing more.
   */
  watch(found: (violation: Found) => void): Watch
}

/** A list of invariants. */
export const someInvariants: OptionCheck = (name, value) => {
  aList(name, value)
  for (const [index, each] of (value as readonly unknown[]).entries())
    anObject("Give an invariant, such as one of allInvariants", "watch")(`${name}[${index}]`, each)
}

/** Watches one trace for several invariants at once, line by line. */
export class TraceWatch {
  /** What was found so far, in the order of the lines. */
  readonly violations: Violation[] = []
  /** Without those that threw. */
  readonly #watches: Map<Invariant, Watch> = new Map()
  readonly #onViolation: (violation: Violation) => void
  #line = -1
  #at = 0

  /** Begins to watch. `onViolation` is called for each, at once; it mustn't throw. Throws InvalidConfigError. */
  constructor(invariants: readonly Invariant[], onViolation: (violation: Violation) => void = () => {}) {
    someInvariants("invariants", invariants)
    aFunction("onViolation", onViolation)
    this.#onViolation = onViolation
    for (const invariant of invariants) this.#guard(invariant, () => this.#begin(invariant))
  }

  /** The next line. Lines of kinds that this release doesn't know are passed over. */
  line(line: TraceLine | UnknownLine): void {
    this.#line++
    if (!isTraceLine(line)) return
    this.#at = line.at
    for (const [invariant, watch] of this.#watches) this.#guard(invariant, () => watch.line(line))
  }

  /** The trace is over. */
  end(): void {
    for (const [invariant, watch] of this.#watches) this.#guard(invariant, () => watch.end?.(this.#at))
  }

  #begin(invariant: Invariant): void {
    const watch = invariant.watch((found) => this.#tell(invariant, found))
    this.#watches.set(invariant, watch)
  }

  /**
   * What a watch throws goes against its invariant, and blinds no other. Its own state is unknown from then on: it is
   * left out.
   */
  #guard(invariant: Invariant, look: () => void): void {
    try {
      look()
    } catch (error) {
      this.#watches.delete(invariant)
      this.#tell(invariant, { message: `the invariant threw: ${textOf(error)}`, workers: [] })
    }
  }

  #tell(invariant: Invariant, { at = this.#at, ...found }: Found): void {
    const violation = { invariant: invariant.name, at, line: Math.max(0, this.#line), ...found }
    this.violations.push(violation)
    this.#onViolation(violation)
  }
}

/**
 * All violations of a trace, in the order in which they show. Violations at its end come last. Throws
 * InvalidConfigError.
 */
export function checkTrace(trace: Pick<Trace, "lines">, invariants: readonly Invariant[]): readonly Violation[] {
  hasLines("the trace", trace)
  const watch = new TraceWatch(invariants)
  for (const line of trace.lines) watch.line(line)
  watch.end()
  return watch.violations
}

const textOf = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : String(error))

/** What came of a mutant: whether it is killed, by what, and how that is said in one line. */
import type { Catch, Hunt, Mutant } from "./mutant.ts"

/** How a mutant's hunts ended. */
export interface Verdict {
  /** What killed it, as far as that had to go; undefined where it lives. */
  readonly killer: Hunt | undefined
  readonly line: string
}

/** Of hunts that were made, in their order, as far as the first that found something. Without any the mutant lives. */
export function verdictOf({ name }: Pick<Mutant, "name">, hunts: readonly Hunt[], tried: readonly Catch[]): Verdict {
  const last = tried.at(-1)
  const hunt = hunts[tried.length - 1]
  if (last === undefined || hunt === undefined)
    return { killer: undefined, line: `- ${name}: nothing to hunt it with: LIVES` }
  const { by, count, unit, ms, violation } = last
  const took = `${name}: ${by}, ${count} ${unit}, ${ms} ms`
  if (violation === "") return { killer: undefined, line: `- ${took}: LIVES` }
  return { killer: upTo(hunt, count), line: `x ${took}: ${violation.split("\n")[0]!.slice(0, 150)}` }
}

/** As far as the hunt had to go. */
function upTo(hunt: Hunt, count: number): Hunt {
  if (hunt.by === "search") return { ...hunt, limit: count }
  return "from" in hunt ? { ...hunt, to: hunt.from + count - 1 } : hunt
}

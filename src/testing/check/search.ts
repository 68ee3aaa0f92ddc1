/**
 * A search through all worlds that can come of one, nearest first, so that the first broken law is a shortest way to
 * it.
 */
import { type CheckHorizon, moves } from "./moves/moves.ts"
import { keyOf } from "./world/canon.ts"
import { Broken, judge } from "./world/laws.ts"
import type { Rules, World } from "./world/world.ts"

/** How a world came to be. */
interface Trail {
  readonly before: Trail | undefined
  readonly what: string
  readonly at: number
}

/** What a search has come to. */
export interface SearchResult {
  /** Worlds that differ. */
  readonly states: number
  /** The most that happened in one run. */
  readonly depth: number
  /** Every world was looked at. */
  readonly complete: boolean
  /** What was broken, and all that happened before. */
  readonly broken: { readonly law: string; readonly trail: readonly string[] } | undefined
}

/** Looks at all worlds, at most `limit` of them. */
export function search(
  first: World,
  rules: Rules,
  bounds: CheckHorizon,
  { orders, limit }: { readonly orders: readonly (readonly number[])[]; readonly limit: number },
): SearchResult {
  const seen = new Set([keyOf(first, orders)])
  let level: (readonly [World, Trail | undefined])[] = [[first, undefined]]
  let depth = 0
  while (level.length > 0) {
    const next: (readonly [World, Trail | undefined])[] = []
    for (const [world, trail] of level) {
      for (const { what, make } of moves(world, rules, bounds)) {
        const step: Trail = { before: trail, what, at: world.at }
        try {
          for (const after of make()) {
            judge(after, rules)
            const key = keyOf(after, orders)
            if (seen.has(key)) continue
            seen.add(key)
            next.push([after, step])
          }
        } catch (error) {
          if (!(error instanceof Broken)) throw error
          return { states: seen.size, depth, complete: false, broken: { law: error.message, trail: told(step) } }
        }
      }
      if (seen.size > limit) return { states: seen.size, depth, complete: false, broken: undefined }
    }
    level = next
    depth++
  }
  return { states: seen.size, depth, complete: true, broken: undefined }
}

function told(last: Trail): readonly string[] {
  const lines: string[] = []
  for (let trail: Trail | undefined = last; trail !== undefined; trail = trail.before)
    lines.unshift(`${String(Math.round(trail.at)).padStart(6)} ms  ${trail.what}`)
  return lines
}

/** One search of `npm run checker`, and how it is told. */
import process from "node:process"
import { configurations, guardSearch, larger } from "../../src/testing/check/configurations.ts"
import { check, type CheckResult, smallestGuard } from "../../src/testing/check/mod.ts"
import { type Figures, GUARD } from "./page.ts"

/** What it came to. */
export interface Searched extends Figures {
  readonly name: string
  readonly text: string
  readonly isBroken: boolean
  readonly isComplete: boolean
  /** The most memory that this process has had so far. */
  readonly gigabytes: number
}

/** Makes it. */
export function search(name: string, { leftOut }: { readonly leftOut: boolean }): Searched {
  const from = performance.now()
  const { result, lines } = name === GUARD ? ofGuard() : ofWorlds(name)
  const seconds = (performance.now() - from) / 1000
  const more = leftOut ? result.leftOut.map((line) => `  left out: ${line}`) : []
  return {
    name,
    text: [lines[0]!.replace("%s", `${seconds.toFixed(1)} s`), ...lines.slice(1), ...more].join("\n"),
    states: result.states,
    seconds,
    isBroken: result.broken !== undefined,
    isComplete: result.complete,
    gigabytes: process.resourceUsage().maxRSS / 2 ** 20,
  }
}

interface Made {
  readonly result: CheckResult
  /** The first has `%s` where its time comes. */
  readonly lines: readonly string[]
}

function ofWorlds(name: string): Made {
  const { why, options } = { ...configurations, ...larger }[name]!
  const result = check(options)
  const { states, depth, broken, complete, trail } = result
  const came = broken === undefined ? (complete ? "all of them" : "NOT ALL of them") : "BROKEN"
  const worlds = `${name}: ${states} states, depth ${depth}, ${came}, %s: ${why}`
  return {
    result,
    lines: broken === undefined ? [worlds] : [worlds, `  ${broken}`, ...trail.map((line) => `  ${line}`)],
  }
}

/** What is broken with less is no violation: it shows that the guard is needed. */
function ofGuard(): Made {
  const { options } = guardSearch
  const { guard, safe, unsafe } = smallestGuard(options)
  const { drift = 0, dates = 0 } = options.clockError ?? {}
  const least =
    `guard: ${guard} ms is the least for a ttl of ${options.ttl}, dates ${dates} apart and clocks ${drift * 100} % off:` +
    ` ${safe.states} states with it, all of them, %s for all guards; with 100 ms less, ${unsafe.broken}`
  return { result: safe, lines: [least] }
}

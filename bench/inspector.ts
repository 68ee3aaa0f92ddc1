/**
 * What the model of the live page costs with 100,000 sandboxes: a line against the least that keeping rows can be (one
 * new object in a Map), whether it costs more there than with 1,000, and what looking through all of them takes.
 */
import { attentions } from "../src/inspector/live/model/attention.ts"
import { Fleet } from "../src/inspector/live/model/fleet.ts"
import { parseSearch } from "../src/inspector/live/model/search.ts"
import type { SandboxStateValue } from "../src/trace/state-value.ts"
import type { StateLine } from "../src/trace/trace.ts"
import { detail, inTurns, ratio, wallOf } from "./ratio.ts"

const MANY = 100_000
const FEW = 1000
const ROUNDS = 5
/** As many as come in a hundred seconds at 1,000 a second. */
const LINES = 100_000
/** What a frame of 60 a second has, in milliseconds. */
const FRAME = 1000 / 60

/** Prints the figures. */
export async function benchInspector(): Promise<void> {
  const [many, few] = [fleetOf(MANY), fleetOf(FEW)]
  const rows = new Map<string, object>()
  const [ofMany, ofFew] = [linesFor(MANY), linesFor(FEW)]
  const costs = await inTurns(ROUNDS, {
    many: async () => wallOf(() => take(many, ofMany)),
    few: async () => wallOf(() => take(few, ofFew)),
    map: async () => wallOf(() => ofMany.forEach((line) => rows.set(`${line.worker} ${line.key}`, { ...line }))),
  })
  detail("a line, of 100,000 sandboxes", costs.many / LINES, "µs")
  detail("a line, of 1,000 sandboxes", costs.few / LINES, "µs")
  detail("a new object in a Map", costs.map / LINES, "µs")
  ratio("fleet-line/map-update", costs.many / costs.map, "<=", 8)
  ratio("fleet-line-of-100000/of-1000", costs.many / costs.few, "<=", 6)

  const search = parseSearch("worker:w3 held>5m")
  if ("problem" in search) throw new Error(search.problem)
  const walks = await inTurns(ROUNDS, {
    attention: async () => wallOf(() => void attentions(many, LINES)),
    search: async () => wallOf(() => void Array.from(many.rows()).filter((row) => search.matches(row, LINES)).length),
  })
  detail("what needs attention, of 100,000", walks.attention / 1000, "ms")
  detail("a search through 100,000", walks.search / 1000, "ms")
  detail("1,000 lines", costs.many / LINES, "ms")
  ratio("lines-of-a-second/a-frame", costs.many / LINES / FRAME, "<=", 0.5)
}

function fleetOf(count: number): Fleet {
  const fleet = new Fleet()
  take(fleet, linesFor(count))
  return fleet
}

function take(fleet: Fleet, lines: readonly StateLine[]): void {
  for (const line of lines) fleet.line(line)
  fleet.takeChanges()
}

const running: SandboxStateValue = { owning: { work: "running", lease: "healthy" } }
const degraded: SandboxStateValue = { owning: { work: "running", lease: "degraded" } }
const settling: SandboxStateValue = { handingOff: { work: "settling", lease: "healthy" } }
const values = [running, degraded, settling] as const

/** A state of one after the other. */
const linesFor = (count: number): readonly StateLine[] =>
  Array.from({ length: LINES }, (_, n) => {
    const [worker, key] = [`w${n % 10}`, `order/${n % count}`]
    const value = values[(n + Math.floor(n / count)) % values.length] ?? running
    return { kind: "state", at: n, worker, key, value, token: n }
  })

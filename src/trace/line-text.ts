/** A line of a trace in a few words, for tables and drawings. Pure. */
import type { AnswerLine, AppliedLine, CallLine, FaultLine, LockLine, StateLine, TraceLine, WorkLine } from "./trace.ts"

/** What a line says, without its time and whose it is. */
export function lineText(line: TraceLine): string {
  switch (line.kind) {
    case "lock":
      return lockText(line)
    case "state":
      return stateText(line)
    case "request":
      return `${line.op} ${objectText(line.area, line.name)} ~>`
    case "answer":
      return answerText(line)
    case "handoff":
      return `handoff: ${line.how} from ${line.from ?? "?"}`
    case "work":
      return workText(line)
    case "call":
      return callText(line)
    case "applied":
      return appliedText(line)
    case "note":
      return `came to: ${line.note}`
    case "fault":
      return faultText(line)
  }
}

/** A state of the sandbox chart: `owning: running, degraded`. */
export function stateText({ value }: Pick<StateLine, "value">): string {
  const [[state, inner]] = Object.entries(value) as [[string, string | { work: string; lease: string }]]
  if (typeof inner === "string") return `${state}: ${inner}`
  return `${state}: ${inner.work}${inner.lease === "healthy" ? "" : `, ${inner.lease}`}`
}

function lockText({ type, how, token, result, error }: LockLine): string {
  const told = [how, result, token === undefined ? undefined : `token …${String(token).slice(-6)}`, error?.tag]
  return [type, ...told.filter((text) => text !== undefined)].join(" ")
}

function answerText({ outcome, ms, error, generation }: AnswerLine): string {
  const why = error === undefined ? "" : ` ${error.status ?? error.tag}`
  return `<~ ${outcome}${why}${generation === undefined ? "" : ` g…${generation.slice(-6)}`} (${Math.round(ms)} ms)`
}

function workText({ work, edge, error, reason }: WorkLine): string {
  const sign = { began: "(", ended: ")", failed: "!" }[edge]
  return `${work} ${sign}${reason === undefined ? "" : ` ${reason}`}${error === undefined ? "" : ` ${error.tag}`}`
}

function callText({ call: asked, name, edge, budget, durable, error }: CallLine): string {
  const call = name === undefined ? asked : `${asked} ${name}`
  const how = `${durable === true ? " durable" : ""}${budget === undefined ? "" : ` within ${budget} ms`}`
  if (edge === "began") return `asks: ${call}${how}`
  return edge === "ended" ? `done: ${call}` : `failed: ${call} ${error?.tag ?? ""}`
}

function appliedText({ op, area, name, lease, head }: AppliedLine): string {
  const what = `${op} ${objectText(area, name)} took effect`
  if (lease !== undefined) return `${what}: owner ${lease.ownerId ?? "-"}, waiter ${lease.waiterId ?? "-"}`
  return head === undefined
    ? what
    : `${what}: token …${String(head.token).slice(-6)}, number ${head.seq}, ${head.state}`
}

function faultText({ fault, detail }: FaultLine): string {
  const more = Object.entries(detail).map(([name, value]) => `${name} ${value}`)
  return ["**", fault, ...more].join(" ")
}

const objectText = (area: string | undefined, name: string | undefined): string =>
  area === undefined ? "" : `${area}/${name ?? ""}`

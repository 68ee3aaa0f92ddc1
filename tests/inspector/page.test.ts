// Pins docs/trace.md: its examples are lines of a real run, and its lists name every field and every word.
import { readFileSync } from "node:fs"
import { beforeAll, describe, expect, it } from "vitest"
import { formatTraceLine } from "../../src/trace/trace-text.ts"
import type {
  LockLine,
  TraceCall,
  TraceHeader,
  TraceLine,
  TraceOp,
  TraceOutcome,
  TraceWork,
} from "../../src/trace/trace.ts"
import { type Recording, recorded } from "./scenario.ts"

type Fields<L> = Readonly<Record<Exclude<keyof L, "kind">, true>>
type Kinds = { readonly [L in TraceHeader | TraceLine as L["kind"]]: Fields<L> }

const [at, worker, key, token, error] = [true, true, true, true, true] as const

// TypeScript sees to it that these are all.
const fields: Kinds = {
  trace: { version: true, source: true, seed: true, commit: true },
  lock: {
    ...{ at, worker, key, type: true, ownerId: true, wall: true, token, deadline: true, how: true, owner: true },
    ...{ waiterId: true, result: true, error },
  },
  state: { at, worker, key, value: true, token, leaving: true, error },
  request: {
    ...{ at, worker, id: true, store: true, op: true, area: true, name: true, generation: true, bytes: true },
    deadline: true,
  },
  answer: {
    ...{ at, worker, id: true, outcome: true, ms: true, generation: true, storeTime: true, bytes: true, items: true },
    ...{ throttled: true, overtaken: true, error },
  },
  handoff: { at, worker, key, how: true, from: true, fromToken: true, to: true, token, ms: true },
  work: { at, worker, id: true, key, token, work: true, edge: true, reason: true, error },
  call: {
    at,
    worker,
    id: true,
    call: true,
    edge: true,
    key,
    budget: true,
    durable: true,
    name: true,
    callId: true,
    error,
  },
  applied: {
    ...{ at, worker, op: true, area: true, name: true, before: true, generation: true, lease: true, head: true },
  },
  note: { at, worker, note: true },
  fault: { at, worker, fault: true, detail: true },
}
const types: Readonly<Record<LockLine["type"], true>> = {
  ...{ Waiting: true, Acquired: true, Renewed: true, Degraded: true, Suspect: true, Recovered: true },
  ...{ ReleaseRequested: true, Granted: true, Lost: true, Released: true, GaveUp: true },
}
const ops: Readonly<Record<TraceOp, true>> = { start: true, read: true, put: true, remove: true, list: true }
const outcomes: Readonly<Record<TraceOutcome, true>> = {
  ...{ found: true, unchanged: true, absent: true, tooLarge: true, failed: true, applied: true, refused: true },
  ...{ unknown: true, done: true, rejected: true },
}
const works: Readonly<Record<TraceWork, true>> = {
  ...{ restore: true, run: true, turn: true, use: true, checkpoint: true, close: true },
  ...{ migrate: true, schema: true },
}
const calls: Readonly<Record<TraceCall, true>> = {
  ...{
    start: true,
    use: true,
    call: true,
    restore: true,
    checkpoint: true,
    release: true,
    remove: true,
    drain: true,
    close: true,
  },
  acquire: true,
}

const page = readFileSync(new URL("../../docs/trace.md", import.meta.url), "utf8")
const sections = new Map(
  Array.from(page.matchAll(/^## `(\w+)`\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm), ([, kind, text]) => [kind!, text!]),
)
const textOf = (kind: string): string => sections.get(kind) ?? ""

/** What makes one line of a kind an example of its own. */
function sortOf(line: TraceLine): string {
  switch (line.kind) {
    case "lock":
      return line.type
    case "state":
      return Object.keys(line.value)[0]!
    case "request":
      return line.op
    case "answer":
      return line.outcome
    case "handoff":
      return line.how
    case "work":
      return `${line.work} ${line.edge}`
    case "call":
      return `${line.call} ${line.edge}`
    case "applied":
      return `${line.op} ${line.area} ${line.lease === undefined} ${line.head === undefined}`
    case "note":
      return line.note
    case "fault":
      return line.fault
  }
}

/** The first line of each sort, in the order of the run. */
function examples({ header, lines }: Recording, kind: string): string {
  if (kind === "trace") return formatTraceLine(header)
  const first = new Map<string, TraceLine>()
  for (const line of lines) if (line.kind === kind && !first.has(sortOf(line))) first.set(sortOf(line), line)
  return [...first.values()].map(formatTraceLine).join("")
}

describe("docs/trace.md", () => {
  let recording: Recording
  beforeAll(async () => {
    recording = await recorded(7)
  })

  it("has a section for every kind of line", () => {
    expect([...sections.keys()]).toEqual(Object.keys(fields))
  })

  it.each(Object.keys(fields))("shows the %s lines of a run to the letter", (kind) => {
    const [, shown] = /^```ndjson\n([\s\S]*?)^```/m.exec(textOf(kind)) ?? []
    expect(shown).toBe(examples(recording, kind))
    expect(shown).not.toBe("")
  })

  it.each(Object.entries(fields))("lists every field of a %s line, and no other", (kind, known) => {
    const listed = Array.from(textOf(kind).matchAll(/^\| `(\w+)`/gm), ([, field]) => field)
    expect(listed).toEqual(Object.keys(known))
  })

  it("names every type of event, every operation and outcome, every kind of work and of call", () => {
    const named = (kind: string): string[] => Array.from(textOf(kind).matchAll(/`(\w+)`/g), ([, word]) => word!)
    expect(named("lock")).toEqual(expect.arrayContaining(Object.keys(types)))
    expect(named("request")).toEqual(expect.arrayContaining(Object.keys(ops)))
    expect(named("answer")).toEqual(expect.arrayContaining(Object.keys(outcomes)))
    expect(named("work")).toEqual(expect.arrayContaining(Object.keys(works)))
    expect(named("call")).toEqual(expect.arrayContaining(Object.keys(calls)))
  })
})

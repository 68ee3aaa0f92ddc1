/**
 * What happened to one key, as a sequence to draw: requests to the store and their answers, events of locks and charts,
 * handoffs from worker to worker, faults. A long time without any is one gap. Pure; it runs in a browser too.
 *
 * Not promised: requests to objects with hashed names are those of one key. Keys of over 180 escaped bytes that begin
 * with the same 100 share them.
 */
import { escapedName, HASHED_PREFIX, MAX_NAME_BYTES, wholeEscapes } from "../../../locks/api/name-bytes.ts"
import { Handoffs } from "../../../trace/handoffs.ts"
import { lineText } from "../../../trace/line-text.ts"
import { isTraceLine } from "../../../trace/trace-text.ts"
import type { AnswerLine, HandoffLine, RequestLine, TraceLine, UnknownLine } from "../../../trace/trace.ts"

/**
 * A time in which nothing happens counts as a gap from this on: about two renewals of a lease of 30 s. In milliseconds.
 */
export const GAP = 5000

/** As many items as a person scrolls through. */
export const MOST_ITEMS = 2000

/** What became of a request. */
export type RequestFate = "done" | "refused" | "unknown" | "open"

/** One thing to draw, from top to bottom. */
export type SequenceItem =
  | {
      readonly kind: "request"
      readonly at: number
      readonly worker: string
      /** `put leases/counter=2fk`. */
      readonly text: string
      /** `applied g…42 (3 ms)`; null where no answer came. */
      readonly answer: string | null
      /** When it came. */
      readonly answeredAt: number | null
      /** `refused`: the store's 412, as its precondition didn't hold. `unknown`: nobody can tell what became of it. */
      readonly fate: RequestFate
    }
  | {
      readonly kind: "event"
      readonly at: number
      readonly worker: string
      readonly text: string
      readonly of: "lock" | "state" | "work" | "call" | "note"
      readonly isBad: boolean
    }
  | {
      readonly kind: "handoff"
      readonly at: number
      /** The workers' names; `from` is null where this trace hasn't seen it. */
      readonly from: string | null
      readonly to: string
      readonly how: HandoffLine["how"]
      readonly ms: number | null
    }
  | { readonly kind: "fault"; readonly at: number; readonly worker: string | null; readonly text: string }
  | {
      readonly kind: "gap"
      readonly at: number
      readonly ms: number
      /** Renewals and looks in it, which are left out. */ readonly quiet: number
    }

/** A sequence. */
export interface Sequence {
  /** Those that take part, in the order of their names. The store stands among them. */
  readonly workers: readonly string[]
  readonly items: readonly SequenceItem[]
  /** How many earlier items were left out. */
  readonly left: number
}

/** How it is made. */
export interface SequenceOptions {
  /** Heartbeats too: renewals, and a waiter's looks at the record. Default: false. */
  readonly heartbeats?: boolean
}

/** The sequence of one lock key. */
export function sequenceOf(
  lines: Iterable<TraceLine | UnknownLine>,
  key: string,
  options: SequenceOptions = {},
): Sequence {
  const { about, context } = readLines(lines, key)
  const drawn = about.flatMap((line): Drawn[] => {
    const item = itemOf(line, context)
    return item === undefined || (options.heartbeats !== true && isHeartbeat(line, context))
      ? [{ item: undefined }]
      : [{ item }]
  })
  const items = withGaps(drawn)
  const workers = new Set(about.flatMap(({ worker }) => (worker === null ? [] : [worker])))
  return { workers: [...workers].sort(), items: items.slice(-MOST_ITEMS), left: Math.max(0, items.length - MOST_ITEMS) }
}

/** What a line is read beside. */
interface Context {
  /** By worker and id. */
  readonly answers: ReadonlyMap<string, AnswerLine>
  /** The workers' names by their incarnations. */
  readonly names: ReadonlyMap<string, string>
  /** Worker and time of each renewal. */
  readonly renewals: ReadonlySet<string>
  /** By the new owner's token. A worker alone can't tell from whom it took a key that others had in between. */
  readonly handoffs: ReadonlyMap<number, HandoffLine>
}

function readLines(lines: Iterable<TraceLine | UnknownLine>, key: string): { about: TraceLine[]; context: Context } {
  const objects = new ObjectsOf(key)
  const about: TraceLine[] = []
  const answers = new Map<string, AnswerLine>()
  const names = new Map<string, string>()
  const renewals = new Set<string>()
  const handoffs = new Map<number, HandoffLine>()
  const owners = new Handoffs()
  for (const line of lines) {
    if (!isTraceLine(line)) continue
    if (line.kind === "answer") answers.set(`${line.worker} ${line.id}`, line)
    if (line.kind === "lock") names.set(line.ownerId, line.worker)
    if (line.kind === "lock" && line.type === "Renewed") renewals.add(`${line.worker} ${line.at}`)
    if (!objects.isAbout(line)) continue
    about.push(line)
    const handoff = line.kind === "lock" ? owners.after(line) : undefined
    if (handoff !== undefined && handoff.from !== null) handoffs.set(handoff.token, handoff)
  }
  return { about, context: { answers, names, renewals, handoffs } }
}

/** Undefined: it is left out. */
interface Drawn {
  readonly item: SequenceItem | undefined
}

/** Which lines are about a key. */
class ObjectsOf {
  readonly #key: string
  readonly #name: string
  readonly #isHashed: boolean

  constructor(key: string) {
    const name = escapedName(key)
    this.#key = key
    this.#isHashed = name.length > MAX_NAME_BYTES
    this.#name = this.#isHashed ? `${wholeEscapes(name.slice(0, HASHED_PREFIX))}~` : name
  }

  isAbout(line: TraceLine): boolean {
    if (line.kind === "fault") return true
    if (line.kind === "request") return this.#isItsObject(line)
    return "key" in line && line.key === this.#key
  }

  #isItsObject({ area, name }: RequestLine): boolean {
    if (name === undefined || (area !== "leases" && area !== "state")) return false
    if (this.#isHashed) return name.startsWith(this.#name)
    return name === this.#name || (area === "state" && name.startsWith(`${this.#name}/`))
  }
}

function itemOf(line: TraceLine, { answers, names, handoffs }: Context): SequenceItem | undefined {
  const { kind, at } = line
  switch (kind) {
    case "request":
      return requestItem(line, answers.get(`${line.worker} ${line.id}`))
    case "handoff": {
      const { worker: to, how, token } = line
      const { from, ms } = handoffs.get(token) ?? line
      return { kind, at, from: from && (names.get(from) ?? from), to, how, ms }
    }
    case "fault":
      return { kind, at, worker: line.worker, text: lineText(line) }
    case "lock":
    case "state":
    case "work":
    case "call":
      return { kind: "event", at, worker: line.worker, of: kind, text: lineText(line), isBad: isBad(line) }
    case "note":
    case "answer":
    case "applied":
      return undefined
  }
}

function requestItem(line: RequestLine, answer: AnswerLine | undefined): SequenceItem {
  const { at, worker, op, area = "", name = "" } = line
  return {
    kind: "request",
    ...{ at, worker, text: `${op} ${area}/${name}` },
    answer: answer === undefined ? null : lineText(answer).replace(/^<~ /, ""),
    answeredAt: answer?.at ?? null,
    fate: fateOf(answer),
  }
}

/** What a request's answer says of its effect. */
export function fateOf(answer: AnswerLine | undefined): RequestFate {
  switch (answer?.outcome) {
    case undefined:
      return "open"
    case "refused":
      return "refused"
    case "unknown":
    case "failed":
    case "rejected":
      return "unknown"
    case "found":
    case "unchanged":
    case "absent":
    case "tooLarge":
    case "applied":
    case "done":
      return "done"
  }
}

const isBad = (line: TraceLine): boolean =>
  ("error" in line && line.error !== undefined) ||
  (line.kind === "lock" && (line.type === "Lost" || line.type === "Suspect"))

/** Puts a gap in place of long times in which nothing happens, or only what is left out. */
function withGaps(drawn: readonly Drawn[]): SequenceItem[] {
  const items: SequenceItem[] = []
  let quiet = 0
  for (const { item } of drawn) {
    const last = items.at(-1)
    if (item === undefined) quiet++
    else {
      if (last !== undefined && item.at - last.at >= GAP)
        items.push({ kind: "gap", at: last.at, ms: item.at - last.at, quiet })
      quiet = 0
      items.push(item)
    }
  }
  return items
}

/** What comes again and again while nothing changes: renewals that are applied, and looks that see nothing new. */
function isHeartbeat(line: TraceLine, { answers, renewals }: Context): boolean {
  if (line.kind === "lock") return line.type === "Renewed"
  if (line.kind !== "request" || line.area !== "leases") return false
  const answer = answers.get(`${line.worker} ${line.id}`)
  if (answer === undefined) return false
  const { outcome, at } = answer
  if (line.op === "put") return [at, at + 1, at + 2].some((time) => renewals.has(`${line.worker} ${time}`))
  return (
    line.op === "read" && (outcome === "unchanged" || (outcome === "found" && line.generation === answer.generation))
  )
}

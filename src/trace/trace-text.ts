/**
 * Traces as text: newline-delimited JSON, one line a value, the header first. Reading checks what it knows and keeps
 * what it doesn't: unknown kinds of lines, unknown fields, and the torn end that a killed writer leaves.
 */
import { FormatVersionError, TraceFormatError } from "../locks/api/errors.ts"
import { type OptionCheck, refusal, shown } from "../runtime/input/options.ts"
import { TRACE_VERSION, type Trace, type TraceHeader, type TraceLine, type UnknownLine } from "./trace.ts"

type LineFields = Readonly<Record<string, unknown>>
type FieldCheck = (value: unknown) => boolean

const isText: FieldCheck = (value) => typeof value === "string"
const isNumber: FieldCheck = (value) => typeof value === "number"
const isBoolean: FieldCheck = (value) => typeof value === "boolean"
const isFields = (value: unknown): value is LineFields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const orNull =
  (check: FieldCheck): FieldCheck =>
  (value) =>
    value === null || check(value)
const orAbsent =
  (check: FieldCheck): FieldCheck =>
  (value) =>
    value === undefined || check(value)
const oneOf =
  (...texts: readonly string[]): FieldCheck =>
  (value) =>
    texts.includes(value as string)

const header: Readonly<Record<keyof TraceHeader, FieldCheck>> = {
  kind: oneOf("trace"),
  version: isNumber,
  source: oneOf("live", "simulated"),
  seed: orNull(isNumber),
  commit: orNull(isText),
}

/** What a line of a kind must have, and what its other fields must be where they are there. */
type Shape<L> = Readonly<Record<Exclude<keyof L, "kind">, FieldCheck>>

const ofWorker = { at: isNumber, worker: isText }
const isError: FieldCheck = (value) => isFields(value) && isText(value["tag"]) && isText(value["message"])

// Words that may be added to (types of events, outcomes, names of states) are any text here.
const shapes: { readonly [L in TraceLine as L["kind"]]: Shape<L> } = {
  lock: {
    ...ofWorker,
    key: isText,
    type: isText,
    ownerId: isText,
    wall: isNumber,
    token: orAbsent(isNumber),
    deadline: orAbsent(isNumber),
    how: orAbsent(isText),
    owner: orAbsent(isFields),
    waiterId: orAbsent(isText),
    result: orAbsent(isText),
    error: orAbsent(isError),
  },
  state: {
    ...ofWorker,
    key: isText,
    value: isFields,
    token: orNull(isNumber),
    leaving: orAbsent(isText),
    error: orAbsent(isError),
  },
  request: {
    ...ofWorker,
    id: isNumber,
    store: isText,
    op: isText,
    area: orAbsent(isText),
    name: orAbsent(isText),
    generation: orAbsent(isText),
    bytes: orAbsent(isNumber),
    deadline: isNumber,
  },
  answer: {
    ...ofWorker,
    id: isNumber,
    outcome: isText,
    ms: isNumber,
    generation: orAbsent(isText),
    storeTime: orAbsent(isNumber),
    bytes: orAbsent(isNumber),
    items: orAbsent(isNumber),
    throttled: orAbsent(isBoolean),
    overtaken: orAbsent(isBoolean),
    error: orAbsent(isError),
  },
  handoff: {
    ...ofWorker,
    key: isText,
    how: isText,
    from: orNull(isText),
    fromToken: orNull(isNumber),
    to: isText,
    token: isNumber,
    ms: orNull(isNumber),
  },
  work: {
    ...ofWorker,
    id: isNumber,
    key: isText,
    token: isNumber,
    work: isText,
    edge: isText,
    reason: orAbsent(isText),
    error: orAbsent(isError),
  },
  call: {
    ...ofWorker,
    id: isNumber,
    call: isText,
    edge: isText,
    key: orAbsent(isText),
    budget: orAbsent(isNumber),
    durable: orAbsent(isBoolean),
    name: orAbsent(isText),
    callId: orAbsent(isText),
    error: orAbsent(isError),
  },
  applied: {
    at: isNumber,
    worker: orNull(isText),
    op: isText,
    area: isText,
    name: isText,
    before: isText,
    generation: isText,
    lease: orAbsent(isFields),
    head: orAbsent(isFields),
  },
  note: { at: isNumber, worker: orNull(isText), note: isText },
  fault: { at: isNumber, worker: orNull(isText), fault: isText, detail: isFields },
}

/** Whether a line that was read is of a kind that this release knows. */
export const isTraceLine = (line: TraceLine | UnknownLine): line is TraceLine =>
  isFields(line) && Object.hasOwn(shapes, line.kind)

/** Whether a value that another process sent is a line of a known kind, each field as its kind has it. */
export function isSoundLine(value: unknown): value is TraceLine {
  if (!isFields(value) || typeof value["kind"] !== "string" || !Object.hasOwn(shapes, value["kind"])) return false
  const shape: Readonly<Record<string, FieldCheck>> = shapes[value["kind"] as TraceLine["kind"]]
  return Object.entries(shape).every(([name, check]) => check(value[name]))
}

/** What has lines, as a trace has. */
export const hasLines: OptionCheck = (name, value) => {
  if (!isFields(value) || !Array.isArray(value["lines"]))
    throw refusal(`${name} is ${shown(value)}, which has no lines`, "Give a trace, such as parseTrace reads")
}

/** A trace with its header. */
export const aTrace: OptionCheck = (name, value) => {
  hasLines(name, value)
  if (!isFields((value as LineFields)["header"]))
    throw refusal(`${name} has no header`, "Give a whole trace, such as parseTrace reads")
}

/** A line, or the header, as text with its line end. Throws InvalidConfigError for what is none. */
export const formatTraceLine = (line: TraceHeader | TraceLine | UnknownLine): string => {
  if (!isFields(line)) throw refusal(`The line is ${shown(line)}`, "Give a line of a trace, or its header")
  return `${JSON.stringify(line)}\n`
}

/** A whole trace as text. Throws InvalidConfigError for what is none. */
export const formatTrace = (trace: Trace): string => {
  aTrace("the trace", trace)
  const { header: first, lines, torn = "" } = trace
  return [first, ...lines].map(formatTraceLine).join("") + torn
}

/**
 * Reads a trace. Throws TraceFormatError, which names the line, for text that is no trace, and FormatVersionError for a
 * trace of a later version.
 */
export function parseTrace(text: string): Trace {
  if (typeof text !== "string") throw noLine(1, `is no text but a value of type ${typeof text}`)
  const [first = "", ...rest] = text.split("\n")
  const parsedHeader = parseHeader(first)
  const last = rest.pop() ?? ""
  const lines = rest.map((line, index) => parseLine(line, index + 2))
  if (last === "") return { header: parsedHeader, lines }
  if (!isJson(last)) return { header: parsedHeader, lines, torn: last }
  return { header: parsedHeader, lines: [...lines, parseLine(last, rest.length + 2)] }
}

function parseHeader(text: string): TraceHeader {
  const fields = fieldsOf(text, 1)
  if (fields["kind"] !== "trace") throw noLine(1, "is no header of a trace")
  const { version } = fields
  if (typeof version === "number" && version > TRACE_VERSION)
    throw new FormatVersionError({
      message: `The trace has version ${version}; this release reads up to ${TRACE_VERSION}`,
      next: "Read it with the release that wrote it, or a later one",
      needs: [`trace version ${version}`],
    })
  checkShape(fields, header, 1)
  return fields as unknown as TraceHeader
}

function parseLine(text: string, number: number): TraceLine | UnknownLine {
  const fields = fieldsOf(text, number)
  const { kind } = fields
  if (typeof kind !== "string") throw noLine(number, "has no kind")
  if (kind === "trace") throw noLine(number, "is a second header")
  const shape: Readonly<Record<string, FieldCheck>> | undefined = Object.hasOwn(shapes, kind)
    ? shapes[kind as TraceLine["kind"]]
    : undefined
  if (shape !== undefined) checkShape(fields, shape, number)
  return fields as unknown as TraceLine | UnknownLine
}

function fieldsOf(text: string, number: number): LineFields {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw noLine(number, text === "" ? "is empty" : "is no JSON", cause)
  }
  if (!isFields(value)) throw noLine(number, "is no JSON object")
  return value
}

function checkShape(fields: LineFields, shape: Readonly<Record<string, FieldCheck>>, number: number): void {
  for (const [name, check] of Object.entries(shape)) {
    if (check(fields[name])) continue
    const found = JSON.stringify(fields[name]) ?? "nothing"
    throw noLine(number, `has ${found.slice(0, 80)} as its ${name}, which a ${String(fields["kind"])} line can't have`)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function noLine(line: number, problem: string, cause?: unknown): TraceFormatError {
  return new TraceFormatError({
    message: `Line ${line} of the trace ${problem}`,
    next: "Give the whole text of one trace as it was recorded, its header first",
    line,
    cause,
  })
}

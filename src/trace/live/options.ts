/** What a live trace can be told: where its lines go, how many are kept, and what is left out of them. */
import {
  aCount,
  aFlag,
  aFunction,
  anObject,
  aText,
  type OptionCheck,
  type OptionChecks,
  refusal,
  refuseUnknown,
  shown,
} from "../../runtime/input/options.ts"
import type { TraceLine } from "../trace.ts"

/**
 * Gets each line of a live trace, a moment after it happened. Where it gives a promise the next line comes when that
 * has settled; meanwhile lines wait, and too many are left out. What it throws goes to `onError` once, and its line is
 * lost.
 */
export type TraceSink = (line: TraceLine) => void | Promise<void>

/**
 * How a manager writes its trace. Without `file` and `sink` it only keeps the last lines in memory, for an inspector.
 */
export interface TraceOptions {
  /**
   * Writes newline-delimited JSON to this path: a new file, made with mode 0600. A file that is there is kept as
   * `<path>.1`. Give each process a path of its own.
   */
  readonly file?: string
  /** Gets each line. */
  readonly sink?: TraceSink
  /** How many lines are kept in memory, within 8 MiB; default 10 000. */
  readonly ring?: number
  /** The most bytes of a file, at least 65 536; default 64 MiB. Then it is kept as `<path>.1`, and a new one begins. */
  readonly maxBytes?: number
  /** How many older files are kept beside the present one, 0 to 100; default 3. */
  readonly keep?: number
  /**
   * Shows what errors say that may quote values: those of hooks, schemas and stores. Default: they are redacted.
   * Credentials in addresses never show.
   */
  readonly values?: boolean
  /** The worker's name in the lines, 1 to 200 characters; default: its incarnation. */
  readonly worker?: string
}

/** Options that hold. */
export interface TraceSettings {
  readonly file: string | undefined
  readonly sink: TraceSink | undefined
  readonly ring: number
  readonly maxBytes: number
  readonly keep: number
  readonly values: boolean
  readonly worker: string | undefined
  /** Lines are made also while nobody is subscribed. */
  readonly isOn: boolean
}

const DEFAULT_RING = 10_000
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024
/** Room for a header and any line. In bytes. */
const LEAST_MAX_BYTES = 65_536
const DEFAULT_KEEP = 3
/** More rotations would take longer than the writing. */
const MOST_KEPT = 100
/** Of a worker, in characters: every line has it. */
const LONGEST_NAME = 200

/** A path that some file can have. */
const aPath: OptionCheck = (name, value) => {
  if (typeof value !== "string" || value === "" || value.includes("\0"))
    throw refusal(`${name} is ${shown(value)}`, 'Give the path of a file, such as "leases.ndjson"')
}

const aName: OptionCheck = (name, value) => {
  aText(name, value)
  if ((value as string).length > LONGEST_NAME)
    throw refusal(`${name} has ${(value as string).length} characters`, `Give at most ${LONGEST_NAME}`)
}

const aFewFiles: OptionCheck = (name, value) => {
  aCount(0)(name, value)
  if ((value as number) > MOST_KEPT) throw refusal(`${name} is ${shown(value)}`, `Give at most ${MOST_KEPT}`)
}

const OPTIONS: OptionChecks<TraceOptions> = {
  file: aPath,
  sink: aFunction,
  ring: aCount(0),
  maxBytes: aCount(LEAST_MAX_BYTES),
  keep: aFewFiles,
  values: aFlag,
  worker: aName,
}

/** A path, a sink, or options. */
export const aTrace: OptionCheck = (name, value) => {
  if (typeof value === "function") return
  if (typeof value === "string") return aPath(name, value)
  anObject("Give a path, a function that gets lines, or options such as { file, sink, ring }")(name, value)
  refuseUnknown(name, value as TraceOptions, OPTIONS)
}

/** The settings of an option that was checked; of none, those of a trace that somebody may subscribe to. */
export function traceSettings(option: string | TraceSink | TraceOptions | undefined): TraceSettings {
  const { file, sink, worker, values = false, ring = DEFAULT_RING, ...files } = optionsOf(option)
  const { maxBytes = DEFAULT_MAX_BYTES, keep = DEFAULT_KEEP } = files
  return { file, sink, worker, values, ring, maxBytes, keep, isOn: option !== undefined }
}

function optionsOf(option: string | TraceSink | TraceOptions | undefined): TraceOptions {
  if (typeof option === "string") return { file: option }
  return typeof option === "function" ? { sink: option } : (option ?? {})
}

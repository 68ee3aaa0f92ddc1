/**
 * The output of the command: results to standard output, messages to standard error. They are text for people. With
 * `--json` each result is a JSON document, and each message a line of JSON. Colours only on a terminal that allows
 * them.
 */
import { LockError } from "../../locks/api/errors.ts"
import type { LockWaitEventOf, LockWaitObserver } from "../../locks/api/wait-observer.ts"
import { printable } from "../../locks/printable.ts"
import { named } from "../../locks/record.ts"
import { logWaits } from "../../locks/waits/log.ts"
import { terminalWaits } from "../../locks/waits/terminal.ts"
import { advice, happened } from "../errors/advice.ts"
import { StartError } from "../errors/start-error.ts"
import { UnknownEndError } from "../errors/unknown-end-error.ts"
import { UnwrittenError } from "../errors/unwritten-error.ts"
import { UsageError } from "../errors/usage-error.ts"
import type { Io, Sink } from "../process/io.ts"

type WaitingEvent = LockWaitEventOf<"waitStarted" | "retry">

/** What can be made to stand out. */
export type Style = (text: string) => string

/** The styles of one stream. */
export interface Styles {
  readonly bold: Style
  readonly dim: Style
  readonly red: Style
  readonly yellow: Style
  readonly green: Style
}

/** The form of the output. */
export interface Manner {
  readonly json: boolean
  /** `--no-color` was not given. */
  readonly color: boolean
}

/** Writes results and messages. */
export class Output {
  readonly json: boolean
  /** Of standard output. */
  readonly styles: Styles
  readonly #io: Io
  readonly #errors: Styles

  constructor(io: Io, { json, color }: Manner) {
    this.json = json
    this.#io = io
    const plain = !color || (io.env["NO_COLOR"] ?? "") !== "" || io.env["TERM"] === "dumb"
    this.styles = stylesOf(io.stdout, plain)
    this.#errors = stylesOf(io.stderr, plain)
  }

  /** Writes a result. */
  result(value: object, text: (styles: Styles) => string): void {
    this.#io.stdout.write(this.json ? `${json(value, 2)}\n` : `${text(this.styles)}\n`)
  }

  /** Writes a message beside the result. */
  note(event: string, message: string, more: object = {}): void {
    this.#io.stderr.write(
      this.json
        ? `${json({ event, message, ...more })}\n`
        : `${this.#errors.dim(`leasehold: ${printable(message)}`)}\n`,
    )
  }

  /**
   * An observer that shows a wait. On a terminal it is drawn as it goes on, elsewhere one line tells that it began. As
   * JSON each event is a line.
   */
  waits(): LockWaitObserver {
    const { stderr } = this.#io
    if (this.json) return logWaits((line) => stderr.write(`${escaped(line)}\n`))
    if (stderr.isTTY) return terminalWaits({ stream: stderr })
    const told = new Set<string>()
    const tell = ({ wait, key, waitingFor, holder }: WaitingEvent): void => {
      if (waitingFor !== "holder" || told.has(wait)) return
      told.add(wait)
      const whom = holder === undefined ? "" : `, which ${named(holder)} has`
      this.note("waiting", `waiting for ${JSON.stringify(key)}${whom}`)
    }
    return { waitStarted: tell, retry: tell }
  }

  /** Writes the error by which the command fails. */
  failure(error: unknown, exitCode: number): void {
    this.#io.stderr.write(
      this.json ? `${json(described(error, exitCode))}\n` : `${this.#errors.red("leasehold:")} ${said(error)}\n`,
    )
  }
}

/** Those of the command itself. */
const isOwn = (error: unknown): error is UsageError | StartError | UnwrittenError | UnknownEndError =>
  [UsageError, StartError, UnwrittenError, UnknownEndError].some((own) => error instanceof own)

function said(error: unknown): string {
  if (error instanceof LockError) return printable(told(error))
  if (isOwn(error)) return printable(`${error.message}. ${error.next}.`)
  const all = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return all.split("\n").map(printable).join("\n")
}

const told = (error: LockError): string => `${happened(error)}. ${advice(error)}.`

function described(error: unknown, exitCode: number): object {
  const message = error instanceof Error ? error.message : String(error)
  if (isOwn(error)) return { error: error.name, message, next: error.next, exitCode }
  if (!(error instanceof LockError)) return { error: "Error", message, exitCode }
  const { _tag, code, retryable, key, owner } = error
  const sentences = { message: told(error), next: advice(error) }
  return { error: _tag, code, ...sentences, retryable, ...(key !== "" && { key }), ...(owner && { owner }), exitCode }
}

const json = (value: object, indent?: number): string => escaped(JSON.stringify(value, null, indent))

/**
 * JSON text in which no character steers a terminal. JSON allows such characters in strings, and any of them may be
 * escaped. Its own line ends stay.
 */
const escaped = (text: string): string =>
  text.replaceAll(/[^\P{C}\n]/gu, (character) => character.split("").map(unitOf).join(""))

const unitOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`

function stylesOf({ isTTY }: Sink, plain: boolean): Styles {
  const style =
    (from: number, to: number): Style =>
    (text) =>
      isTTY && !plain ? `\u001b[${from}m${text}\u001b[${to}m` : text
  return { bold: style(1, 22), dim: style(2, 22), red: style(31, 39), yellow: style(33, 39), green: style(32, 39) }
}

/** A value as one line of JSON that steers no terminal. */
export const jsonLine = (value: object): string => `${json(value)}\n`

/** Rows with their columns one under the other. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  return rows
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column]!))).join("  "),
    )
    .join("\n")
}

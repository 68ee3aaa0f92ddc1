/**
 * The log of a chaos run: one file to which every process appends, a line a write, so that the order of lines is the
 * order of what happened, whatever any clock says. A line is there when its call returns, also if the process is killed
 * next.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs"
import { liveClock } from "../../src/runtime/time/clock.ts"

/** One life of one worker. */
interface OfProcess {
  readonly process: string
}

/** What is written down. */
export type LogLine =
  /** The user's code begins to act on a key. `rows`: how many it found. */
  | (OfProcess & {
      readonly what: "start"
      readonly act: string
      readonly key: string
      readonly token: number
      readonly rows: number
    })
  /** It acts on. Whether it may have, the next line of the act tells. */
  | { readonly what: "step"; readonly act: string }
  /** Its lease was asked after its start, or its last step, was written down: it stood then, and so before. */
  | { readonly what: "held"; readonly act: string }
  /** Its row was acknowledged as stored. */
  | (OfProcess & { readonly what: "stored"; readonly key: string; readonly row: string })
  | (OfProcess & { readonly what: "acquired"; readonly key: string; readonly token: number; readonly how: string })
  | (OfProcess & { readonly what: "lost"; readonly key: string })
  /** Something that must not be: a call that settled late, an error that nobody documents. */
  | (OfProcess & { readonly what: "problem"; readonly message: string })
  /** It was seen dead: nothing of it comes any more. */
  | (OfProcess & { readonly what: "dead" })
  /** What the run did to it; null: to all. */
  | { readonly what: "fault"; readonly process: string | null; readonly fault: string; readonly ms?: number }

/** A line in its time, in Unix milliseconds. */
export type Logged = LogLine & { readonly at: number }

/** Appends the lines of one process. */
export class Log implements Disposable {
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(path, "a")
  }

  write(line: LogLine): void {
    const text = `${JSON.stringify({ ...line, at: Math.round(liveClock.read().wall * 100) / 100 })}\n`
    if (writeSync(this.#file, text) < new TextEncoder().encode(text).length) throw new Error("the log is cut short")
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}

/** All lines, in order. Throws for one that can't be read: a log with holes proves nothing. */
export function readLog(path: string): readonly Logged[] {
  const lines = readFileSync(path, "utf8").split("\n")
  if (lines.pop() !== "") throw new Error(`${path} ends inside a line`)
  return lines.map((line) => JSON.parse(line) as Logged)
}

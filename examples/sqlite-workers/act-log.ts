// The act log: one file to which every process of the run appends a line before and after each act, and the driver one
// for each process that it has seen dead. What owners did is judged from it (owners.ts), never from leases.
//
// Two things make it evidence. Lines lie in the order in which they were appended: the kernel takes appends to one file
// one at a time, so a start that lies before another process's end was an overlap, whatever any clock says. And a line
// is in the file when the call returns, also if the process is killed next.
//
// Each line also bears the host's time, as performance.timeOrigin + performance.now(): the processes of one host share
// it, on Node and on Deno, to a fraction of a millisecond, as long as nobody steps the wall clock between their starts.
// It serves the figures and the timeline. (/proc/uptime is never stepped, but ticks in 10 ms; hrtime is finer, but on
// Deno it counts from the start of the process.) Not promised: a log that survives a power cut.
import { closeSync, openSync, readFileSync, writeSync } from "node:fs"

/** One line. `process` names one life of one worker. */
export type ActLine =
  | {
      readonly what: "start"
      readonly act: string
      readonly process: string
      readonly key: string
      readonly token: number
      readonly sql: string
      readonly at: number
    }
  | { readonly what: "end"; readonly act: string; readonly at: number }
  | { readonly what: "dead"; readonly process: string; readonly at: number }

/** Milliseconds of the host's time. */
export const hostNow = (): number => performance.timeOrigin + performance.now()

/** Appends the lines of one process. */
export class ActLog implements Disposable {
  readonly #file: number
  #acts = 0

  constructor(path: string) {
    this.#file = openSync(path, "a")
  }

  /** Writes that an act begins; calling the result writes that it has ended. */
  start(process: string, key: string, token: number, sql: string): () => void {
    const act = `${process}/${++this.#acts}`
    this.#append({ what: "start", act, process, key, token, sql: sql.slice(0, 60), at: hostNow() })
    return () => this.#append({ what: "end", act, at: hostNow() })
  }

  /** Writes that a process was seen dead: what it had begun is over. */
  dead(process: string): void {
    this.#append({ what: "dead", process, at: hostNow() })
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }

  /** In one write: two would let another process's line in between. */
  #append(line: ActLine): void {
    const text = `${JSON.stringify(line)}\n`
    if (writeSync(this.#file, text) < new TextEncoder().encode(text).length) throw new Error("the act log is cut short")
  }
}

/** All lines so far, in order. Throws for one that can't be read: a log with holes proves nothing. */
export function readActs(path: string): ActLine[] {
  const lines = readFileSync(path, "utf8").split("\n")
  if (lines.pop() !== "") throw new Error(`${path} ends inside a line`)
  return lines.map((line, index) => {
    try {
      return JSON.parse(line) as ActLine
    } catch (cause) {
      throw new Error(`line ${index + 1} of ${path} is no act: ${line}`, { cause })
    }
  })
}

/**
 * The terminal as a screen: its alternate screen, single keys, no cursor. It is put back when this is disposed, and
 * whenever the process ends.
 */
import { writeSync } from "node:fs"
import process from "node:process"
import type { TerminalSize } from "./frame.ts"

const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l"
const LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l"

/** The events of a terminal. */
export interface TerminalEvents {
  readonly onInput: (text: string) => void
  readonly onResize: () => void
}

/** The terminal of this process. */
export class Terminal implements Disposable {
  readonly #events: TerminalEvents
  #shown: readonly string[] = []
  #isLeft = false

  constructor(events: TerminalEvents) {
    this.#events = events
    process.stdout.write(ENTER)
    process.on("exit", this.#leave)
    process.stdout.on("resize", this.#resized)
    if (process.stdin.isTTY) process.stdin.setRawMode(true)
    process.stdin.setEncoding("utf8").on("data", this.#typed).resume()
  }

  /** The size that the terminal has now. */
  get size(): TerminalSize {
    const { columns, rows } = process.stdout
    return { columns: columns || 80, rows: rows || 24 }
  }

  /** Shows these lines. Only lines that differ are written. */
  show(lines: readonly string[]): void {
    const changed = lines.flatMap((line, row) =>
      line === this.#shown[row] ? [] : [`\u001b[${row + 1};1H${line}\u001b[0m\u001b[K`],
    )
    this.#shown = lines
    if (changed.length > 0) process.stdout.write(changed.join(""))
  }

  [Symbol.dispose](): void {
    process.off("exit", this.#leave)
    process.stdout.off("resize", this.#resized)
    process.stdin.off("data", this.#typed).pause()
    this.#leave()
  }

  readonly #typed = (text: string): void => this.#events.onInput(text)

  readonly #resized = (): void => {
    this.#shown = []
    process.stdout.write("\u001b[2J")
    this.#events.onResize()
  }

  /** Writes synchronously, since nothing is awaited at the exit of a process. A closed terminal needs nothing more. */
  readonly #leave = (): void => {
    if (this.#isLeft) return
    this.#isLeft = true
    try {
      if (process.stdin.isTTY) process.stdin.setRawMode(false)
      writeSync(1, LEAVE)
    } catch {
      // It is gone.
    }
  }
}

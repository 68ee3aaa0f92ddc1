/** A fleet on the whole terminal, until its user quits. */
import { quiet } from "../../../runtime/races.ts"
import type { Timer } from "../../../runtime/time/clock.ts"
import type { Styles } from "../../frame/output.ts"
import type { Call } from "../../frame/syntax.ts"
import { untilEnded } from "../../process/until-ended.ts"
import type { FeedEvents, TopFeed } from "./feed.ts"
import { frameOf, type Paint } from "./frame.ts"
import { keysOf } from "./keys.ts"
import { Rates } from "./rates.ts"
import { readerGone } from "./reader-gone.ts"
import { Terminal } from "./terminal.ts"
import { TopView } from "./view.ts"

/** The pause between two frames, in milliseconds, as a page has it: people see no faster change. */
const DRAW_EVERY = 100

/** The pause between two frames without an event, in milliseconds: times on the screen go on. */
const TICK_EVERY = 1000

/** Shows it. Settles when the user quits, or at a signal. Rejects if there can't be a feed. */
export async function screen(call: Call, feed: TopFeed, text: string): Promise<void> {
  const shown = new TopScreen(call, feed, text)
  const end = new AbortController()
  const running = quiet(feed.run(shown, end.signal))
  // The feed of a trace ends at once; the screen stays.
  const over = feed.isLive ? [running] : []
  // Signals are caught before the terminal is changed, so that none leaves it changed.
  const ended = quiet(untilEnded(Promise.race([...over, shown.enough, readerGone()])))
  try {
    using _terminal = shown.begin()
    await ended
  } finally {
    end.abort()
    shown.end()
  }
  await running
}

class TopScreen implements FeedEvents {
  readonly #clock: Call["io"]["clock"]
  readonly #feed: TopFeed
  readonly #view: TopView
  readonly #rates = new Rates()
  readonly #paint: Paint
  readonly #enough = Promise.withResolvers<void>()
  #terminal: Terminal | undefined
  #problem: string | null = null
  #drawing: Timer | undefined
  #ticking: Timer | undefined
  #isOver = false

  constructor({ io, output }: Call, feed: TopFeed, text: string) {
    this.#clock = io.clock
    this.#feed = feed
    this.#view = new TopView(feed, text)
    this.#paint = paintOf(output.styles)
  }

  /** Settles when the user quits. */
  get enough(): Promise<void> {
    return this.#enough.promise
  }

  begin(): Terminal {
    this.#terminal = new Terminal({ onInput: (text) => this.#type(text), onResize: () => this.#soon(0) })
    this.#tick()
    return this.#terminal
  }

  end(): void {
    this.#isOver = true
    this.#enough.resolve()
    this.#drawing?.cancel()
    this.#ticking?.cancel()
  }

  line(): void {
    this.#soon()
  }

  ready(): void {
    this.#soon(0)
  }

  problem(problem: string | null): void {
    this.#problem = problem
    this.#soon()
  }

  #type(text: string): void {
    if (keysOf(text).some((key) => this.#view.press(key))) this.#enough.resolve()
    this.#soon(0)
  }

  #tick(): void {
    const { fleet } = this.#feed
    fleet.tick(this.#feed.now())
    fleet.takeChanges()
    this.#rates.read(fleet.workers.values(), this.#clock.mono())
    this.#view.refresh()
    this.#draw()
    this.#ticking = this.#clock.after(TICK_EVERY, () => this.#tick())
  }

  #soon(ms = DRAW_EVERY): void {
    if (this.#isOver || this.#terminal === undefined) return
    if (ms === 0) this.#drawing?.cancel()
    else if (this.#drawing !== undefined) return
    this.#drawing = this.#clock.after(ms, () => this.#draw())
  }

  #draw(): void {
    this.#drawing?.cancel()
    this.#drawing = undefined
    const terminal = this.#terminal
    if (this.#isOver || terminal === undefined) return
    const [feed, view, paint] = [this.#feed, this.#view, this.#paint]
    const shown = { feed, view, paint, size: terminal.size, problem: this.#problem, rates: this.#rates.perSecond }
    terminal.show(frameOf(shown))
  }
}

/** The styles. Without colours a sign marks the selected row. */
function paintOf({ bold, dim, red, yellow, green }: Styles): Paint {
  const isPlain = bold("x") === "x"
  const style =
    (from: number, to: number) =>
    (text: string): string =>
      isPlain ? text : `\u001b[${from}m${text}\u001b[${to}m`
  return { bold, dim, red, yellow, green, blue: style(34, 39), cyan: style(36, 39), inverse: style(7, 27) }
}

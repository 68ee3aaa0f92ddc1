/** A fleet on the whole terminal, until its user has enough. */
import { quiet } from "../../../runtime/races.ts"
import type { Timer } from "../../../runtime/time/clock.ts"
import type { Styles } from "../../frame/output.ts"
import type { Call } from "../../frame/syntax.ts"
import { untilEnded } from "../../process/until-ended.ts"
import type { TopFeed, FeedEvents } from "./feed.ts"
import { frameOf, type Paint } from "./frame.ts"
import { keysOf } from "./keys.ts"
import { Rates } from "./rates.ts"
import { readerGone } from "./reader-gone.ts"
import { Terminal } from "./terminal.ts"
import { TopView } from "./view.ts"

/** As a page does it: nobody sees more. In milliseconds. */
const DRAW_EVERY = 100

/** Times on the screen go on though nothing happens. In milliseconds. */
const TICK_EVERY = 1000

/** Shows it. Settles when the user has enough, or has gone; rejects where nothing will ever be heard. */
export async function screen(call: Call, feed: TopFeed, text: string): Promise<void> {
  const shown = new TopScreen(call, feed, text)
  const end = new AbortController()
  const running = quiet(feed.run(shown, end.signal))
  // A trace has come to its end at once, and is looked at all the same.
  const over = feed.isLive ? [running] : []
  // Signals are heard before the terminal is changed: none may come between.
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

  /** Settles when the user has enough. */
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

/** Without colours what is selected is still told by a sign. */
function paintOf({ bold, dim, red, yellow, green }: Styles): Paint {
  const isPlain = bold("x") === "x"
  const style =
    (from: number, to: number) =>
    (text: string): string =>
      isPlain ? text : `\u001b[${from}m${text}\u001b[${to}m`
  return { bold, dim, red, yellow, green, blue: style(34, 39), cyan: style(36, 39), inverse: style(7, 27) }
}

/**
 * A lease as a bar that drains: first to its guard, where its owner stops of itself, then to its expiry, after which
 * another may take it. Drawn some times a second, without a layout of the page.
 */
import { ticks } from "../look/clock.ts"
import { duration } from "../look/format.ts"
import { onNextFrame } from "../look/frames.ts"

/** The times of a lease, in Unix milliseconds of the time that is looked at. */
export interface LeaseTimes {
  /** When its owner stops: the expiry less the guard. */
  readonly deadline: number
  readonly ttl: number
  readonly guard: number
}

/** In milliseconds: a bar of 400 pixels over 30 s moves a pixel in 75 ms. */
const REDRAW = 80

/** With reduced motion: once a second. */
const REDRAW_CALM = 1000

/** The bar. */
export class LeaseBar {
  readonly element = document.createElement("div")
  readonly #left = document.createElement("div")
  readonly #guard = document.createElement("div")
  readonly #words = document.createElement("p")
  readonly #now: () => number
  readonly #isCalm = matchMedia("(prefers-reduced-motion: reduce)")
  #times: LeaseTimes | null = null
  #drawn = 0
  #hasEnded = false

  /** `now`: the time that is looked at. */
  constructor(now: () => number) {
    this.#now = now
    const bar = document.createElement("div")
    this.element.className = "lease"
    bar.className = "lease-bar"
    this.#left.className = "left"
    this.#guard.className = "guard"
    this.#words.className = "words"
    bar.append(this.#guard, this.#left)
    this.element.append(bar, this.#words)
    this.#frame()
  }

  /** Another lease, or one that was renewed; null: there is none. */
  show(times: LeaseTimes | null): void {
    this.#times = times
    this.#draw()
  }

  /** Stops. */
  end(): void {
    this.#hasEnded = true
  }

  #frame(): void {
    if (this.#hasEnded) return
    if (ticks() - this.#drawn >= (this.#isCalm.matches ? REDRAW_CALM : REDRAW)) this.#draw()
    onNextFrame(() => this.#frame())
  }

  #draw(): void {
    this.#drawn = ticks()
    this.element.classList.toggle("none", this.#times === null)
    if (this.#times === null) return this.#say("It has no lease here.")
    const { deadline, ttl, guard } = this.#times
    const whole = Math.max(1, ttl)
    const toGuard = deadline - this.#now()
    const toExpiry = toGuard + guard
    this.#left.style.transform = `scaleX(${clamp(toExpiry / whole)})`
    this.#guard.style.width = `${100 * clamp(guard / whole)}%`
    const phase = toGuard > 0 ? "good" : toExpiry > 0 ? "guarded" : "over"
    this.element.dataset["phase"] = phase
    this.#say(PHASES[phase](toGuard, toExpiry))
  }

  #say(words: string): void {
    if (this.#words.textContent !== words) this.#words.textContent = words
  }
}

/** To the tenth of a second alone where it matters. */
const about = (ms: number): string => (ms < 10_000 ? duration(ms) : duration(Math.floor(ms / 1000) * 1000))

const PHASES: Readonly<Record<"good" | "guarded" | "over", (toGuard: number, toExpiry: number) => string>> = {
  good: (toGuard, toExpiry) => `${about(toGuard)} to its guard, ${about(toExpiry)} to its expiry`,
  guarded: (_, toExpiry) => `In its guard: the owner has stopped. ${about(toExpiry)} to its expiry`,
  over: (_, toExpiry) => `Over for ${about(-toExpiry)}: another may take it`,
}

const clamp = (part: number): number => Math.min(1, Math.max(0, part))

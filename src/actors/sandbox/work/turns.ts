/**
 * The turns of one sandbox: all that touches its state runs alone, in the order of calls. AsyncLocalStorage knows who
 * is inside a turn. A call that would wait for the very turn that it is made from is refused at once.
 *
 * Not promised: a limit on how long a turn takes. And work that a turn starts without awaiting it counts as inside of
 * it while the turn lasts; a timer that fires later does not.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { ReentrantLockError } from "../../../locks/api/errors.ts"
import { Deferred } from "../../../runtime/deferred.ts"

/**
 * A turn in progress. `outer` is the turn, perhaps of another sandbox, that it was asked for from; the nearest around
 * that which still lasts.
 */
interface Frame {
  readonly turns: Turns
  outer: Frame | undefined
  running: boolean
}

const frames = new AsyncLocalStorage<Frame>()

interface Queued {
  readonly from: "use" | "own"
  readonly start: () => void
  readonly refuse: (error: Error) => void
}

/** How to wait for a turn. */
export interface TurnOptions {
  /** A `use` is refused once the turns are closed to uses. `own`: the sandbox's own run and checkpoints. */
  readonly from: "use" | "own"
  /** Ends the wait, not the turn: rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** Nobody waits: most sandboxes, most of the time. Nothing is ever put into it. */
const NONE: Queued[] = []

export class Turns {
  readonly #key: string
  #queue = NONE
  #busy = false
  #closed: (() => Error) | undefined
  #idle: Deferred<void> | undefined

  constructor(key: string) {
    this.#key = key
  }

  /** Whether a turn is in progress. */
  get busy(): boolean {
    return this.#busy
  }

  /** How many wait for their turn. */
  get waiting(): number {
    return this.#queue.length
  }

  /** Whether the caller is inside one of these turns, directly or by way of other sandboxes'. */
  get inside(): boolean {
    for (let frame = frames.getStore(); frame !== undefined; frame = frame.outer) {
      if (frame.turns === this && frame.running) return true
    }
    return false
  }

  /** Throws ReentrantLockError where the caller is inside one of these turns: it would wait for itself. */
  refuseInside(call: string): void {
    if (!this.inside) return
    throw new ReentrantLockError({
      message: `${call} of ${this.#key} was called from inside a turn of the same sandbox, and would wait for that turn to end`,
      next: "Use the state that the turn was given, or make the call after the turn has ended",
      key: this.#key,
    })
  }

  /** Runs fn in a turn and settles as it does. Rejects without having run it as `options` and `closeToUses` say. */
  async run<A>(fn: () => A | PromiseLike<A>, options: TurnOptions): Promise<A> {
    const outer = frames.getStore()
    await this.#begin(options)
    const frame: Frame = { turns: this, outer: nearest(outer), running: true }
    try {
      return await frames.run(frame, fn)
    } finally {
      frame.running = false
      frame.outer = nearest(frame.outer)
      this.#next()
    }
  }

  /** Refuses all later uses, each with an error of its own. Those that wait keep their place. */
  closeToLaterUses(error: () => Error): void {
    this.#closed ??= error
  }

  /** Refuses the uses that wait and all later ones, each with an error of its own. The turn in progress goes on. */
  closeToUses(error: () => Error): void {
    this.closeToLaterUses(error)
    const uses = this.#queue.filter(({ from }) => from === "use")
    this.#queue = this.#queue.filter(({ from }) => from === "own")
    for (const { refuse } of uses) refuse(error())
  }

  /** Settles when no turn is in progress and none waits. */
  async idle(): Promise<void> {
    while (this.#busy) await (this.#idle ??= new Deferred()).promise
  }

  #begin({ from, signal }: TurnOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error)
      if (from === "use" && this.#closed !== undefined) return reject(this.#closed())
      if (!this.#busy) {
        this.#busy = true
        return resolve()
      }
      const leave = (): void => signal?.removeEventListener("abort", giveUp)
      const queued: Queued = {
        from,
        start: () => (leave(), resolve()),
        refuse: (error) => (leave(), reject(error)),
      }
      const giveUp = (): void => {
        this.#queue = this.#queue.filter((other) => other !== queued)
        queued.refuse(signal!.reason as Error)
      }
      signal?.addEventListener("abort", giveUp)
      if (this.#queue === NONE) this.#queue = [queued]
      else this.#queue.push(queued)
    })
  }

  /** The turn passes to the next without a moment in which it is free, so that no later call overtakes. */
  #next(): void {
    const next = this.#queue.shift()
    if (this.#queue.length === 0) this.#queue = NONE
    if (next !== undefined) return next.start()
    this.#busy = false
    this.#idle?.resolve()
    this.#idle = undefined
  }
}

/**
 * The nearest turn that still runs. Those that are over are let go: each link of a chain of timers would keep all
 * before it.
 */
function nearest(from: Frame | undefined): Frame | undefined {
  let at = from
  while (at !== undefined && !at.running) at = at.outer
  return at
}

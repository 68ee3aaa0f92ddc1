/** A promise for what happens once. It is made only when somebody waits for it, since most wait for nothing. */
import { quiet } from "./races.ts"

type Outcome<A> = { readonly value: A } | { readonly error: unknown }

export class Deferred<A> {
  #outcome: Outcome<A> | undefined
  #waiting: PromiseWithResolvers<A> | undefined

  get isSettled(): boolean {
    return this.#outcome !== undefined
  }

  /** Settles as it was settled, or will be. A rejection that nobody waits for is no unhandled one. */
  get promise(): Promise<A> {
    if (this.#outcome !== undefined) return settled(this.#outcome)
    if (this.#waiting === undefined) {
      this.#waiting = Promise.withResolvers<A>()
      void quiet(this.#waiting.promise)
    }
    return this.#waiting.promise
  }

  /** The first time that it is settled counts. */
  resolve(value: A): void {
    this.#settle({ value })
  }

  /** The first time that it is settled counts. */
  reject(error: unknown): void {
    this.#settle({ error })
  }

  #settle(outcome: Outcome<A>): void {
    if (this.#outcome !== undefined) return
    this.#outcome = outcome
    if ("value" in outcome) this.#waiting?.resolve(outcome.value)
    else this.#waiting?.reject(outcome.error)
    this.#waiting = undefined
  }
}

const settled = <A>(outcome: Outcome<A>): Promise<A> =>
  "value" in outcome ? Promise.resolve(outcome.value) : quiet(Promise.reject(outcome.error as Error))

/**
 * The requests of other processes for the keys of a run. Those that come before the command is let in are kept for it.
 */
export class ReleaseRequests {
  readonly #early: string[] = []
  #answer: ((waiterId: string) => void) | undefined

  /** Another process asks for a key. */
  add(waiterId: string): void {
    if (this.#answer === undefined) this.#early.push(waiterId)
    else this.#answer(waiterId)
  }

  /** From now on `answer` takes them, first those that were kept. */
  answerBy(answer: (waiterId: string) => void): void {
    this.#answer = answer
    for (const waiterId of this.#early) answer(waiterId)
  }
}

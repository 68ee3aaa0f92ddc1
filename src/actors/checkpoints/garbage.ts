/**
 * Deletes content objects that nobody can need any more (rule 17), in the background. Owns which content this
 * activation knows of. The writer says what is safe to delete when: it calls this only after an acknowledged write.
 *
 * Not promised: that every object goes. What can't be deleted in time stays until the next acknowledged write tries
 * again, or until the cleaning after an unclean takeover.
 */
import type { Generation, ObjectStore } from "../../locks/stores/port.ts"
import { type OnError, reporter } from "../../runtime/report.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { listContents, removeContent } from "./content/content.ts"
import { type Head, namedContents } from "./head/head.ts"
import type { Patience } from "./objects/patience.ts"
import type { StatePlace } from "./objects/problems.ts"

const withinMs = 10_000

/** Where to delete. */
export interface GarbageParts {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly place: StatePlace
  readonly onError?: OnError | undefined
}

export class Garbage {
  readonly #store: ObjectStore
  readonly #clock: Clock
  readonly #place: StatePlace
  readonly #report: OnError
  /** Content that exists as far as this activation knows, with its generation where it is known. */
  #known: Map<string, Generation | undefined> | undefined
  #work: Promise<void> | undefined

  constructor({ store, clock, place, onError }: GarbageParts) {
    this.#store = store
    this.#clock = clock
    this.#place = place
    this.#report = reporter(onError)
  }

  /** This content exists, or may come to. */
  note(content: string, generation?: Generation): void {
    this.#known ??= new Map()
    this.#known.set(content, generation)
  }

  /** Deletes all known content that this head, an acknowledged one of this activation, doesn't name. */
  superseded(by: Head): void {
    const named = new Set(namedContents(by))
    const doomed = [...(this.#known ?? [])].filter(([content]) => !named.has(content))
    if (doomed.length > 0) this.#background(() => this.#delete(doomed))
  }

  /** Lists once, and deletes all content of earlier tokens that this head, an acknowledged one, doesn't name. */
  sweep(head: Head): void {
    const named = new Set(namedContents(head))
    this.#background(async () => {
      const patience = this.#patience()
      for await (const { content, token, generation } of listContents(this.#store, this.#place, patience))
        if (token < head.token && !named.has(content)) await this.#remove(content, generation, patience)
    })
  }

  /** Settles when what is under way has ended, within 10 s. */
  async close(): Promise<void> {
    await this.#work
  }

  async #delete(doomed: readonly (readonly [string, Generation | undefined])[]): Promise<void> {
    const patience = this.#patience()
    await Promise.all(doomed.map(([content, generation]) => this.#remove(content, generation, patience)))
  }

  async #remove(content: string, generation: Generation | undefined, patience: Patience): Promise<void> {
    if (await removeContent(this.#store, this.#place, content, generation, patience)) this.#known?.delete(content)
  }

  #background(work: () => Promise<void>): void {
    const running = Promise.all([this.#work, work().catch(this.#report)]).then(() => {
      if (this.#work === running) this.#work = undefined
    })
    this.#work = running
  }

  #patience(): Patience {
    return { clock: this.#clock, store: this.#store, until: this.#clock.read().mono + withinMs, background: true }
  }
}

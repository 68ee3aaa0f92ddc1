/**
 * An operator, who follows no protocol. It deletes a record under its owner, or replaces it by what is no record. The
 * latter it mends later by deleting it, as the errors ask operators to.
 *
 * Not promised: to touch anything but lease records. Heads are fenced by nothing else.
 */
import type { ObjectRef } from "../../locks/stores/port.ts"
import type { SimulatedStore } from "./store.ts"

/**
 * What stands in the place of a record: nothing at all, the first half of it, a list, or more than a record may have.
 */
export type Damage = "empty" | "half" | "list" | "huge"

/** Every damage. */
export const damages: readonly Damage[] = ["empty", "half", "list", "huge"]

/** In bytes: no record is larger. */
const mostOfARecord = 64 * 1024

/** One such person. */
export class Operator {
  readonly #store: SimulatedStore
  /** What is to be mended: the generation that is no record, by the record's name. */
  readonly #damaged = new Map<string, string>()

  /** Without anything damaged. */
  constructor(store: SimulatedStore) {
    this.#store = store
  }

  /** Deletes a record, if there is one. */
  delete(ref: ObjectRef): void {
    if (this.#at(ref) !== undefined) this.#store.tamper(ref, undefined)
  }

  /** Leaves something else in a record's place. */
  damage(ref: ObjectRef, damage: Damage): void {
    this.#store.tamper(ref, bytesOf(damage, this.#at(ref)?.body))
    this.#damaged.set(ref.name, this.#at(ref)!.generation)
  }

  /** Whether what it damaged still stands. */
  hasToMend(ref: ObjectRef): boolean {
    const damaged = this.#damaged.get(ref.name)
    return damaged !== undefined && this.#at(ref)?.generation === damaged
  }

  /** Deletes what it damaged, where that still stands. */
  mend(ref: ObjectRef): void {
    if (this.hasToMend(ref)) this.delete(ref)
    this.#damaged.delete(ref.name)
  }

  #at({ area, name }: ObjectRef) {
    return this.#store.objects.get(`${area}/${name}`)
  }
}

function bytesOf(damage: Damage, before: Uint8Array | undefined): Uint8Array {
  const text = new TextEncoder()
  switch (damage) {
    case "empty":
      return new Uint8Array()
    case "half":
      return before?.slice(0, Math.floor(before.length / 2)) ?? text.encode('{"ownerId":')
    case "list":
      return text.encode("[]")
    case "huge":
      return text.encode(`{"padding":"${"x".repeat(mostOfARecord)}"`)
  }
}

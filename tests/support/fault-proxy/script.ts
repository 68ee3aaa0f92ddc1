/**
 * What a test asked for, request by request: rules that hold once or until they are lifted, and waits for a request.
 */
import type { Fault } from "./fault.ts"

/** A request as the proxy saw it. */
export interface Seen {
  /** Counted from 1, in the order in which requests arrived whole. */
  readonly n: number
  readonly method: string
  /** Path and query, decoded as far as they can be. */
  readonly path: string
  /** The object that it is about; the path, where it is about none. */
  readonly object: string
}

/** Which requests are meant; without either, all. */
export interface Match {
  readonly on?: string
  /** Looked for in the decoded path and query. */
  readonly of?: RegExp
}

/** What happens to those requests. */
export interface Rule extends Match {
  readonly fault: Fault
}

export const matches = ({ on, of }: Match, { method, path }: Seen): boolean =>
  (on === undefined || on === method) && (of === undefined || path.search(of) >= 0)

/** Rules in the order of calls; those that hold once go first. */
export class Script {
  readonly #once: Rule[] = []
  readonly #standing = new Set<Rule>()

  next(...rules: readonly Rule[]): void {
    this.#once.push(...rules)
  }

  always(rule: Rule): Disposable {
    this.#standing.add(rule)
    return { [Symbol.dispose]: () => void this.#standing.delete(rule) }
  }

  /** The fault for a request. A rule that holds once is used up by it. */
  take(seen: Seen): Fault | undefined {
    const index = this.#once.findIndex((rule) => matches(rule, seen))
    if (index >= 0) return this.#once.splice(index, 1)[0]?.fault
    return [...this.#standing].find((rule) => matches(rule, seen))?.fault
  }
}

/** Promises for the next request of a kind. */
export class Waits {
  readonly #waiting = new Set<{ readonly match: Match; readonly settle: (seen: Seen) => void }>()

  next(match: Match): Promise<Seen> {
    return new Promise((settle) => void this.#waiting.add({ match, settle }))
  }

  /** Settles all that wait for such a request. */
  tell(seen: Seen): void {
    for (const wait of this.#waiting) {
      if (!matches(wait.match, seen)) continue
      this.#waiting.delete(wait)
      wait.settle(seen)
    }
  }
}

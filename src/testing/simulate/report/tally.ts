/** Counts what the runs of a simulation came to, and misses what none did. */

/** A simulation never came to what it had to: it has shown less than was asked of it. */
export class NeverReachedError extends Error {
  /** What was never reached. */
  readonly names: readonly string[]

  /** Names them. */
  constructor(names: readonly string[]) {
    super(`No run came to this: ${names.join("; ")}. Run more seeds, or longer ones, or make the workload come to it.`)
    this.name = "NeverReachedError"
    this.names = names
  }
}

/** How many runs came to what. */
export class RunTally {
  readonly #counts = new Map<string, number>()

  /** One run more. */
  add(names: Iterable<string>): void {
    for (const name of names) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** By name, in the order of names. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Those of these names that no run came to. */
  missing(names: readonly string[]): readonly string[] {
    return names.filter((name) => !this.#counts.has(name))
  }

  /** Throws NeverReachedError where any is missing. */
  require(names: readonly string[]): void {
    const missing = this.missing(names)
    if (missing.length > 0) throw new NeverReachedError(missing)
  }
}

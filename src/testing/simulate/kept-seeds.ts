/** Seeds that failed, in a file: they are run first until they pass. One process at a time writes it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The kept seeds of a folder. */
export class KeptSeeds {
  readonly #file: string | undefined
  readonly #seeds: Set<number>

  /** Reads the folder's file; without a folder nothing is kept. */
  constructor(folder: string | undefined) {
    this.#file = folder === undefined ? undefined : join(folder, "failing-seeds.json")
    this.#seeds = new Set(this.#file === undefined ? [] : readSeeds(this.#file))
  }

  /** These seeds, and before them the kept ones. */
  before(seeds: readonly number[]): readonly number[] {
    return [...this.#seeds, ...seeds.filter((seed) => !this.#seeds.has(seed))]
  }

  /** Keeps a seed that failed, forgets one that passed. */
  note(seed: number, passed: boolean): void {
    if (this.#file === undefined || this.#seeds.has(seed) !== passed) return
    if (passed) this.#seeds.delete(seed)
    else this.#seeds.add(seed)
    if (this.#seeds.size === 0) return rmSync(this.#file, { force: true })
    mkdirSync(join(this.#file, ".."), { recursive: true })
    writeFileSync(this.#file, `${JSON.stringify([...this.#seeds])}\n`)
  }
}

function readSeeds(file: string): number[] {
  let text: string
  try {
    text = readFileSync(file, "utf8")
  } catch {
    return [] // nothing has failed yet
  }
  return (JSON.parse(text) as unknown[]).filter((seed): seed is number => Number.isSafeInteger(seed))
}

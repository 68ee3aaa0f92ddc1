/** Seeds that failed, in a file: they are run first until they pass. One process at a time writes it. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { InvalidConfigError } from "../../locks/api/errors.ts"

/** The kept seeds of a folder. */
export class KeptSeeds {
  readonly #file: string | undefined
  readonly #seeds: Set<number>

  /**
   * Reads the folder's file; without a folder nothing is kept. Throws InvalidConfigError where the file is no list of
   * seeds.
   */
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
    write(this.#file, `${JSON.stringify([...this.#seeds])}\n`)
  }
}

/** Whole or not at all, also where the process is killed in the middle of it. */
function write(file: string, text: string): void {
  const unfinished = `${file}.tmp`
  writeFileSync(unfinished, text)
  renameSync(unfinished, file)
}

function readSeeds(file: string): readonly number[] {
  const text = readText(file)
  const seeds = text === undefined ? [] : parsed(text)
  if (Array.isArray(seeds) && seeds.every(isSeed)) return seeds
  throw unreadable(file, "is no list of seeds")
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8")
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ENOENT") return undefined // nothing has failed yet
    throw unreadable(file, "can't be read", error)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isSeed = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const unreadable = (file: string, what: string, cause?: unknown): InvalidConfigError =>
  new InvalidConfigError({
    message: `${file}, where a simulation keeps the seeds that failed, ${what}`,
    next: "Delete it, or make it a list of whole numbers again: [7, 9]",
    ...(cause !== undefined && { cause }),
  })

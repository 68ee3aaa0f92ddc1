/** Several keys at once: one order for everybody, all or none, one budget. Owns no lock; it acquires them one by one. */
import type { Clock } from "../../runtime/clock.ts"
import { anySignal } from "../../runtime/latch-signal.ts"
import { InvalidConfigError } from "../errors.ts"
import { checkKey } from "../keys.ts"
import type { ReleaseResult } from "../lock.ts"
import { wishOf } from "../options.ts"
import type { HeldLock, HeldLocks, LockProvider, ProviderOptions } from "../provider.ts"

/** Acquires them all by `acquire`, or none. */
export async function acquireAll(
  acquire: LockProvider["acquire"],
  clock: Clock,
  keys: readonly string[],
  options: ProviderOptions,
): Promise<HeldLocks> {
  const ordered = inOrder(keys)
  const { budgetMs, budgetSource } = wishOf(options)
  const from = clock.mono()
  const held: HeldLock[] = []
  try {
    for (const key of ordered) {
      const left = budgetMs === undefined ? "infinite" : Math.max(0, budgetMs - (clock.mono() - from))
      held.push(await acquire(key, { ...options, timeout: left, timeoutSource: budgetSource }))
    }
  } catch (error) {
    await releaseAll(held)
    throw error
  }
  return new AllHeld(held)
}

function inOrder(keys: readonly string[]): readonly string[] {
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new InvalidConfigError({
      message: "There are no keys to acquire",
      next: "Pass an array of one key or more",
    })
  }
  for (const key of keys as readonly unknown[]) checkKey(key)
  return [...new Set(keys)].toSorted((a, b) => (a < b ? -1 : 1))
}

/** From the worst to the best. */
const outcomes: readonly ReleaseResult[] = ["unknown", "alreadyLost", "released"]

async function releaseAll(held: readonly HeldLock[]): Promise<ReleaseResult> {
  const results: ReleaseResult[] = []
  for (const lock of held.toReversed()) results.push(await lock.release())
  return outcomes.find((outcome) => results.includes(outcome)) ?? "released"
}

class AllHeld implements HeldLocks {
  readonly keys: readonly string[]
  readonly #held: readonly HeldLock[]
  readonly #lost: ReturnType<typeof anySignal>
  #released: Promise<ReleaseResult> | undefined

  constructor(held: readonly HeldLock[]) {
    this.keys = held.map(({ key }) => key)
    this.#held = held
    this.#lost = anySignal(...held.map(({ signal }) => signal))
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  token(key: string): number | undefined {
    return this.#held.find((lock) => lock.key === key)?.token
  }

  isHeld(): boolean {
    return this.#held.every((lock) => lock.isHeld())
  }

  release(): Promise<ReleaseResult> {
    if (this.#released === undefined) {
      this.#lost[Symbol.dispose]()
      this.#released = releaseAll(this.#held)
    }
    return this.#released
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }
}

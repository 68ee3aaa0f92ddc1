/** Several keys of a provider as one thing that is held. */
import { anySignal } from "../../runtime/latch-signal.ts"
import type { Clock } from "../../runtime/time/clock.ts"
import { InvalidConfigError } from "../api/errors.ts"
import { checkKey } from "../api/keys.ts"
import type { ReleaseResult } from "../api/lock.ts"
import type { HeldLock, HeldLocks, ProviderOptions } from "../api/provider.ts"
import { allOrNone, inOneOrder, releaseAll } from "../lock/several.ts"
import { callSettings } from "./options.ts"

/** Acquires them all by `acquire`, or none. `acquire` is given the time of this call, by the monotonic clock. */
export async function acquireAll(
  acquire: (key: string, from: number) => Promise<HeldLock>,
  clock: Clock,
  keys: readonly string[],
  options: ProviderOptions,
): Promise<HeldLocks> {
  checkKeys(keys)
  callSettings(options) // refused before anything is held
  return new AllHeld(await allOrNone(inOneOrder(keys), acquire, clock))
}

function checkKeys(keys: readonly string[]): void {
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new InvalidConfigError({
      message: "There are no keys to acquire",
      next: "Pass an array of one key or more",
    })
  }
  for (const key of keys as readonly unknown[]) checkKey(key)
}

class AllHeld implements HeldLocks {
  readonly keys: readonly string[]
  readonly #held: readonly HeldLock[]
  readonly #lost: ReturnType<typeof anySignal>

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
    this.#lost[Symbol.dispose]()
    return releaseAll(this.#held)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lost[Symbol.dispose]()
    await Promise.all(this.#held.toReversed().map((lock) => lock[Symbol.asyncDispose]()))
  }
}

/**
 * Work in a turn of a sandbox that is opened for it, tried again where the sandbox leaves before the turn begins, and
 * later where that is safe.
 */
import { HandingOffError, LockLostError } from "../../locks/api/errors.ts"
import type { Activation } from "../sandbox/activation.ts"
import type { CallWait } from "../sandbox/waits.ts"
import type { OpenOptions, Registry, SandboxRef } from "./registry.ts"

/** A sandbox that something is to run in. */
export interface SandboxWish {
  readonly what: "use" | "call"
  /** Asked at each try. Throws where the sandbox can't be. */
  readonly ref: () => SandboxRef
  readonly options: OpenOptions
  readonly wait: CallWait
  /** Whether it may be run once more though it had begun. */
  readonly mayRepeat: (error: unknown) => boolean
}

/** Settles as `run` does, which calls `onBegin` when its turn begins. */
export async function inSandbox<A>(
  registry: Registry,
  { what, ref, options, wait, mayRepeat }: SandboxWish,
  run: (activation: Activation, onBegin: () => void) => Promise<A>,
): Promise<A> {
  let begun = false
  const attempt = async (): Promise<A> => {
    const wanted = ref()
    registry.find(wanted.lockKey)?.activation?.turns.refuseInside(what)
    const { activation } = await registry.open(wanted, options, wait)
    return run(activation!, () => {
      begun = true
      wait.watch?.acquired(activation!.lease)
    })
  }
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (begun && !mayRepeat(error)) throw error
      const isFirst = tries === 1 && (error instanceof HandingOffError || error instanceof LockLostError)
      const hasLeft = error instanceof HandingOffError && options.contention === "retry"
      if (!begun && !isFirst && !hasLeft) throw error
    }
  }
}

/** Work in a turn of a sandbox that is opened for it, tried again where the sandbox leaves before the turn begins. */
import { HandingOffError, LockLostError } from "../../locks/api/errors.ts"
import type { Activation } from "../sandbox/activation.ts"
import type { CallWait } from "../sandbox/waits.ts"
import type { OpenOptions, Registry, SandboxRef } from "./registry.ts"

/** A sandbox that something is to run in. */
export interface SandboxWish {
  /** Asked at each try. Throws where the sandbox can't be. */
  readonly ref: () => SandboxRef
  readonly options: OpenOptions
  readonly wait: CallWait
  /** It may be run once more where nobody knows how it ended. */
  readonly mayRepeat: boolean
}

/** Settles as `run` does, which calls `onBegin` when its turn begins. */
export async function inSandbox<A>(
  registry: Registry,
  { ref, options, wait, mayRepeat }: SandboxWish,
  run: (activation: Activation, onBegin: () => void) => Promise<A>,
): Promise<A> {
  let begun = false
  const attempt = async (): Promise<A> => {
    const wanted = ref()
    registry.find(wanted.lockKey)?.activation?.turns.refuseInside("use")
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
      const isFirst = tries === 1 && (error instanceof HandingOffError || error instanceof LockLostError)
      const mayGoOn = isFirst || (error instanceof HandingOffError && options.contention === "retry")
      if (!mayGoOn || (begun && !mayRepeat)) throw error
    }
  }
}

/**
 * Makes the user's code of one worker go wrong: the next run of a hook takes longer or throws. The hooks themselves are
 * the definition's own. Owns what waits to go wrong; when it is put there is the plan's to say.
 */
import { defineSandbox, partsOf } from "../../actors/definition.ts"
import type { SandboxDefinition } from "../../actors/sandbox.ts"
import type { Clock } from "../../runtime/clock.ts"
import type { Hook, HookFault } from "./faults.ts"

/** What a hook throws when it is made to. */
export class HookFailure extends Error {
  override readonly name = "HookFailure"
}

/** Whether an error is one of those, or came of one. */
export function isHookFailure(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; at = at.cause, depth++)
    if (at instanceof HookFailure) return true
  return false
}

/** What is about to go wrong in one worker's hooks. */
export class HookFaults {
  readonly #clock: Clock
  readonly #waiting: HookFault[] = []
  /** What ends the delays that go on now. */
  readonly #slow = new Set<() => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The next run of the fault's hook goes wrong. */
  add(fault: HookFault): void {
    this.#waiting.push(fault)
  }

  /** Nothing goes wrong any more, and what is slow goes on at once. */
  clear(): void {
    this.#waiting.length = 0
    for (const goOn of this.#slow) this.#clock.soon(goOn)
  }

  /** What a hook waits for before it begins: undefined where all is well. Throws or rejects where it is made to. */
  before(hook: Hook): Promise<void> | undefined {
    const index = this.#waiting.findIndex((fault) => fault.hook === hook)
    const [fault] = index < 0 ? [] : this.#waiting.splice(index, 1)
    if (fault === undefined) return undefined
    if (fault.kind === "failingHook") throw new HookFailure(`${hook} was made to fail`)
    return this.#slowed(fault.ms)
  }

  #slowed(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const goOn = (): void => {
        timer.cancel()
        this.#slow.delete(goOn)
        resolve()
      }
      const timer = this.#clock.after(ms, goOn)
      this.#slow.add(goOn)
    })
  }

  /** The definition with hooks that go wrong when they are to. */
  wrap<S, C>(definition: SandboxDefinition<S, C>): SandboxDefinition<S, C> {
    const { hooks } = partsOf(definition)
    const faulty =
      <A extends readonly unknown[], B>(hook: Hook, run: (...args: A) => B | Promise<B>) =>
      async (...args: A): Promise<B> => {
        await this.before(hook)
        return run(...args)
      }
    return defineSandbox({
      ...hooks,
      restore: faulty("restore", (context: Parameters<typeof hooks.restore>[0]) => hooks.restore(context)),
      checkpoint: faulty("checkpoint", (...args: Parameters<typeof hooks.checkpoint>) => hooks.checkpoint(...args)),
      ...(hooks.run && { run: faulty("run", hooks.run.bind(hooks)) }),
      close: faulty("close", async (...args: Parameters<NonNullable<typeof hooks.close>>) => hooks.close?.(...args)),
    }) as SandboxDefinition<S, C>
  }
}

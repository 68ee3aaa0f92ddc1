/**
 * Makes the user's code of one worker go wrong: the next run of a hook takes longer, hangs or throws. The hooks
 * themselves are the definition's own. Owns what waits to go wrong; when it is put there is the plan's to say.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { type AnyHooks, defineSandbox, partsOf } from "../../../actors/api/definition.ts"
import type { SandboxDefinition } from "../../../actors/api/sandbox.ts"
import { gather } from "../../../actors/checkpoints/content/gather.ts"
import type { Clock } from "../../../runtime/time/clock.ts"
import type { Hook, HookFault } from "../plan/faults.ts"

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

  /** What a hook waits for: undefined where all is well. Throws or rejects where it is made to. */
  before(hook: Hook, signal?: AbortSignal): Promise<void> | undefined {
    const index = this.#waiting.findIndex((fault) => fault.hook === hook)
    const [fault] = index < 0 ? [] : this.#waiting.splice(index, 1)
    if (fault === undefined) return undefined
    if (fault.kind === "failingHook") throw new HookFailure(`${hook} was made to fail`)
    return this.#slowed(fault.ms, fault.obeys === true ? signal : undefined)
  }

  #slowed(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const end = (): void => {
      timer.cancel()
      this.#slow.delete(goOn)
      signal?.removeEventListener("abort", obey)
    }
    const goOn = (): void => {
      end()
      resolve()
    }
    const obey = (): void => {
      end()
      reject(signal!.reason as Error)
    }
    const timer = this.#clock.after(ms, goOn)
    this.#slow.add(goOn)
    signal?.addEventListener("abort", obey)
    if (signal?.aborted) obey()
    return promise
  }

  /** The definition with hooks that go wrong when they are to. A slow checkpoint has seen the state first. */
  wrap<S, C>(definition: SandboxDefinition<S, C>): SandboxDefinition<S, C> {
    const { hooks } = partsOf(definition)
    const faulty: AnyHooks = {
      ...hooks,
      schema: this.#schema(hooks.schema),
      restore: async (context) => {
        await this.before("restore", context.signal)
        return hooks.restore(context) as unknown
      },
      checkpoint: async (state, context) => {
        const value: unknown = await hooks.checkpoint(state, context)
        await this.before("checkpoint", context.signal)
        return value
      },
      close: async (state, context) => {
        await this.before("close", context.signal)
        await hooks.close?.(state, context)
      },
      ...(hooks.run !== undefined && {
        run: async (state, context) => {
          await this.before("run", context.signal)
          await hooks.run!(state, context)
        },
      }),
      ...(hooks.migrate !== undefined && {
        migrate: async (saved, from, context) => {
          await this.before("migrate", context.signal)
          return hooks.migrate!(saved, from, context)
        },
      }),
    }
    return defineSandbox(faulty) as SandboxDefinition<S, C>
  }

  #schema(schema: AnyHooks["schema"]): AnyHooks["schema"] {
    if (!("~standard" in schema)) {
      return {
        encode: async (value, context) => {
          await this.before("schema", context.signal)
          const encoded = await schema.encode(value, context)
          return encoded instanceof Uint8Array ? encoded : gather(encoded, Number.POSITIVE_INFINITY)
        },
        decode: async (bytes, context) => {
          await this.before("schema", context.signal)
          return schema.decode(bytes, context) as unknown
        },
      }
    }
    const standard = schema["~standard"] as StandardSchemaV1.Props
    const validate: typeof standard.validate = async (value, options) => {
      await this.before("schema", options?.libraryOptions?.["signal"] as AbortSignal | undefined)
      return standard.validate(value, options)
    }
    return { "~standard": { ...standard, validate } }
  }
}

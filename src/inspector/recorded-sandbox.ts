/**
 * A sandbox whose work is lines of a trace: where each of its hooks, each turn and each use, begins and ends, and when
 * its run asks for a checkpoint. It calls the hooks as they are, and passes on what they give and throw.
 *
 * Not promised: lines of schemas and codecs that answer at once, or in chunks.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { type AnyHooks, defineSandbox, partsOf } from "../actors/api/definition.ts"
import type { HookContext, RunContext, SandboxDefinition } from "../actors/api/sandbox.ts"
import type { CodecContext } from "../actors/checkpoints/content/codec.ts"
import { sandboxLockKey } from "../locks/api/keys.ts"
import type { CallLine, WorkLine } from "../trace/trace.ts"
import type { WorkDetail, WorkerLines } from "../trace/worker-lines.ts"

/** Writes down the beginning and the end of sections of work. */
export class WorkRecorder {
  readonly #lines: WorkerLines

  constructor(lines: WorkerLines) {
    this.#lines = lines
  }

  /** Runs fn as one section only where it is asynchronous: of what is done at once there is nothing to tell. */
  later<A>(section: WorkDetail, fn: () => A): A {
    const result = fn()
    return result instanceof Promise ? this.section(section, () => result) : result
  }

  /** Runs fn, which may be asynchronous or not, as one section. */
  section<A>(section: WorkDetail, fn: () => A): A {
    const ends = this.#lines.begins(section)
    const fail = (error: unknown): never => {
      ends({ error })
      throw error
    }
    return settled(fn, () => ends(), fail)
  }
}

/**
 * Calls fn, and one of the others once it has settled: at once where it is synchronous, so that its turns stay the
 * same.
 */
function settled<A>(fn: () => A, ended: () => void, failed: (error: unknown) => never): A {
  let result: A
  try {
    result = fn()
  } catch (error) {
    return failed(error)
  }
  if (!(result instanceof Promise)) {
    ended()
    return result
  }
  const told = result.then((value: unknown) => {
    ended()
    return value
  }, failed)
  return told as A
}

/** A sandbox, under one token. */
type Home = Pick<WorkLine, "key" | "token">

/**
 * A definition of the same name, version and types, whose work is recorded. Its checkpoints and closes are recorded
 * where the state is an object, which tells whose it is.
 */
export function recordedSandbox<S, C>(
  definition: SandboxDefinition<S, C>,
  recorder: WorkRecorder,
  call: RecordCall,
): SandboxDefinition<S, C> {
  const { hooks } = partsOf(definition)
  const homes = new WeakMap<object, Home>()
  const settle = (state: unknown, home: Home): unknown => {
    if (isObject(state)) homes.set(state, home)
    return state
  }
  const section = <A>(state: unknown, what: Omit<WorkDetail, keyof Home>, fn: () => A): A => {
    const home = isObject(state) ? homes.get(state) : undefined
    return home === undefined ? fn() : recorder.section({ ...home, ...what }, fn)
  }
  const recorded: AnyHooks = {
    ...hooks,
    restore: (context) => {
      const home = homeOf(context)
      return recorder.section({ ...home, work: "restore" }, () => {
        const state: unknown = hooks.restore(context)
        return state instanceof Promise ? state.then((value) => settle(value, home)) : settle(state, home)
      })
    },
    ...(hooks.run !== undefined && {
      run: (state, context) => {
        const home = homeOf(context)
        const recordedContext: RunContext = {
          ...context,
          turn: (fn) => context.turn(() => recorder.section({ ...home, work: "turn" }, fn)),
          checkpoint: () => call({ call: "checkpoint", key: home.key }, () => context.checkpoint()),
        }
        return recorder.section({ ...home, work: "run" }, () => hooks.run!(state, recordedContext))
      },
    }),
    ...(hooks.migrate !== undefined && {
      migrate: (saved, from, context) => {
        const migrate = (): unknown => hooks.migrate!(saved, from, context)
        const home = homeBy(definition.name, context)
        return home === undefined ? migrate() : recorder.section({ ...home, work: "migrate" }, migrate)
      },
    }),
    schema: recordedSchema(hooks.schema, (context, fn) => {
      const home = homeBy(definition.name, context)
      return home === undefined ? fn() : recorder.later({ ...home, work: "schema" }, fn)
    }),
    checkpoint: (state, context) =>
      section(state, { work: "checkpoint", reason: context.reason }, () => hooks.checkpoint(state, context)),
    close: (state, context) =>
      section(state, { work: "close", reason: context.reason }, () => hooks.close?.(state, context)),
  }
  return defineSandbox(recorded)
}

/** Records a call that is made from inside. */
type RecordCall = <A>(asked: Pick<CallLine, "call" | "key">, make: () => Promise<A>) => Promise<A>

type RecordSchema = <A>(context: Partial<CodecContext>, fn: () => A) => A

/** The same schema or codec, whose calls are recorded. */
function recordedSchema(schema: AnyHooks["schema"], record: RecordSchema): AnyHooks["schema"] {
  if (!("~standard" in schema)) {
    return {
      encode: (value, context) => record(context, () => schema.encode(value, context)),
      decode: (bytes, context) => record(context, () => schema.decode(bytes, context)),
    }
  }
  const standard = schema["~standard"] as StandardSchemaV1.Props
  const validate: typeof standard.validate = (value, options) =>
    record(options?.libraryOptions ?? {}, () => standard.validate(value, options))
  return { "~standard": { ...standard, validate } }
}

/** Whose saved state a definition's code works on; undefined where it is only looked at, under no lease. */
const homeBy = (name: string, { key, token }: Partial<CodecContext>): Home | undefined =>
  key === undefined || token === undefined ? undefined : { key: sandboxLockKey(name, key), token }

/** Lines are of lock keys, as everywhere in a trace. */
export const homeOf = ({ token, lease }: HookContext): Home => ({ key: lease.key, token })

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/**
 * Makes definitions, and keeps their parts out of their public type. A wrong definition is refused where it is written,
 * by InvalidConfigError or InvalidKeyError, not when it first runs.
 */
import * as Schedule from "effect/Schedule"
import { UnknownDefinitionError } from "../../locks/api/errors.ts"
import { checkKey } from "../../locks/api/keys.ts"
import { lasting, millisOf } from "../../runtime/input/bounds.ts"
import { aCount, aFunction, type OptionChecks, refusal, refuseUnknown, shown } from "../../runtime/input/options.ts"
import type { MemoryLimits } from "../calls/memory/memory.ts"
import { type CallParts, callParts, memoryLimits } from "./call-parts.ts"
import type { CallDefinitions, CheckedCalls, MessagesOf } from "./calls.ts"
import type {
  AnyDefinition,
  CallKind,
  AnySchema,
  BackOffSchedule,
  RestoredBy,
  Sandbox,
  SandboxDefinition,
  SandboxHooks,
  SavedBy,
} from "./sandbox.ts"

/** Hooks of any sandbox. The runtime carries their values from one hook to the other without looking at them. */
// oxlint-disable-next-line typescript/no-explicit-any -- S, In and Out belong to the definition's writer
export type AnyHooks = SandboxHooks<any, any, any>

/** What a definition holds. */
export interface DefinitionParts {
  readonly hooks: AnyHooks
  readonly version: number
  /** Milliseconds. */
  readonly idleAfter: number | undefined
  readonly checkpointEvery: number | undefined
  readonly backOff: BackOffSchedule | undefined
  /** By name. */
  readonly calls: ReadonlyMap<string, CallParts>
  readonly callMemory: MemoryLimits
  /** How many calls may wait for a sandbox. */
  readonly callQueue: number
  /** Makes the handle that `restoreSandbox` gives. */
  readonly handle: (sandbox: Sandbox<unknown>) => unknown
}

class Definition implements AnyDefinition {
  readonly name: string
  readonly version: number
  readonly calls: Readonly<Record<string, CallKind>>
  readonly #parts: DefinitionParts

  constructor(parts: DefinitionParts) {
    this.name = parts.hooks.name
    this.version = parts.version
    this.calls = Object.fromEntries(
      [...parts.calls].map(([name, { durable, readonly }]) => [name, { durable, readonly }] as const),
    )
    this.#parts = parts
  }

  static partsOf(definition: AnyDefinition): DefinitionParts {
    if (typeof definition === "object" && definition !== null && #parts in definition) return definition.#parts
    const { name } = Object(definition) as { readonly name?: unknown }
    throw new UnknownDefinitionError({
      message: `${shown(name ?? definition)} is not a sandbox definition`,
      next: "Pass what defineSandbox returned",
    })
  }
}

/** What a definition holds. UnknownDefinitionError for anything that `defineSandbox` didn't make. */
export const partsOf = (definition: AnyDefinition): DefinitionParts => Definition.partsOf(definition)

/**
 * Defines a kind of sandbox. Throws InvalidConfigError and InvalidKeyError for hooks that can't work.
 *
 * `restore` has to be written before the hooks that take the state: TypeScript learns the state's type from it.
 */
export function defineSandbox<Schema extends AnySchema, S, Inputs, const Calls = unknown>(
  hooks: SandboxHooks<S, SavedBy<Schema>, RestoredBy<Schema>, Schema> & {
    /**
     * The messages that its sandboxes take, by name: for `SandboxManager.call`, which finds a sandbox wherever it runs.
     * A name has 1 to 64 characters of A to Z, a to z, 0 to 9 and `_-`.
     */
    readonly calls?: CallDefinitions<S, Inputs> & Calls & CheckedCalls<Calls>
  },
): SandboxDefinition<S, SavedBy<Schema>, Sandbox<S>, MessagesOf<NoInfer<Calls>>> {
  refuseUnknown("defineSandbox", hooks, HOOKS, ["name", "schema", "restore", "checkpoint"])
  const { version = 1, migrate, idleAfter, checkpointEvery, backOff, calls = {}, callMemory, callQueue = 1000 } = hooks
  if (version > 1 && migrate === undefined) throw withoutMigrate(version)
  const definition: SandboxDefinition<S, SavedBy<Schema>, Sandbox<S>, MessagesOf<Calls>> = new Definition({
    hooks,
    version,
    idleAfter: idleAfter === undefined ? undefined : millisOf("idleAfter", idleAfter),
    checkpointEvery: checkpointEvery === undefined ? undefined : millisOf("checkpointEvery", checkpointEvery),
    backOff,
    calls: callParts(calls),
    callMemory: memoryLimits(callMemory),
    callQueue,
    handle: (sandbox) => sandbox,
  })
  return definition
}

const withoutMigrate = (version: number): Error =>
  refusal(
    `version is ${version}, and migrate is undefined: nothing says how to read what version ${version - 1} saved`,
    "Give migrate: (saved, from) => …, or (saved) => saved where the schema takes earlier state as it is",
  )

/** A Standard Schema, which may be a function too, or a Codec. */
const aSchema = (name: string, schema: unknown): void => {
  const isObject = (typeof schema === "object" && schema !== null) || typeof schema === "function"
  if (isObject && ("~standard" in schema || ("encode" in schema && "decode" in schema))) return
  throw refusal(
    `${name} is ${isObject ? "neither a Standard Schema nor a Codec" : shown(schema)}`,
    "Give a Standard Schema (of zod, effect and others), a Codec, or unchecked()",
  )
}

const aSchedule = (name: string, value: unknown): void => {
  if (!Schedule.isSchedule(value))
    throw refusal(
      `${name} is ${shown(value)}`,
      'Give a Schedule of effect/Schedule, such as Schedule.spaced("5 seconds")',
    )
}

type AnyParts = AnyHooks & { readonly calls?: unknown }

const HOOKS: OptionChecks<AnyParts> = {
  name: (_name, value) => checkKey(value),
  version: aCount(1),
  migrate: aFunction,
  schema: aSchema,
  idleAfter: lasting(0),
  checkpointEvery: lasting(1),
  backOff: aSchedule,
  restore: aFunction,
  run: aFunction,
  checkpoint: aFunction,
  close: aFunction,
  inspectState: aFunction,
  calls: true,
  callMemory: true,
  callQueue: aCount(1),
}

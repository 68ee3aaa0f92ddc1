/**
 * Makes definitions, and keeps what belongs to one out of its public type. What is wrong with a definition is said where
 * it is written, by InvalidConfigError or InvalidKeyError, not when it first runs.
 */
import { UnknownDefinitionError } from "../locks/errors.ts"
import { checkKey } from "../locks/keys.ts"
import { refuseUnknown } from "../locks/options.ts"
import { badOption, checkFunctions, countOf, millisOf } from "./config.ts"
import type {
  AnyDefinition,
  AnySchema,
  RestoredBy,
  Sandbox,
  SandboxDefinition,
  SandboxHooks,
  SavedBy,
} from "./sandbox.ts"

/** Hooks of any sandbox: what runs them carries their own values from one to the other without looking. */
// oxlint-disable-next-line typescript/no-explicit-any -- S, In and Out belong to the definition's writer
export type AnyHooks = SandboxHooks<any, any, any>

/** What a definition holds. */
export interface DefinitionParts {
  readonly hooks: AnyHooks
  readonly version: number
  /** Milliseconds. */
  readonly idleAfter: number | undefined
  readonly checkpointEvery: number | undefined
  /** Makes the handle that `restoreSandbox` gives. */
  readonly handle: (sandbox: Sandbox<unknown>) => unknown
}

class Definition implements AnyDefinition {
  readonly name: string
  readonly version: number
  readonly #parts: DefinitionParts

  constructor(parts: DefinitionParts) {
    this.name = parts.hooks.name
    this.version = parts.version
    this.#parts = parts
  }

  static partsOf(definition: AnyDefinition): DefinitionParts {
    if (#parts in definition) return definition.#parts
    throw new UnknownDefinitionError({
      message: `${JSON.stringify(definition.name)} is not a sandbox definition`,
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
export function defineSandbox<Schema extends AnySchema, S>(
  hooks: SandboxHooks<S, SavedBy<Schema>, RestoredBy<Schema>, Schema>,
): SandboxDefinition<S, SavedBy<Schema>> {
  checkKey(hooks.name)
  checkHooks(hooks)
  const { idleAfter, checkpointEvery } = hooks
  const definition: SandboxDefinition<S, SavedBy<Schema>> = new Definition({
    hooks,
    version: countOf("version", hooks.version ?? 1, 1),
    idleAfter: idleAfter === undefined ? undefined : millisOf("idleAfter", idleAfter),
    checkpointEvery: checkpointEvery === undefined ? undefined : millisOf("checkpointEvery", checkpointEvery, 1),
    handle: (sandbox) => sandbox,
  })
  return definition
}

const HOOKS: Readonly<Record<keyof AnyHooks, true>> = {
  name: true,
  version: true,
  migrate: true,
  schema: true,
  idleAfter: true,
  checkpointEvery: true,
  restore: true,
  run: true,
  checkpoint: true,
  close: true,
}

const checkHooks = (hooks: AnyHooks): void => {
  refuseUnknown("defineSandbox", hooks, HOOKS)
  const optional = (["run", "close", "migrate"] as const).filter((name) => hooks[name] !== undefined)
  checkFunctions(hooks, "restore", "checkpoint", ...optional)
  const next = "Give a Standard Schema (of zod, effect and others), a Codec, or unchecked()"
  // A Standard Schema may be a function too.
  const schema: unknown = hooks.schema
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null)
    throw badOption(`schema is ${schema === null ? "null" : typeof schema}`, next)
  if (!("~standard" in schema) && !("encode" in schema && "decode" in schema))
    throw badOption("schema is neither a Standard Schema nor a Codec", next)
}

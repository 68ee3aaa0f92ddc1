/** What a client can be told, checked at its start. */
import type { Callable } from "../actors/api/sandbox.ts"
import type { CallAuth } from "../http/auth.ts"
import { aFunction, aList, aCount, type OptionChecks, refusal, refuseUnknown, shown } from "../runtime/input/options.ts"

/** How a client finds workers. */
export interface ClientOptions {
  /** Where workers take calls, as `http://host:port`: one at least. Any of them sends a call on to its owner. */
  readonly workers: readonly string[]
  /**
   * Makes each request known to the workers: `signedBy(secret)` of `leasehold/http`, or a function of your own that
   * gives headers which the workers' `auth` knows.
   */
  readonly auth: CallAuth
  /** The longest answer, in bytes; default 1,048,576. Each is held in memory. */
  readonly maxBody?: number
}

/** Options that hold. */
export interface ClientSettings {
  readonly workers: readonly string[]
  readonly auth: CallAuth
  readonly maxBody: number
}

const addresses = (name: string, value: unknown): void => {
  aList(name, value)
  for (const each of value as unknown[]) {
    if (typeof each !== "string" || !URL.canParse(each) || !/^https?:/.test(each))
      throw refusal(`${name} has ${shown(each)} in it`, "Give addresses as http://host:port")
  }
  if ((value as unknown[]).length === 0) throw refusal(`${name} is empty`, "Give the address of one worker at least")
}

const OPTIONS: OptionChecks<ClientOptions> = { workers: addresses, auth: aFunction, maxBody: aCount(1) }

/** Throws InvalidConfigError. */
export function clientSettings(options: ClientOptions): ClientSettings {
  refuseUnknown("client", options, OPTIONS, ["workers", "auth"])
  const { workers, auth, maxBody = 1_048_576 } = options
  return { workers, auth, maxBody }
}

/** What a client is to call. Throws InvalidConfigError for what is no definition. */
export function definitionsOf(definitions: readonly Callable[]): readonly Callable[] {
  aList("definitions", definitions)
  if (definitions.length === 0) throw refusal("definitions is empty", "Give what is to be called")
  for (const definition of definitions as readonly unknown[]) {
    const { name, calls } = Object(definition) as { readonly name?: unknown; readonly calls?: unknown }
    if (typeof name !== "string" || typeof calls !== "object" || calls === null)
      throw refusal(`definitions has ${shown(definition)} in it`, "Give what defineSandbox or callable returned")
  }
  return definitions
}

/**
 * `leasehold/client`: calls to sandboxes from a process that is no worker, such as a web server, a script or a browser.
 * It owns no sandbox and reads no store: it asks workers. `docs/calls.md` shows it.
 *
 * @module
 */
import type { AnswerTo, CallArguments } from "../actors/api/calls.ts"
import type { Callable } from "../actors/api/sandbox.ts"
import { Caller } from "./caller.ts"
import { type ClientOptions, clientSettings, definitionsOf } from "./options.ts"

export type { CallAuth, Credentials, OutgoingRequest } from "../http/auth.ts"
export type { ClientOptions } from "./options.ts"

/** Sends calls. */
export interface CallClient {
  /**
   * Sends a call to the sandbox, at whatever worker that runs, and settles with its answer. The arguments and errors
   * are those of `SandboxManager.call`. Rejects with LockTimeoutError where no worker was found that has or takes the
   * sandbox within the timeout, and with CallUnknownError where nobody knows whether it had its effect.
   */
  readonly call: <M, Name extends keyof M & string>(
    definition: Callable<M>,
    key: string,
    name: Name,
    ...rest: CallArguments<M[Name]>
  ) => Promise<AnswerTo<M[Name]>>
}

/**
 * A client of the workers at these addresses. `definitions`: what `defineSandbox` gave, or where that isn't to be
 * loaded, as in a browser, what `callable` gives. Throws InvalidConfigError.
 */
export function client(definitions: readonly Callable[], options: ClientOptions): CallClient {
  const caller = new Caller(definitionsOf(definitions), clientSettings(options))
  return {
    call: async (definition, key, name, ...[input, given = {}]) =>
      (await caller.call(definition, key, name, input, given)) as never,
  }
}

/** The messages of a definition, for its type alone: `callable<typeof account>(…)`. */
export type MessagesIn<Definition> = Definition extends Callable<infer M> ? M : never

/**
 * What a client has to know of a definition, written by hand: its name, and the kind of each call. Throws
 * InvalidConfigError.
 */
export function callable<Definition extends Callable>(of: {
  readonly name: string
  readonly calls: Readonly<
    Record<keyof MessagesIn<Definition> & string, { readonly durable?: boolean; readonly readonly?: boolean }>
  >
}): Callable<MessagesIn<Definition>> {
  const [known] = definitionsOf([of])
  return known as Callable<MessagesIn<Definition>>
}

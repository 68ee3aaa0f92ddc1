/**
 * The calls of a definition: named, typed messages to its sandboxes. Only types; how a call finds its sandbox and has
 * its effect once is `src/actors/calls`.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import type { Duration } from "../../runtime/input/duration.ts"
import type { HookContext } from "./sandbox.ts"

/** Any Standard Schema. What a call is given and what it answers crosses to other processes as JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- of any types: CallInput and CallAnswer tell them
export type AnyCallSchema = StandardSchemaV1<any, any>

/** The context of a call. */
export interface CallContext extends HookContext {
  /** Of a durable call: its id, which each repetition of it has too. Undefined for the others. */
  readonly id: string | undefined
}

/** What `handle` gets: what the schema makes of the input. Without a schema, what its own parameter says. */
// oxlint-disable-next-line typescript/no-explicit-any -- nobody checks it, so that its type is the handler's to say
export type HandledInput<Input> = Input extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Input> : any

/** One message that sandboxes of a definition take. */
export interface CallDefinition<S, Input> {
  /** What the input has to be. Validated at the sandbox, before its turn. Without one nobody checks it. */
  readonly input?: Input
  /** What the answer has to be. Validated in the turn; what it refuses is an error of the call. */
  readonly output?: AnyCallSchema
  /**
   * The call is answered once a checkpoint with its effect is acknowledged. It has an id: however often it is sent, it
   * has its effect once.
   */
  readonly durable?: boolean
  /** It changes nothing, so it may be sent again where nobody knows whether it arrived. */
  readonly readonly?: boolean
  /**
   * Runs in a turn of the sandbox. What it returns, or a promise of it, is the answer; what it throws crosses as name,
   * message and code. A durable call that throws has had its effect: a repetition gets the same error.
   */
  readonly handle: (state: S, input: HandledInput<Input>, context: CallContext) => unknown
}

/** The calls of a definition, by name. `Inputs` are their schemas. */
export type CallDefinitions<S, Inputs> = { readonly [Name in keyof Inputs]: CallDefinition<S, Inputs[Name]> }

/** Refuses an option that no call has, and a handler whose answer its output schema doesn't take. */
export type CheckedCalls<Calls> = {
  readonly [Name in keyof Calls]: {
    readonly [Option in Exclude<keyof Calls[Name], keyof CallDefinition<never, never>>]: never
  } & (Calls[Name] extends { readonly output: infer Output extends StandardSchemaV1 }
    ? { readonly handle: (...args: never) => Awaitable<StandardSchemaV1.InferInput<Output>> }
    : unknown)
}

type Awaitable<A> = A | Promise<A>

/** What a caller gives, and what it gets. */
export interface CallMessage<in Input, out Answer> {
  /** Only in types. */
  readonly input?: (input: Input) => void
  /** Only in types. */
  readonly answer?: Answer
}

/** The messages of a definition whose `calls` were written like this. */
export type MessagesOf<Calls> = unknown extends Calls
  ? unknown
  : { readonly [Name in keyof Calls]: CallMessage<InputOf<Calls[Name]>, AnswerOf<Calls[Name]>> }

type InputOf<Call> = Call extends { readonly input: infer Input extends StandardSchemaV1 }
  ? StandardSchemaV1.InferInput<Input>
  : Call extends { readonly handle: (...args: infer Args) => unknown }
    ? Args extends readonly [] | readonly [unknown]
      ? undefined
      : Args extends readonly [unknown, (infer Input)?, ...unknown[]]
        ? Input
        : undefined
    : never

type AnswerOf<Call> = Call extends { readonly output: infer Output extends StandardSchemaV1 }
  ? StandardSchemaV1.InferOutput<Output>
  : Call extends { readonly handle: (...args: never) => infer Answer }
    ? Awaited<Answer>
    : never

/** How to make a call. */
export type CallOptions = CallWaitOptions & (KnownCall | NewCall)

/** How long a call waits. */
export interface CallWaitOptions {
  /** Ends the call, and aborts the signal of a handler that runs by then. */
  readonly signal?: AbortSignal
  /** Until the answer; default 30 s. A handler that runs by then is aborted by its signal. */
  readonly timeout?: Duration | "infinite"
}

/** A durable call that may be a repetition: by both, which each repetition has too, it has its effect once. */
export interface KnownCall {
  /**
   * What it is known by, such as the id of a payment or of a queue's message; 1 to 128 characters of A to Z, a to z, 0
   * to 9 and `_.:-`.
   */
  readonly id: string
  /**
   * When a call with this id was first sent, in Unix milliseconds: the date of the payment, say. Without it a
   * repetition that the sandbox has forgotten couldn't be told from a new call.
   */
  readonly sentAt: number
}

/** A call that is new: it gets an id and a date. */
export interface NewCall {
  /** It has none yet. */
  readonly id?: undefined
  /** Now. */
  readonly sentAt?: undefined
}

/** The arguments of a call behind its name: an input that may be undefined may be left out. */
export type CallArguments<Message> =
  Message extends CallMessage<infer Input, unknown>
    ? undefined extends Input
      ? [input?: Input, options?: CallOptions]
      : [input: Input, options?: CallOptions]
    : never

/** What a call settles with. */
export type AnswerTo<Message> = Message extends CallMessage<unknown, infer Answer> ? Answer : never

/**
 * The calls of a definition as they are run: checked where the definition is written. Owns what names and options of a
 * call can be.
 */
import { lasting, millisOf } from "../../runtime/input/bounds.ts"
import {
  aCount,
  aFlag,
  aFunction,
  type OptionChecks,
  refusal,
  refuseUnknown,
  shown,
} from "../../runtime/input/options.ts"
import type { MemoryLimits } from "../calls/memory/memory.ts"
import type { AnyCallSchema, CallContext, CallDefinition, CallOptions } from "./calls.ts"
import type { CallMemoryOptions } from "./sandbox.ts"

/** One call of a definition. */
export interface CallParts {
  readonly name: string
  readonly input: AnyCallSchema | undefined
  readonly output: AnyCallSchema | undefined
  readonly durable: boolean
  readonly readonly: boolean
  readonly handle: (state: unknown, input: unknown, context: CallContext) => unknown
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/

/** The calls by name. Throws InvalidConfigError. */
export function callParts(calls: unknown): ReadonlyMap<string, CallParts> {
  if (typeof calls !== "object" || calls === null || Object.getPrototypeOf(calls) !== Object.prototype)
    throw refusal(`calls is ${shown(calls)}`, "Give an object: the name of each call, and what it is made of")
  return new Map(Object.entries(calls).map(([name, call]) => [name, callOf(name, call as AnyCall)]))
}

type AnyCall = CallDefinition<unknown, AnyCallSchema | undefined>

function callOf(name: string, call: AnyCall): CallParts {
  if (!NAME.test(name))
    throw refusal(`calls has the name ${shown(name)}`, "Use 1 to 64 characters of A to Z, a to z, 0 to 9, _ and -")
  refuseUnknown(`the call ${name}`, call, CALL, ["handle"])
  const { input, output, durable = false, readonly = false, handle } = call
  if (durable && readonly)
    throw refusal(`The call ${name} is durable and readonly`, "Drop one: what changes nothing has nothing to be stored")
  return { name, input, output, durable, readonly, handle }
}

const aStandardSchema = (name: string, schema: unknown): void => {
  const isObject = (typeof schema === "object" && schema !== null) || typeof schema === "function"
  if (isObject && "~standard" in schema) return
  throw refusal(
    `${name} is ${isObject ? "no Standard Schema" : shown(schema)}`,
    "Give a Standard Schema (of zod, effect and others)",
  )
}

const CALL: OptionChecks<AnyCall> = {
  input: aStandardSchema,
  output: aStandardSchema,
  durable: aFlag,
  readonly: aFlag,
  handle: aFunction,
}

const MEMORY: OptionChecks<CallMemoryOptions> = { count: aCount(1), size: aCount(1), age: lasting(1) }

/**
 * Whether a caller says how a call is known. Throws InvalidConfigError where half of it is said, or a call that isn't
 * durable has it.
 */
export function checkKnown({ name, durable }: CallParts, { id, sentAt }: CallOptions): void {
  if (id === undefined && sentAt === undefined) return
  if (!durable) throw refusal(`The call ${name} isn't durable, and has an id or sentAt`, "Leave both out")
  if (id === undefined || sentAt === undefined)
    throw refusal(`${id === undefined ? "sentAt" : "id"} stands alone`, "Give both id and sentAt, or neither")
}

/** What a sandbox remembers of durable calls. Throws InvalidConfigError. */
export function memoryLimits(given: CallMemoryOptions = {}): MemoryLimits {
  refuseUnknown("callMemory", given, MEMORY)
  const { count = 1000, size = 262_144, age = "10 min" } = given
  return { count, size, age: millisOf("age", age) }
}

/**
 * Guards, actions, delays and invoked logic in a few words each. What is inline has no name and is called `inline`.
 *
 * Not promised: that the words of XState's own actions and guards are told where a bundler has renamed XState's
 * functions.
 */
import { formatDelay } from "./delay-words.ts"

/** In characters: parameters are a hint, not a listing. */
const LONGEST_PARAMS = 40

type ConfigFields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is ConfigFields =>
  (typeof value === "object" && value !== null) || typeof value === "function"

const field = (value: unknown, name: string): unknown => (isFields(value) ? value[name] : undefined)

/** A guard: its name, its name with parameters, or what it is made of. */
export function guardWords(guard: unknown): string {
  if (typeof guard === "string") return guard
  if (typeof guard === "function") return guardFunctionWords(guard)
  return isFields(guard) ? withParams(guard) : "inline"
}

function guardFunctionWords(guard: object): string {
  const parts = field(guard, "guards")
  const name = field(guard, "name")
  const stateValue = field(guard, "stateValue")
  if (stateValue !== undefined) return `in ${stateWords(stateValue)}`
  if (!Array.isArray(parts)) return functionName(guard, "guard")
  const words = parts.map((part: unknown) => (isCombined(part) ? `(${guardWords(part)})` : guardWords(part)))
  return name === "not" ? `not ${words.join(", ")}` : words.join(name === "or" ? " or " : " and ")
}

/** A state value with one state on each floor as keys with dots, another one as JSON. */
function stateWords(value: unknown): string {
  if (typeof value === "string") return value
  const entries = isFields(value) ? Object.entries(value) : []
  const [first] = entries
  return first !== undefined && entries.length === 1 ? `${first[0]}.${stateWords(first[1])}` : jsonOf(value)
}

const isCombined = (guard: unknown): boolean => {
  const parts = field(guard, "guards")
  return Array.isArray(parts) && parts.length > 1
}

/** An action: its name, or what XState's own action does. Undefined for those that XState adds for delays. */
export function actionWords(action: unknown): string | undefined {
  if (typeof action === "string") return action
  const type = field(action, "type")
  if (typeof action === "function")
    return typeof type === "string" ? builtinWords(type, action) : functionName(action, "")
  return isFields(action) ? withParams(action) : "inline"
}

function builtinWords(type: string, action: object): string | undefined {
  const name = type.replace(/^xstate\./, "")
  const about =
    field(action, "event") ?? field(action, "eventOrExpr") ?? field(action, "src") ?? field(action, "sendId")
  const word = typeof about === "string" ? about : field(about, "type")
  if (typeof word !== "string") return name
  return word.startsWith("xstate.after.") ? undefined : `${name}(${word})`
}

/** Actions in words, in order. */
export const actionsWords = (actions: readonly unknown[]): readonly string[] =>
  actions.flatMap((action) => actionWords(action) ?? [])

interface Invoke {
  readonly src: unknown
  readonly id: string
}

/** XState's own ids of what is invoked: a number and the state's id. */
const isOwnId = (id: string): boolean => !/^\d+\./.test(id)

/** What is invoked: the name of its source, and its id where it has one of its own. */
export function invokeWords({ src, id }: Invoke): string {
  if (typeof src !== "string" || src.startsWith("xstate.invoke.")) return isOwnId(id) ? id : "inline"
  return isOwnId(id) && id !== src ? `${src} (${id})` : src
}

/** The same in one word, for its events: its own id, or the name of its source. */
export const invokeWord = (invoke: Invoke): string => (isOwnId(invoke.id) ? invoke.id : invokeWords(invoke))

/** What makes a transition happen. `invokes` tells, by id, what a state invokes. */
export function eventWords(descriptor: string, delay: unknown, invokes: ReadonlyMap<string, string>): string {
  if (descriptor === "") return "always"
  if (delay !== undefined) return `after ${formatDelay(delay)}`
  for (const [prefix, word] of [
    ["xstate.done.actor.", "done"],
    ["xstate.error.actor.", "error"],
    ["xstate.snapshot.", "snapshot"],
  ] as const) {
    if (!descriptor.startsWith(prefix)) continue
    const id = descriptor.slice(prefix.length)
    return `${word} ${invokes.get(id) ?? id}`
  }
  if (descriptor.startsWith("xstate.done.state.")) return "done"
  return descriptor
}

function withParams(named: ConfigFields): string {
  const { type, params } = named
  const name = typeof type === "string" ? type : "inline"
  return params === undefined || typeof params === "function" ? name : `${name} ${jsonOf(params)}`
}

/** A function that was written in place has the name of the property that it was written in, or none. */
function functionName(made: object, inferred: string): string {
  const name = field(made, "name")
  return typeof name === "string" && name !== "" && name !== inferred ? name : "inline"
}

function jsonOf(value: unknown): string {
  const text = safeJson(value)
  return text.length > LONGEST_PARAMS ? `${text.slice(0, LONGEST_PARAMS)}…` : text
}

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "…"
  } catch {
    return "…" // circular, or a BigInt
  }
}

/** What a handler threw, as data that can be stored and sent, whatever it was. Never throws. */
import type { CallAnswer } from "./memory/memory.ts"

/** In characters: an error's message may hold a whole answer of another service. */
const LONGEST = 2000

/** Its name, message and code, as texts. */
export function errorAnswer(thrown: unknown): Extract<CallAnswer, { readonly kind: "error" }> {
  const of = (name: "name" | "message" | "code"): unknown => {
    try {
      return (thrown as Readonly<Record<typeof name, unknown>>)[name]
    } catch {
      return undefined
    }
  }
  const [name, message, code] = [of("name"), of("message"), of("code")]
  return {
    kind: "error",
    name: typeof name === "string" ? short(name) : "Error",
    message: short(message === undefined ? textOf(thrown) : textOf(message)),
    ...(typeof code === "string" && { code: short(code) }),
  }
}

const short = (text: string): string => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`)

function textOf(value: unknown): string {
  try {
    return typeof value === "object" && value !== null && !(value instanceof Error)
      ? JSON.stringify(value)
      : String(value)
  } catch {
    return "something that can't be written"
  }
}

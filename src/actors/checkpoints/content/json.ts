/**
 * Whether a value survives JSON, and where it doesn't. A property that is undefined counts as absent, on both sides.
 * All else that JSON drops, turns into something else or can't write is a change.
 *
 * Not promised: that one object in two places is still one afterwards (it comes back as two).
 */

/** A value that JSON changes: where, and how. */
export interface JsonChange {
  /** `$`, `$.users[3].born`. */
  readonly path: string
  readonly why: string
}

/**
 * What JSON makes of the value: its text and what reading that gives, or the first change. Throws what a getter throws.
 */
export function throughJson(value: unknown): { readonly text: string; readonly value: unknown } | JsonChange {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    return { path: "$", why: `can't be written as JSON (${(cause as Error).message})` }
  }
  if (text === undefined) return { path: "$", why: `is ${describe(value)}, which JSON can't hold` }
  const back: unknown = JSON.parse(text)
  return changeIn(value, back, "$") ?? { text, value: back }
}

function changeIn(before: unknown, after: unknown, path: string): JsonChange | undefined {
  if (typeof before !== "object" || before === null) {
    return before === after
      ? undefined
      : { path, why: `is ${describe(before)}, which JSON turns into ${describe(after)}` }
  }
  if (!isPlain(before)) return { path, why: `is ${describe(before)}, of which JSON keeps no more than plain data` }
  if (Object.getOwnPropertySymbols(before).length > 0) return { path, why: "has symbols for names, which JSON drops" }
  // What toJSON made of it is another kind of value.
  if (typeof after !== "object" || after === null || Array.isArray(before) !== Array.isArray(after))
    return { path, why: `is ${describe(before)}, which JSON turns into ${describe(after)}` }
  return Array.isArray(before)
    ? changeInArray(before, after as readonly unknown[], path)
    : changeInObject(before as JsonFields, after as JsonFields, path)
}

function changeInArray(before: readonly unknown[], after: readonly unknown[], path: string): JsonChange | undefined {
  if (Object.keys(before).length !== before.length) return { path, why: "is an array with holes or names of its own" }
  for (const [index, item] of before.entries()) {
    const change = changeIn(item, after[index], `${path}[${index}]`)
    if (change !== undefined) return change
  }
  return undefined
}

type JsonFields = Readonly<Record<string, unknown>>

function changeInObject(before: JsonFields, after: JsonFields, path: string): JsonChange | undefined {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const own = (fields: JsonFields): unknown => (Object.hasOwn(fields, name) ? fields[name] : undefined)
    const change = changeIn(own(before), own(after), pathTo(path, name))
    if (change !== undefined) return change
  }
  return undefined
}

/** The path of a property. */
export const pathTo = (path: string, name: PropertyKey): string => {
  if (typeof name === "number") return `${path}[${name}]`
  const text = String(name)
  return /^[A-Za-z_$][\w$]*$/.test(text) ? `${path}.${text}` : `${path}[${JSON.stringify(text)}]`
}

/** An array, or an object without a class, of whichever realm. */
const isPlain = (value: object): boolean => {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

const describe = (value: unknown): string => {
  if (value === null || value === undefined || typeof value === "number") return String(value)
  if (typeof value === "bigint") return `the bigint ${value}`
  if (typeof value !== "object") return `a ${typeof value}`
  if (Array.isArray(value)) return "an array"
  const name = (value.constructor as { readonly name?: unknown } | undefined)?.name
  return isPlain(value) || typeof name !== "string" || name === "" ? "an object" : `an instance of ${name}`
}

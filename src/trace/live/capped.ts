/**
 * Any value as a plain one that is safe to keep and to send: texts, lists and objects are cut where they are too long
 * or too deep, circles are broken, and what can't be read is told as that. Each cut leaves a mark that a reader sees.
 *
 * Not promised: that the result can be made into the value again. Pure, but that it calls the value's own getters.
 */

/** What a value may have. */
export interface Caps {
  /** Characters of one text. */
  readonly text: number
  /** Levels of lists and objects. */
  readonly depth: number
  /** Entries of one list or object. */
  readonly items: number
  /** Characters of all texts, and entries of all lists and objects, together. */
  readonly total: number
}

/** Enough to read on a page. */
const CAPS: Caps = { text: 2000, depth: 8, items: 100, total: 32_000 }

/** The value, cut to size: what JSON can hold. Never throws. */
export function capped(value: unknown, caps: Partial<Caps> = {}): unknown {
  return new Cutter({ ...CAPS, ...caps }).cut(value, 0)
}

/** A text of at most so many characters, with a mark where it was longer. It never ends within a surrogate pair. */
export function cappedText(text: string, most: number): string {
  if (text.length <= most) return text
  const kept = text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "")
  return `${kept}… (+${text.length - kept.length} characters)`
}

class Cutter {
  readonly #caps: Caps
  readonly #above = new Set<object>()
  #left: number

  constructor(caps: Caps) {
    this.#caps = caps
    this.#left = caps.total
  }

  cut(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "string":
        return this.#text(value)
      case "number":
        return Number.isFinite(value) ? value + 0 : `(${value})` // JSON has no -0 either
      case "boolean":
        return value
      case "undefined":
        return "(undefined)"
      case "bigint":
        return this.#text(`${value}n`)
      case "symbol":
      case "function":
        return `(${typeof value})`
      case "object":
        return value === null ? null : this.#guarded(value, depth)
    }
  }

  #text(text: string): string {
    const kept = cappedText(text, Math.max(0, Math.min(this.#caps.text, this.#left)))
    this.#left -= kept.length
    return kept
  }

  /** A getter or a proxy of the value may throw anything. */
  #guarded(value: object, depth: number): unknown {
    if (this.#above.has(value)) return "(circle)"
    if (depth >= this.#caps.depth) return "(too deep)"
    this.#above.add(value)
    try {
      return this.#object(value, depth)
    } catch {
      return "(can't be read)"
    } finally {
      this.#above.delete(value)
    }
  }

  #object(value: object, depth: number): unknown {
    if (Array.isArray(value)) return this.#list(value as readonly unknown[], depth)
    if (isDate(value)) return Number.isNaN(value.getTime()) ? "(Invalid Date)" : value.toISOString()
    if (value instanceof Error) return this.#text(`${String(value.name)}: ${String(value.message)}`)
    if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`
    if (value instanceof Map) return { "(Map)": this.#list([...first(value, this.#caps.items)], depth, value.size) }
    if (value instanceof Set) return { "(Set)": this.#list([...first(value, this.#caps.items)], depth, value.size) }
    return this.#fields(value as Readonly<Record<string, unknown>>, depth)
  }

  #list(list: readonly unknown[], depth: number, length: number = list.length): unknown[] {
    const kept: unknown[] = []
    for (let index = 0; index < list.length && this.#hasRoom(kept.length); index++)
      kept.push(this.cut(list[index], depth + 1))
    if (kept.length < length) kept.push(`(+${length - kept.length} more)`)
    return kept
  }

  #fields(value: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
    const names = Object.keys(value)
    const kept: [string, unknown][] = []
    for (const name of names) {
      if (!this.#hasRoom(kept.length)) break
      kept.push([this.#text(name), this.cut(value[name], depth + 1)])
    }
    if (kept.length < names.length) kept.push(["…", `(+${names.length - kept.length} more)`])
    return Object.fromEntries(kept)
  }

  #hasRoom(entries: number): boolean {
    return entries < this.#caps.items && this.#left-- > 0
  }
}

/** A value of another realm too: what reads no clock needs none. */
const isDate = (value: object): value is Date => Object.prototype.toString.call(value) === "[object Date]"

function* first<A>(values: Iterable<A>, most: number): Generator<A> {
  let count = 0
  for (const value of values) {
    if (count++ >= most) return
    yield value
  }
}

/**
 * The search of the page and the terminal: words and conditions, all of which a row must meet. A row is compared as
 * text and as numbers, never by a pattern of the user's, so that no search can take long. Pure; it runs in a browser
 * too.
 *
 *     order/            the key has this in it, whatever its case
 *     "two words"       the same, with a space
 *     worker:a          its worker is a; owner:, waiter:, error:, leaving: have this in them
 *     state:waiting     it is in this state, of those at the top or within (state:restoring, state:degraded)
 *     is:stuck          stuck, owned, failed (it has an error)
 *     held>5m           owned for longer; waited>10s, in>1h (in its state), handoffs>3, token>7
 *     -state:owning     not that
 */
import { stateParts } from "./live-row.ts"
import { leavesOf, TOP_STATES } from "./states.ts"
import type { SandboxRow } from "./wire.ts"

/** A search that can be asked. */
export interface Search {
  /** It asks for nothing: every row matches. */
  readonly isEmpty: boolean
  /** Whether its answer changes as time goes by, with no news of the row. */
  readonly isTimed: boolean
  matches(row: SandboxRow, now: number): boolean
}

/** Why a text is no search, in words, and the part of it that isn't. */
export interface SearchProblem {
  readonly problem: string
  readonly word: string
}

type RowTest = (row: SandboxRow, now: number) => boolean

interface SearchTerm {
  readonly test: RowTest
  readonly isTimed: boolean
}

/** What can be typed in. In characters. */
const LONGEST = 1000

/** Reads what was typed. */
export function parseSearch(text: string): Search | SearchProblem {
  if (text.length > LONGEST) return { problem: `A search has at most ${LONGEST} characters`, word: text.slice(0, 20) }
  const terms: SearchTerm[] = []
  for (const word of wordsOf(text)) {
    if ("problem" in word) return word
    const term = termOf(word)
    if ("problem" in term) return term
    terms.push(word.isNot ? { ...term, test: (row, now) => !term.test(row, now) } : term)
  }
  return {
    isEmpty: terms.length === 0,
    isTimed: terms.some(({ isTimed }) => isTimed),
    matches: (row, now) => terms.every(({ test }) => test(row, now)),
  }
}

/** One condition as it was typed. */
interface Word {
  readonly isNot: boolean
  /** Before `:`, `>` or `<`; undefined for a word alone. */
  readonly field: string | undefined
  readonly sign: ":" | ">" | "<" | undefined
  readonly value: string
  readonly typed: string
}

function* wordsOf(text: string): Iterable<Word | SearchProblem> {
  let at = 0
  while (at < text.length) {
    if (/\s/.test(text[at]!)) {
      at++
      continue
    }
    const begun = at
    let value = ""
    let [field, sign]: [string | undefined, Word["sign"]] = [undefined, undefined]
    const isNot = text[at] === "-" && at + 1 < text.length && !/\s/.test(text[at + 1]!)
    if (isNot) at++
    let isQuoted = false
    while (at < text.length && !/\s/.test(text[at]!)) {
      const char = text[at]!
      if (char === '"') {
        const end = text.indexOf('"', at + 1)
        if (end < 0) return void (yield { problem: 'A " has no other that ends it', word: text.slice(begun) })
        value += text.slice(at + 1, end)
        at = end + 1
        isQuoted = true
        continue
      }
      const isSign = char === ":" || char === ">" || char === "<"
      if (isSign && field === undefined && !isQuoted && isField(value)) [field, sign, value] = [value, char, ""]
      else value += char
      at++
    }
    yield { isNot, field, sign, value, typed: text.slice(begun, at) }
  }
}

/** A key may have a colon in it, and one that isn't a field's is the key's. */
const isField = (text: string): boolean => TEXTS.has(text) || NUMBERS.has(text) || text === "state" || text === "is"

function termOf(word: Word): SearchTerm | SearchProblem {
  const { field, sign, value, typed } = word
  if (field === undefined) {
    const wanted = value.toLowerCase()
    return { isTimed: false, test: ({ key }) => key.toLowerCase().includes(wanted) }
  }
  if (value === "") return { problem: `${typed} says nothing after its ${sign}`, word: typed }
  if (sign === ":") return sayingTerm(field, value, typed)
  return comparingTerm(field, sign === ">", value, typed)
}

function sayingTerm(field: string, value: string, typed: string): SearchTerm | SearchProblem {
  const wanted = value.toLowerCase()
  const text = TEXTS.get(field)
  if (field === "worker") return { isTimed: false, test: ({ worker }) => worker.toLowerCase() === wanted }
  if (text !== undefined) return { isTimed: false, test: (row) => text(row).toLowerCase().includes(wanted) }
  if (field === "state") return stateTerm(wanted, typed)
  const flag = FLAGS.get(wanted)
  if (field === "is" && flag !== undefined) return { isTimed: false, test: flag }
  if (field === "is") return { problem: `Nothing is ${value}: use one of ${[...FLAGS.keys()].join(", ")}`, word: typed }
  return { problem: `${field} is a number: write ${field}>${value} or ${field}<${value}`, word: typed }
}

function stateTerm(wanted: string, typed: string): SearchTerm | SearchProblem {
  if (!STATES.has(wanted) && !wanted.includes(".")) {
    return { problem: `There is no state ${wanted}: use one of ${TOP_STATES.join(", ")}, or one within`, word: typed }
  }
  return {
    isTimed: false,
    test: (row) =>
      leavesOf(stateParts(row)).some((leaf) => {
        const path = leaf.toLowerCase()
        return path === wanted || path.split(".").includes(wanted) || path.startsWith(`${wanted}.`)
      }),
  }
}

/** The names of all states of the sandbox chart, as one may write them. */
const STATES: ReadonlySet<string> = new Set(
  (
    "acquiring waiting owning handingOff released backingOff trying reconciling watching restoring running settling stuck " +
    "queued checkpointing releasing healthy degraded suspect clean handedOff lost contended timedOut cancelled failed"
  )
    .toLowerCase()
    .split(" "),
)

function comparingTerm(field: string, isMore: boolean, value: string, typed: string): SearchTerm | SearchProblem {
  const number = NUMBERS.get(field)
  if (number === undefined) return { problem: `${field} is no number: write ${field}:${value}`, word: typed }
  const limit = number.isTime ? millisOf(value) : plainNumber(value)
  if (limit === undefined) {
    const example = number.isTime ? "such as 10s, 5m, 2h or 500ms" : "a number"
    return { problem: `${value} can't be compared with ${field}: write ${example}`, word: typed }
  }
  return {
    isTimed: number.isTime,
    test: (row, now) => {
      const is = number.of(row, now)
      return is !== null && (isMore ? is > limit : is < limit)
    },
  }
}

const TEXTS = new Map<string, (row: SandboxRow) => string>(
  Object.entries({
    key: ({ key }) => key,
    worker: ({ worker }) => worker,
    owner: ({ owner }) => (owner === null ? "" : `${owner.ownerId} ${owner.address ?? ""}`),
    waiter: ({ waiterId }) => waiterId ?? "",
    leaving: ({ leaving }) => leaving ?? "",
    error: ({ error }) => (error === null ? "" : `${error.tag} ${error.code ?? ""} ${error.message}`),
  }),
)

const FLAGS = new Map<string, RowTest>(
  Object.entries({
    stuck: ({ stuck }) => stuck !== null,
    owned: ({ ownedSince }) => ownedSince !== null,
    failed: ({ error }) => error !== null,
  }),
)

interface Numeric {
  readonly isTime: boolean
  readonly of: (row: SandboxRow, now: number) => number | null
}

const NUMBERS = new Map<string, Numeric>(
  Object.entries({
    held: { isTime: true, of: ({ ownedSince }, now) => (ownedSince === null ? null : now - ownedSince) },
    waited: { isTime: true, of: (row, now) => (stateParts(row).top === "waiting" ? now - row.since : null) },
    in: { isTime: true, of: ({ since }, now) => now - since },
    handoffs: { isTime: false, of: ({ handoffs }) => handoffs },
    token: { isTime: false, of: ({ token }) => token },
  }),
)

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 }

/** A bare number is seconds, as on the command line. */
function millisOf(text: string): number | undefined {
  const [, amount, unit = "s"] = /^(\d{1,12}(?:\.\d{1,6})?)([a-z]{0,3})$/i.exec(text) ?? []
  const factor = UNITS[unit === "" ? "s" : unit.toLowerCase()]
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor
}

const plainNumber = (text: string): number | undefined => (/^\d{1,16}$/.test(text) ? Number(text) : undefined)

/**
 * What a live trace leaves out, unless it is asked for: words that may quote a user's values, and credentials in
 * addresses. Owns what counts as such; `docs/trace.md` tells it to users. Pure.
 *
 * Not promised: that keys, names of objects and names of errors hold no secret. They are what a trace is about.
 */
import { LockError, type Owner } from "../../locks/api/errors.ts"
import { type ErrorOf, traceError } from "../lines.ts"
import type { TraceError, TraceLine } from "../trace.ts"
import { cappedText } from "./capped.ts"

/** In place of a message that may quote values. */
export const REDACTED = "(redacted)"

/** Of a message, in characters: the longest of leasehold's own are shorter. */
const LONGEST_MESSAGE = 2000
/** How much of a text is looked through for credentials, in characters: more than is kept of it. */
const LONGEST_READ = 10_000
/** Of any other text of a line, in characters: keys and names of objects have at most 512 bytes, addresses 2000. */
const LONGEST_TEXT = 2048
/** Of the name of an error, and of a status, in characters. */
const LONGEST_NAME = 200

/** Errors whose messages quote what a schema, a codec or JSON said of a user's state. */
const quotesState: ReadonlySet<string> = new Set(["CheckpointInvalidError", "CorruptCheckpointError"])

/** How a live trace tells errors; `values`: with all that they say. */
export const errorOf =
  (values: boolean): ErrorOf =>
  (error) => {
    const told = traceError(error)
    const message = values || isOurs(error) ? withoutCredentials(told.message) : REDACTED
    return capError({ ...told, message })
  }

/** Every word of its message is leasehold's: the message of a foreign cause may be part of it. */
function isOurs(error: unknown): boolean {
  let each = error
  for (let depth = 0; depth < MOST_CAUSES; depth++) {
    if (!isLockError(each) || quotesState.has(each._tag)) return false
    if (each.cause === undefined) return true
    each = each.cause
  }
  return false
}

/** What was thrown may be a proxy that throws. */
function isLockError(error: unknown): error is LockError {
  try {
    return error instanceof LockError
  } catch {
    return false
  }
}

/** More than any chain of ours has. */
const MOST_CAUSES = 20

function capError({ tag, code, message, status }: TraceError): TraceError {
  return {
    tag: cappedText(tag, LONGEST_NAME),
    code,
    message: cappedText(message, LONGEST_MESSAGE),
    ...(status !== undefined && { status: typeof status === "string" ? cappedText(status, LONGEST_NAME) : status }),
  }
}

/** A URL, to its end: each character is looked at once, however many URLs there seem to be. */
const URLS = /([a-z][a-z0-9+.-]{0,30}:\/\/)(\S*)/gi

/** A text whose URLs have neither user information nor a query nor a fragment: `http://user:key@host/?token=…`. */
export function withoutCredentials(text: string): string {
  return text.slice(0, LONGEST_READ).replace(URLS, (_url, scheme: string, rest: string) => scheme + bareRest(rest))
}

/** What follows the scheme. */
function bareRest(rest: string): string {
  const [authority = ""] = rest.split(/[/?#\\]/, 1)
  // A password that is not encoded may have such a sign in it: then what stands before it is no host.
  const at = HOST.test(authority) ? -1 : authority.includes("@") ? authority.lastIndexOf("@") : rest.lastIndexOf("@")
  const open = at < 0 ? rest : `…@${rest.slice(at + 1)}`
  const [way = ""] = open.split(/[?#]/, 1)
  return way.length === open.length ? way : `${way}?…`
}

/** A name or an address, and perhaps a port. */
const HOST = /^(?:\[[^\]@]*\]|[^:@]*)(?::\d*)?$/

/** What may stand before the authority of an address. */
const BEFORE = /^(?:[a-z][a-z0-9+.-]*:(?=[/\\]))?[/\\]*/i

/** An address, which is one as a whole, and may have another form than that of a URL: `user:key@host`. */
export function bareAddress(address: string): string {
  const text = address.slice(0, LONGEST_READ)
  const [before = ""] = BEFORE.exec(text) ?? []
  return cappedText(before + bareRest(text.slice(before.length)), LONGEST_TEXT)
}

/** A line as a live trace keeps it: its texts are of bounded length, and what it says of others has no credentials. */
export function safeLine(line: TraceLine): TraceLine {
  if (line.kind === "lock" && line.owner !== undefined) return cut({ ...line, owner: safeOwner(line.owner) })
  return line.kind === "request" ? cut({ ...line, store: withoutCredentials(line.store) }) : cut(line)
}

function safeOwner({ address, ...owner }: Owner): Owner {
  return cut(address === undefined ? owner : { ...owner, address: bareAddress(address) })
}

/** Its texts of bounded length; itself where they are. */
function cut<A extends object>(fields: A): A {
  const long = Object.entries(fields).filter((field): field is [string, string] => isLong(field[1]))
  if (long.length === 0) return fields
  return { ...fields, ...Object.fromEntries(long.map(([name, text]) => [name, cappedText(text, LONGEST_TEXT)])) }
}

const isLong = (value: unknown): boolean => typeof value === "string" && value.length > LONGEST_TEXT

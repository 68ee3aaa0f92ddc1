/**
 * The faults that the proxy knows, and what each makes of one exchange: a plan that proxy.ts carries out in a straight
 * line. Pure: no socket and no clock here.
 *
 * `before` and `after` are before and after the server took the request: the first did nothing, the second took effect.
 */
import { Buffer } from "node:buffer"

/** Whether the server got the request before the fault. */
export type When = "before" | "after"

/** What happens to one request. */
export type Fault =
  /** Another status, with the JSON body that GCS gives it; `reason` as GCS names what is the matter. */
  | { readonly kind: "status"; readonly when: When; readonly status: number; readonly reason?: string }
  /** The connection is reset. */
  | { readonly kind: "reset"; readonly when: When }
  /** Silence on an open connection, for as long as the client waits. */
  | { readonly kind: "stall"; readonly when: When }
  /** A load balancer's 502, whose body is a page. */
  | { readonly kind: "html"; readonly when: When }
  /** The request reaches the server, or its answer the client, so much later: also when the client is gone. */
  | { readonly kind: "delay"; readonly when: When; readonly ms: number }
  /** The head of the answer and half of its body, then silence. Where there is no body: silence. */
  | { readonly kind: "half" }
  /** A 200 that is not the server's. */
  | { readonly kind: "garbage" }
  /** Delivered, and so much later once more; the second answer is dropped. */
  | { readonly kind: "duplicate"; readonly ms: number }
  /** `Date` is so many milliseconds off; null: it is missing. */
  | { readonly kind: "date"; readonly skewMs: number | null }
  /** The answer says of itself that it lay in a cache for so many seconds. */
  | { readonly kind: "age"; readonly seconds: number }

export type FaultKind = Fault["kind"]

/** An answer as a whole. */
export interface Answer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** How one exchange goes, in the order of the fields. */
export interface Plan {
  readonly deliverAfterMs: number
  /** False: the server never gets it. */
  readonly delivered: boolean
  /** So long after its answer the request is delivered again. */
  readonly againAfterMs: number | undefined
  readonly answerAfterMs: number
  readonly ending: "answer" | "half" | "silence" | "reset"
  /** `given` is the server's, or where it got nothing an empty 200. */
  readonly answer: (given: Answer) => Answer
}

const untouched: Plan = {
  deliverAfterMs: 0,
  delivered: true,
  againAfterMs: undefined,
  answerAfterMs: 0,
  ending: "answer",
  answer: (given) => given,
}

/** Without a fault: there and back again. */
export function planOf(fault: Fault | undefined): Plan {
  switch (fault?.kind) {
    case undefined:
      return untouched
    case "status":
      return {
        ...untouched,
        delivered: fault.when === "after",
        answer: (given) => refusal(fault.status, given, fault.reason),
      }
    case "reset":
      return { ...untouched, delivered: fault.when === "after", ending: "reset" }
    case "stall":
      return { ...untouched, delivered: fault.when === "after", ending: "silence" }
    case "html":
      return { ...untouched, delivered: fault.when === "after", answer: page }
    case "delay":
      return { ...untouched, [fault.when === "before" ? "deliverAfterMs" : "answerAfterMs"]: fault.ms }
    case "half":
      return { ...untouched, ending: "half" }
    case "garbage":
      return { ...untouched, answer: garbage }
    case "duplicate":
      return { ...untouched, againAfterMs: fault.ms }
    case "age":
      return { ...untouched, answer: (given) => aged(given, fault.seconds) }
    case "date":
      return { ...untouched, answer: (given) => redated(given, fault.skewMs) }
  }
}

/** What GCS says with a status that is no success. `error` is what the JSON API calls it. */
export function refusal(status: number, { headers }: Answer, reason?: string): Answer {
  const message = `injected: ${status}`
  const errors = reason === undefined ? [] : [{ message, domain: "global", reason }]
  const body = JSON.stringify({ error: { code: status, message, errors } })
  return { status, headers: plain(headers, "application/json; charset=UTF-8"), body: Buffer.from(body) }
}

function page({ headers }: Answer): Answer {
  const body =
    "<!DOCTYPE html><html><title>Error 502</title><body>The server encountered a temporary error.</body></html>"
  return { status: 502, headers: plain(headers, "text/html; charset=UTF-8"), body: Buffer.from(body) }
}

function garbage({ headers }: Answer): Answer {
  return { status: 200, headers: plain(headers, "application/json"), body: Buffer.from([0x7b, 0xff, 0x00, 0x22, 0xfe]) }
}

/** What is left of the headers when another body comes: nothing that tells of the object. */
function plain(headers: Answer["headers"], type: string): Answer["headers"] {
  return { "content-type": type, ...(headers["date"] !== undefined && { date: headers["date"] }) }
}

function aged(given: Answer, seconds: number): Answer {
  return { ...given, headers: { ...given.headers, age: String(seconds) } }
}

/** Whole seconds, rounded down, as servers do. */
function redated(given: Answer, skewMs: number | null): Answer {
  const { date, ...headers } = given.headers
  if (skewMs === null || typeof date !== "string") return { ...given, headers }
  return { ...given, headers: { ...headers, date: new Date(Date.parse(date) + skewMs).toUTCString() } }
}

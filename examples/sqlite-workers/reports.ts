// What a worker tells the driver: one JSON object a line of its standard output.
import type { LockEvent } from "leasehold"
import { hostNow } from "./act-log.ts"

export type Report = { readonly at: number } & News

export type News =
  /** It serves, and has the page of the fleet at `page`, with the token that one has to know. */
  | { readonly what: "ready"; readonly url: string; readonly page: string; readonly runtime: string }
  /** It can't start. */
  | { readonly what: "failed"; readonly error: string }
  /** A sandbox's chart is in another state. */
  | { readonly what: "state"; readonly key: string; readonly state: string }
  | LeaseNews
  /** It was asked to end and has drained; these sandboxes didn't leave. */
  | { readonly what: "drained"; readonly stuck: readonly string[] }

/** Something happened to a lease, seen from the process that `ownerId` names in the record. */
export interface LeaseNews {
  readonly what: "lease"
  readonly key: string
  readonly type: LockEvent["type"]
  readonly ownerId: string
  readonly token?: number
  /** The other process: the owner that is waited for, or the waiter. */
  readonly peerId?: string
  readonly detail?: string
}

/** Prints it, with the host's time. */
export function report(news: News): void {
  console.log(JSON.stringify({ at: hostNow(), ...news } satisfies Report))
}

/** The report of a line; undefined for what is none. */
export function parseReport(line: string): Report | undefined {
  try {
    const value = JSON.parse(line) as Partial<Report> | null
    return typeof value?.what === "string" && typeof value.at === "number" ? (value as Report) : undefined
  } catch {
    return undefined
  }
}

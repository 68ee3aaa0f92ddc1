/**
 * One other worker, as this one hears it: its rows, its lines, how it is, and why nothing is heard. It is asked for its
 * own sandboxes alone, so that no question goes round. Nothing that it says is trusted: what isn't sound is left out,
 * and all of it is told under its own name.
 */
import { orAbort } from "../../../runtime/races.ts"
import type { Clock } from "../../../runtime/time/clock.ts"
import type { TraceLine } from "../../../trace/trace.ts"
import { shortText } from "../../../web/body.ts"
import { checkedLines, checkedRows, checkedWorker } from "../model/checked.ts"
import { type SandboxRow, WIRE_VERSION, type WorkerRow } from "../model/wire.ts"
import { unknownWorker } from "../model/worker-lines.ts"
import { follow } from "../stream/follow.ts"
import type { FleetSink } from "../stream/source.ts"
import { isSame, NONCE, PROOF, proofOf, type Signable, signed } from "./signature.ts"

/** Where a worker answers others, below its address. */
export const PEER_PATH = "/_leasehold"

/** A peer's clock counts as the same as ours within this: the way of a message takes as long. In milliseconds. */
const SAME_CLOCK = 500

/** A checkpoint waits for 30 s at most, and so may what is asked for. In milliseconds. */
const ACTION_WITHIN = 35_000

/** In bytes: a detail with the drawing of a machine. */
const LONGEST_ANSWER = 2 * 1024 * 1024

/** What a peer is made of. */
export interface PeerParts {
  /** As it publishes it. */
  readonly address: URL
  readonly secret: string
  readonly clock: Clock
  readonly sink: FleetSink
  /**
   * The name under which it is told, given what it calls itself; undefined: it isn't told, as it is this worker itself.
   */
  readonly nameOf: (wanted: string, ownerId: string) => string | undefined
  /** Everything that it says may name others. */
  readonly onRows: (rows: readonly SandboxRow[]) => void
  readonly onLine: (line: TraceLine) => void
}

/** Another worker. */
export class Peer {
  readonly #parts: PeerParts
  readonly #end = new AbortController()
  #row: WorkerRow
  /** By how much its clock is behind ours, where that matters. */
  #shift = 0
  /** Of the last try at its events: what else is asked meanwhile has another. */
  #streamNonce = ""
  #isReady = false
  /** Of its last line. */
  #lastAt = 0
  /** The same when it began anew: what it tells again of what was before isn't told again here. */
  #toldUntil = 0

  /** Under its address, until it says its name. */
  constructor(parts: PeerParts) {
    this.#parts = parts
    const { address, clock } = parts
    this.#row = { ...unknownWorker(address.host), ownerId: address.host, address: addressText(address) }
    this.#tell("it hasn't answered yet")
    const url = this.#url("/events")
    void follow({
      ...{ url, clock, signal: this.#end.signal },
      headers: () => {
        const headers = this.#sign({ method: "GET", url, body: "" })
        this.#streamNonce = headers[NONCE] ?? ""
        return headers
      },
      check: (answer) => this.#problemOf(answer),
      onEvent: (event, data) => this.#hear(event, data),
      onProblem: (problem) => this.#tell(problem),
    })
  }

  /** The name under which it is told. */
  get worker(): string {
    return this.#row.worker
  }

  /** Since when nothing is heard; undefined while it answers. */
  silentSince: number | undefined

  stop(): void {
    this.#end.abort()
  }

  /** Asks for something else than events. Rejects with why there is no answer. */
  async ask(path: string, body?: string): Promise<unknown> {
    const { clock, secret } = this.#parts
    const url = this.#url(path)
    const late = new AbortController()
    const timer = clock.after(ACTION_WITHIN, () => late.abort(new Error("It doesn't answer")), { background: true })
    const headers = this.#sign({ method: body === undefined ? "GET" : "POST", url, body: body ?? "" })
    try {
      const init: RequestInit = {
        headers,
        redirect: "manual",
        signal: AbortSignal.any([late.signal, this.#end.signal]),
      }
      const answer = await fetch(url, body === undefined ? init : { ...init, method: "POST", body })
      const proof = answer.headers.get(PROOF) ?? ""
      const text = await orAbort(shortText(answer.body, LONGEST_ANSWER), late.signal)
      if (!isSame(proof, proofOf(secret, headers[NONCE] ?? "")))
        throw new Error("Its answer isn't signed with our secret")
      return JSON.parse(text ?? "null")
    } finally {
      timer.cancel()
    }
  }

  #sign({ method, url, body }: { method: string; url: URL; body: string }): Record<string, string> {
    const { secret, clock, address } = this.#parts
    const signable: Signable = { method, path: `${url.pathname}${url.search}`, authority: address.host, body }
    return signed(secret, signable, clock)
  }

  #problemOf(answer: Response): string | undefined {
    const { secret } = this.#parts
    if (!isSame(answer.headers.get(PROOF) ?? "", proofOf(secret, this.#streamNonce)))
      return "it doesn't know our secret"
    const type = answer.headers.get("content-type") ?? ""
    return type.startsWith("text/event-stream") ? undefined : "it answers with something else than events"
  }

  #hear(event: string, data: unknown): void {
    if (event === "hello") this.#begin(data)
    else if (event === "workers") this.#introduce(data)
    else if (event === "rows") this.#rows(checkedRows(data))
    else if (event === "lines") for (const line of checkedLines(data)) this.#line(line)
    else if (event === "ready") this.#isReady = true
    else if (event === "forget") this.#parts.sink.forget(this.worker, false)
  }

  #begin(hello: unknown): void {
    const { version, now } = Object(hello) as { readonly version?: unknown; readonly now?: unknown }
    if (version !== WIRE_VERSION) throw new Error(`it speaks version ${String(version)} of the page's words`)
    const behind = this.#parts.clock.read().wall - (typeof now === "number" ? now : NaN)
    this.#shift = Math.abs(behind) > SAME_CLOCK ? Math.round(behind) : 0
    this.#parts.sink.forget(this.worker, false)
    this.#isReady = false
    this.#toldUntil = this.#lastAt
  }

  /** It tells of itself first, and of nobody else. */
  #introduce(data: unknown): void {
    const told = checkedWorker(Array.isArray(data) ? data[0] : undefined)
    if (told === undefined) return
    const { nameOf, sink, address } = this.#parts
    const name = nameOf(told.worker, told.ownerId)
    if (name === undefined) {
      sink.forget(this.worker, true)
      return this.stop()
    }
    if (name !== this.worker) sink.forget(this.worker, true)
    this.#row = { ...told, worker: name, address: addressText(address), problem: null }
    this.silentSince = undefined
    sink.worker(this.#row)
  }

  #rows(rows: readonly SandboxRow[]): void {
    const own = rows.map((row) => this.#shifted({ ...row, worker: this.worker }))
    this.#parts.sink.rows(own)
    this.#parts.onRows(own)
  }

  #shifted(row: SandboxRow): SandboxRow {
    const [by, { since, deadline, ownedSince }] = [this.#shift, row]
    if (by === 0) return row
    return {
      ...row,
      since: since + by,
      deadline: deadline === null ? null : deadline + by,
      ownedSince: ownedSince === null ? null : ownedSince + by,
    }
  }

  /** What befell others, and writes of strangers, are no worker's to tell. */
  #line(line: TraceLine): void {
    if (line.worker === null || (!this.#isReady && line.at <= this.#toldUntil)) return
    this.#lastAt = line.at
    const own = { ...line, worker: this.worker, at: line.at + this.#shift }
    this.#parts.sink.line(own)
    this.#parts.onLine(own)
  }

  #tell(problem: string): void {
    const { sink, clock } = this.#parts
    this.silentSince ??= clock.read().wall
    this.#row = { ...this.#row, problem }
    sink.worker(this.#row)
  }

  #url(path: string): URL {
    const url = new URL(this.#parts.address)
    const [pathname = "", query = ""] = path.split("?")
    url.pathname = `${url.pathname.replace(/\/$/, "")}${PEER_PATH}${pathname}`
    url.search = query
    return url
  }
}

/** Without the slash that URLs end in. */
const addressText = (address: URL): string => address.href.replace(/\/$/, "")

/**
 * Turns what one worker does into lines of a trace: what its locks say, the states of its sandboxes, requests and their
 * answers, sections of the user's code, and calls on the library. Recorders and live workers make their lines here.
 *
 * Not promised: that anybody keeps a line. Each goes to `emit`, once.
 */
import type { LockEvent } from "../locks/api/lock.ts"
import type { ReadAnswer, WriteAnswer } from "../locks/stores/port.ts"
import type { Clock } from "../runtime/time/clock.ts"
import { type ErrorOf, lockLine, stateLine, type StateMoment, traceError } from "./lines.ts"
import type { AnswerLine, CallLine, RequestLine, TraceError, TraceLine, WorkLine } from "./trace.ts"

/** What the parts of a recorder share. */
export interface RecorderParts {
  /** Of the lines' times. */
  readonly clock: Clock
  /** Takes each line; never throws. */
  readonly emit: (line: TraceLine) => void
  /** Numbers requests. */
  readonly nextId: () => number
}

/** What is asked of a store. */
export type RequestDetail = Omit<RequestLine, "kind" | "at" | "worker" | "id" | "store">
/** What came of that. */
export type AnswerDetail = Omit<AnswerLine, "kind" | "at" | "worker" | "id" | "ms">
/** Whose code runs, and which. */
export type WorkDetail = Pick<WorkLine, "key" | "token" | "work"> & Pick<Partial<WorkLine>, "reason">
/** What is asked of the library. */
export type CallDetail = Pick<CallLine, "call" | "key" | "budget" | "durable" | "name" | "callId">
/** Tells how something ended: well, or with an error. Call it once. */
export type Ends = (failed?: { readonly error: unknown }) => void

/** Where a worker's lines are made; `lines` is undefined while nobody reads them. */
export interface LinesOf {
  readonly lines: WorkerLines | undefined
}

/** The lines of one worker. */
export class WorkerLines {
  readonly #worker: string
  readonly #parts: RecorderParts
  readonly #errorOf: ErrorOf
  /** The last state of each key whose sandbox hasn't ended, as text. */
  readonly #states = new Map<string, string>()

  constructor(worker: string, parts: RecorderParts, errorOf: ErrorOf = traceError) {
    this.#worker = worker
    this.#parts = parts
    this.#errorOf = errorOf
  }

  /** An event of a lock. */
  lock(event: LockEvent): void {
    this.#parts.emit(lockLine(this.#at, event, this.#errorOf))
  }

  /** A moment of a sandbox's chart: one line, unless the state is that of the moment before. */
  state(moment: StateMoment): void {
    const line = stateLine(this.#at, moment, this.#errorOf)
    const value = JSON.stringify(line.value)
    if (this.#states.get(line.key) === value) return
    this.#states.set(line.key, value)
    this.#parts.emit(line)
  }

  /** The sandbox of a key has ended: its last state needn't be known any more. */
  forget(key: string): void {
    this.#states.delete(key)
  }

  /** A request is sent to the store of this name. Call the result with what came of it. */
  sent(store: string, asked: RequestDetail): (came: AnswerDetail) => void {
    const { clock, emit, nextId } = this.#parts
    const id = nextId()
    const from = clock.mono()
    emit({ kind: "request", ...this.#at, id, store, ...asked })
    return (came) => {
      const ms = Math.round((clock.mono() - from) * 1000) / 1000
      emit({ kind: "answer", ...this.#at, id, ms, ...came })
    }
  }

  /** What a store's answer says, without its body. */
  cameOf(answer: ReadAnswer | WriteAnswer): AnswerDetail {
    const { kind: outcome, storeTime } = answer
    return {
      outcome,
      ...("generation" in answer && { generation: answer.generation }),
      ...(storeTime !== undefined && { storeTime }),
      ...("body" in answer && { bytes: answer.body.length }),
      ...("throttled" in answer && answer.throttled !== undefined && { throttled: answer.throttled }),
      ...("overtaken" in answer && answer.overtaken !== undefined && { overtaken: answer.overtaken }),
      ...("error" in answer && { error: this.#errorOf(answer.error) }),
    }
  }

  /** What a request says of which the store's call rejected. */
  rejected(error: unknown): AnswerDetail {
    return { outcome: "rejected", error: this.#errorOf(error) }
  }

  /** A section of the user's code begins. */
  begins({ key, token, work, reason }: WorkDetail): Ends {
    const id = this.#parts.nextId()
    const line = (edge: WorkLine["edge"], more: Partial<WorkLine>): void =>
      this.#parts.emit({ kind: "work", ...this.#at, id, key, token, work, edge, ...more })
    line("began", reason === undefined ? {} : { reason })
    return this.#ends(line)
  }

  /** A call on the library begins. */
  called(asked: CallDetail): Ends {
    const id = this.#parts.nextId()
    const line = (edge: CallLine["edge"], more: Partial<CallLine>): void =>
      this.#parts.emit({ kind: "call", ...this.#at, id, ...asked, edge, ...more })
    line("began", {})
    return this.#ends(line)
  }

  #ends(line: (edge: "ended" | "failed", more: { readonly error?: TraceError }) => void): Ends {
    return (failed) =>
      failed === undefined ? line("ended", {}) : line("failed", { error: this.#errorOf(failed.error) })
  }

  get #at(): Pick<WorkLine, "at" | "worker"> {
    return { at: this.#parts.clock.read().wall, worker: this.#worker }
  }
}

/**
 * A store whose requests and answers are lines of a trace. It passes everything on as it is, the store's failures
 * included, and looks at no body but for its size.
 */
import type {
  Area,
  CheckpointStore,
  Generation,
  LeaseStore,
  ListOptions,
  ObjectRef,
  ObjectStore,
  Page,
  ReadAnswer,
  ReadOptions,
  RequestOptions,
  StoreCapabilities,
  WriteAnswer,
} from "../locks/store.ts"
import type { Clock } from "../runtime/clock.ts"
import { traceError } from "./lines.ts"
import type { AnswerLine, RequestLine, TraceLine } from "./trace.ts"

/** What the parts of a recorder share. */
export interface RecorderParts {
  /** Of the lines' times. */
  readonly clock: Clock
  /** Takes each line; never throws. */
  readonly emit: (line: TraceLine) => void
  /** Numbers requests. */
  readonly nextId: () => number
}

/** A recorded store is fit for what the store is fit for, and nothing else of it can be seen. */
export type Recorded<S extends ObjectStore> = ObjectStore & Pick<S, Extract<keyof S, "leases" | "checkpoints">>

/** `store`, recorded as a worker's. */
export function recordedStore<S extends ObjectStore>(store: S, worker: string, parts: RecorderParts): Recorded<S> {
  const recorded = new RecordedStore(store, worker, parts)
  const { leases, checkpoints } = store as Partial<Pick<LeaseStore & CheckpointStore, "leases" | "checkpoints">>
  return Object.assign(recorded, {
    ...(leases !== undefined && { leases }),
    ...(checkpoints !== undefined && { checkpoints }),
  }) as unknown as Recorded<S>
}

type Asked = Omit<RequestLine, "kind" | "at" | "worker" | "id" | "store">
type Came = Omit<AnswerLine, "kind" | "at" | "worker" | "id" | "ms">

class RecordedStore implements ObjectStore {
  readonly name: string
  readonly #store: ObjectStore
  readonly #worker: string
  readonly #parts: RecorderParts

  constructor(store: ObjectStore, worker: string, parts: RecorderParts) {
    this.name = store.name
    this.#store = store
    this.#worker = worker
    this.#parts = parts
  }

  get capabilities(): StoreCapabilities {
    return this.#store.capabilities
  }

  start(options: RequestOptions): Promise<void> {
    const asked: Asked = { op: "start", deadline: options.deadline }
    return this.#recorded(
      asked,
      () => this.#store.start(options),
      () => ({ outcome: "done" }),
    )
  }

  read(ref: ObjectRef, options: ReadOptions): Promise<ReadAnswer> {
    const { known, deadline } = options
    const asked: Asked = { op: "read", ...ref, ...(known !== undefined && { generation: known }), deadline }
    return this.#recorded(asked, () => this.#store.read(ref, options), cameOf)
  }

  put(ref: ObjectRef, expected: Generation, body: Uint8Array, options: RequestOptions): Promise<WriteAnswer> {
    const { deadline } = options
    const asked: Asked = { op: "put", ...ref, generation: expected, bytes: body.length, deadline }
    return this.#recorded(asked, () => this.#store.put(ref, expected, body, options), cameOf)
  }

  remove(ref: ObjectRef, expected: Generation, options: RequestOptions): Promise<WriteAnswer> {
    const asked: Asked = { op: "remove", ...ref, generation: expected, deadline: options.deadline }
    return this.#recorded(asked, () => this.#store.remove(ref, expected, options), cameOf)
  }

  list(area: Area, options: ListOptions): Promise<Page> {
    const asked: Asked = { op: "list", area, name: options.prefix, deadline: options.deadline }
    return this.#recorded(
      asked,
      () => this.#store.list(area, options),
      ({ items }) => ({ outcome: "done", items: items.length }),
    )
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async #recorded<A>(asked: Asked, send: () => Promise<A>, came: (answer: A) => Came): Promise<A> {
    const { clock, emit, nextId } = this.#parts
    const worker = this.#worker
    const id = nextId()
    const from = clock.mono()
    const answered = (what: Came): void => {
      const ms = Math.round((clock.mono() - from) * 1000) / 1000
      emit({ kind: "answer", at: clock.read().wall, worker, id, ms, ...what })
    }
    emit({ kind: "request", at: clock.read().wall, worker, id, store: this.name, ...asked })
    try {
      const answer = await send()
      answered(came(answer))
      return answer
    } catch (error) {
      answered({ outcome: "rejected", error: traceError(error) })
      throw error
    }
  }
}

function cameOf(answer: ReadAnswer | WriteAnswer): Came {
  const { kind: outcome, storeTime } = answer
  return {
    outcome,
    ...("generation" in answer && { generation: answer.generation }),
    ...(storeTime !== undefined && { storeTime }),
    ...("body" in answer && { bytes: answer.body.length }),
    ...("throttled" in answer && answer.throttled !== undefined && { throttled: answer.throttled }),
    ...("overtaken" in answer && answer.overtaken !== undefined && { overtaken: answer.overtaken }),
    ...("error" in answer && { error: traceError(answer.error) }),
  }
}

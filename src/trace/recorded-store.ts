/**
 * A store whose requests and answers are lines of a trace. It passes everything on as it is, the store's failures
 * included, and looks at no body but for its size. While nobody reads it costs one look at that.
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
} from "../locks/stores/port.ts"
import type { RequestDetail, AnswerDetail, LinesOf, WorkerLines } from "./worker-lines.ts"

/** A recorded store is fit for what the store is fit for, and nothing else of it can be seen. */
export type Recorded<S extends ObjectStore> = ObjectStore & Pick<S, Extract<keyof S, "leases" | "checkpoints">>

/** `store`, recorded as a worker's. */
export function recordedStore<S extends ObjectStore>(store: S, worker: LinesOf): Recorded<S> {
  const recorded = new RecordedStore(store, worker)
  const { leases, checkpoints } = store as Partial<Pick<LeaseStore & CheckpointStore, "leases" | "checkpoints">>
  return Object.assign(recorded, {
    ...(leases !== undefined && { leases }),
    ...(checkpoints !== undefined && { checkpoints }),
  }) as unknown as Recorded<S>
}

class RecordedStore implements ObjectStore {
  readonly name: string
  readonly #store: ObjectStore
  readonly #worker: LinesOf

  constructor(store: ObjectStore, worker: LinesOf) {
    this.name = store.name
    this.#store = store
    this.#worker = worker
  }

  get capabilities(): StoreCapabilities {
    return this.#store.capabilities
  }

  start(options: RequestOptions): Promise<void> {
    const send = (): Promise<void> => this.#store.start(options)
    const { lines } = this.#worker
    if (lines === undefined) return send()
    const asked: RequestDetail = { op: "start", deadline: options.deadline }
    return this.#recorded(lines, asked, send, () => ({ outcome: "done" }))
  }

  read(ref: ObjectRef, options: ReadOptions): Promise<ReadAnswer> {
    const send = (): Promise<ReadAnswer> => this.#store.read(ref, options)
    const { lines } = this.#worker
    if (lines === undefined) return send()
    const { known, deadline } = options
    const asked: RequestDetail = { op: "read", ...ref, ...(known !== undefined && { generation: known }), deadline }
    return this.#recorded(lines, asked, send, (answer) => lines.cameOf(answer))
  }

  put(ref: ObjectRef, expected: Generation, body: Uint8Array, options: RequestOptions): Promise<WriteAnswer> {
    const send = (): Promise<WriteAnswer> => this.#store.put(ref, expected, body, options)
    const { lines } = this.#worker
    if (lines === undefined) return send()
    const { deadline } = options
    const asked: RequestDetail = { op: "put", ...ref, generation: expected, bytes: body.length, deadline }
    return this.#recorded(lines, asked, send, (answer) => lines.cameOf(answer))
  }

  remove(ref: ObjectRef, expected: Generation, options: RequestOptions): Promise<WriteAnswer> {
    const send = (): Promise<WriteAnswer> => this.#store.remove(ref, expected, options)
    const { lines } = this.#worker
    if (lines === undefined) return send()
    const asked: RequestDetail = { op: "remove", ...ref, generation: expected, deadline: options.deadline }
    return this.#recorded(lines, asked, send, (answer) => lines.cameOf(answer))
  }

  list(area: Area, options: ListOptions): Promise<Page> {
    const send = (): Promise<Page> => this.#store.list(area, options)
    const { lines } = this.#worker
    if (lines === undefined) return send()
    const asked: RequestDetail = { op: "list", area, name: options.prefix, deadline: options.deadline }
    return this.#recorded(lines, asked, send, ({ items }) => ({ outcome: "done", items: items.length }))
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async #recorded<A>(
    lines: WorkerLines,
    asked: RequestDetail,
    send: () => Promise<A>,
    came: (answer: A) => AnswerDetail,
  ): Promise<A> {
    const answered = lines.sent(this.name, asked)
    try {
      const answer = await send()
      answered(came(answer))
      return answer
    } catch (error) {
      answered(lines.rejected(error))
      throw error
    }
  }
}
